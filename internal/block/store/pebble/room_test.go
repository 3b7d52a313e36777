package pebble

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/storetest"
	"github.com/mnem-project/mnem/ipld"
)

// reserving counts the bytes preallocated on a disk.
type reserving struct {
	vfs.File
	most int64
}

func (r *reserving) Preallocate(_, length int64) error {
	r.most = max(r.most, length)
	return nil
}

// TestReservesLittle: Pebble asks for more than a memtable for each log.
func TestReservesLittle(t *testing.T) {
	r := &reserving{}
	f := &failFile{File: r, fs: &failFS{fail: newFailSwitch()}}
	if err := f.Preallocate(0, 18<<20); err != nil || r.most > maxPreallocate {
		t.Errorf("%d bytes reserved, %v", r.most, err)
	}
}

// sizeOf returns the total size and number of a database's files with one extension; Pebble may remove some of them
// concurrently.
func sizeOf(t *testing.T, dir, ext string) (bytes int64, n int) {
	t.Helper()
	names := must.Get(filepath.Glob(filepath.Join(dir, dbName, "*"+ext)))(t)
	for _, name := range names {
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		must.OK(t, err)
		bytes, n = bytes+info.Size(), n+1
	}
	return bytes, n
}

// TestCloseLeavesNoOldLogs writes several memtables: a closed store has one empty log, and everything written is
// there.
func TestCloseLeavesNoOldLogs(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	for round := range 3 {
		s := openDisk(t, dir, Options{Create: true, MemTableBytes: tinyMem})
		for n := range 20 * round {
			must.OK(t, s.Facts().Put(ctx, storetest.Block(100*round+n, 8<<10)))
		}
		must.OK(t, errors.Join(commitOp(s, uint64(round+1)), s.Close()))
		bytes, n := sizeOf(t, dir, ".log")
		must.Check(t, n == 1 && bytes <= 64, "round %d: %d logs of %d bytes", round, n, bytes)
	}
	s := openDisk(t, dir, Options{ReadOnly: true})
	defer s.Close()
	for n := range 40 {
		must.Get(s.Facts().Get(ctx, storetest.Block(200+n, 8<<10).CID))(t)
	}
}

// TestReclaim removes most blocks while others read: the space is freed, the rest stays.
func TestReclaim(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	s := openDisk(t, dir, Options{Create: true, MemTableBytes: tinyMem})
	defer s.Close()
	const blocks, keep = 400, 40
	var gone []ipld.CID
	for n := range blocks {
		b := storetest.Block(n, 4<<10)
		if n >= keep {
			gone = append(gone, b.CID)
		}
		must.OK(t, s.Facts().Put(ctx, b))
	}
	must.OK(t, errors.Join(commitOp(s, 1), s.Reclaim(ctx)))
	before, _ := sizeOf(t, dir, ".sst")
	must.OK(t, s.Facts().(store.Deleter).Delete(ctx, gone...))
	seen := 0
	err := s.Facts().Iterate(ctx, ipld.CID{}, func(store.Block) error {
		if seen++; seen == 1 { // while another call runs
			return s.Reclaim(ctx)
		}
		return nil
	})
	must.OK(t, err)
	must.OK(t, errors.Join(s.Reclaim(ctx), s.flush()))
	for n := range keep {
		must.Get(s.Facts().Get(ctx, storetest.Block(n, 4<<10).CID))(t)
	}
	if err := s.Close(); err != nil { // which removes tables that no iterator reads any more
		t.Fatal(err)
	}
	if after, _ := sizeOf(t, dir, ".sst"); after > before/4 {
		t.Errorf("tables of %d bytes before, %d after", before, after)
	}
	ro := openDisk(t, dir, Options{ReadOnly: true})
	defer ro.Close()
	must.Fail(t, ro.Reclaim(ctx), store.ErrReadOnly)
}

// TestOldLogsAreTold: a log that cannot be removed is no error, as Pebble removes it later.
func TestOldLogsAreTold(t *testing.T) {
	var mu sync.Mutex // Pebble's own goroutines also remove logs, and log it
	var told []string
	fs := &stubbornFS{FS: vfs.NewMem()}
	s := openFS(t, fs, Options{Create: true, MemTableBytes: tinyMem,
		Logf: func(f string, args ...any) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, fmt.Sprintf(f, args...))
		}})
	for n := range 40 {
		must.OK(t, s.Facts().Put(context.Background(), storetest.Block(n, 8<<10)))
	}
	must.OK(t, commitOp(s, 1))
	fs.stubborn.Store(true)
	must.OK(t, s.Close())
	mu.Lock()
	must.Check(t, strings.Contains(strings.Join(told, "\n"), "remove an old log"), "told %q", told)
	mu.Unlock()
	fs.stubborn.Store(false)
	s = openFS(t, fs, Options{})
	must.OK(t, s.Close())
}

// stubbornFS removes no logs.
type stubbornFS struct {
	vfs.FS
	stubborn atomic.Bool
}

func (fs *stubbornFS) Remove(name string) error {
	if fs.stubborn.Load() && strings.HasSuffix(name, ".log") {
		return errors.New("stubborn")
	}
	return fs.FS.Remove(name)
}

func (s *Store) flush() error {
	flushed, err := s.db.AsyncFlush()
	if err == nil {
		<-flushed
	}
	return err
}
