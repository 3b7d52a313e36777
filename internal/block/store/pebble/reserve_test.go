package pebble

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/storetest"
	"github.com/mnem-project/mnem/ipld"
)

// smallDisk mounts a disk of the given size, if possible.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("only who administers a Linux machine can mount a small disk")
	}
	dir := t.TempDir()
	out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size="+size,
		"tmpfs", dir).CombinedOutput()
	if err != nil {
		t.Skipf("mount: %v: %s", err, out)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		out, err := exec.CommandContext(ctx, "umount", "-l", dir).CombinedOutput()
		must.True(t, err == nil, "umount: %v: %s", err, out)
	})
	return dir
}

// TestStepsCoverAll compacts in steps: each covers a bounded part of the last level, together they cover
// everything, and none begins without enough disk space.
func TestStepsCoverAll(t *testing.T) {
	effort.Alone(t)
	mem, ctx := vfs.NewMem(), context.Background()
	s := openFS(t, mem, Options{Create: true, Uncompressed: true})
	defer s.Close()
	var gone []ipld.CID
	const blocks, size = 9000, 6000
	for n := range blocks {
		b := storetest.Block(n, size)
		if n%2 == 0 {
			gone = append(gone, b.CID)
		}
		must.OK(t, s.Facts().Put(ctx, b))
	}
	must.OK(t, errors.Join(commitOp(s, 1), s.Reclaim(ctx)))
	steps := 0
	for from := firstKey; from != nil; steps++ {
		levels := must.Get(s.db.SSTables())(t)
		step := nextStep(levels, from, stepBytes)
		must.True(t, step.bytes <= 2*stepBytes, "step %d writes %d bytes", steps, step.bytes)
		from = step.next
	}
	must.True(t, steps >= blocks*size/(4*stepBytes), "%d steps for %d bytes", steps, blocks*size)
	must.OK(t, s.Facts().(store.Deleter).Delete(ctx, gone...))
	before := s.db.Metrics().DiskSpaceUsage()
	mem.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: slack})
	must.Fail(t, s.Compact(ctx), store.ErrNoRoom)
	must.Get(s.Facts().Get(ctx, storetest.Block(1, size).CID))(t, "the store stopped")
	mem.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 8 * stepBytes}) // less than the database
	must.OK(t, s.Compact(ctx))
	after := s.db.Metrics().DiskSpaceUsage()
	must.True(t, after <= before*2/3, "%d bytes before, %d after", before, after)
	for n := range blocks {
		ok, err := s.Facts().Has(ctx, storetest.Block(n, size).CID)
		must.Require(t, err == nil && ok == (n%2 == 1), "block %d: %v, %v", n, ok, err)
	}
}

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

// TestCloseLeavesNoOldLogs writes several memtables: a closed store has one empty log, and everything written is there.
func TestCloseLeavesNoOldLogs(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	for round := range 3 {
		s := openDisk(t, dir, Options{Create: true, MemTableBytes: tinyMem})
		for n := range 20 * round {
			must.OK(t, s.Facts().Put(ctx, storetest.Block(100*round+n, 8<<10)))
		}
		must.OK(t, errors.Join(commitOp(s, uint64(round+1)), s.Close()))
		bytes, n := sizeOf(t, dir, ".log")
		must.True(t, n == 1 && bytes <= 64, "round %d: %d logs of %d bytes", round, n, bytes)
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
	after, _ := sizeOf(t, dir, ".sst")
	must.True(t, after <= before/4, "tables of %d bytes before, %d after", before, after)
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
	must.True(t, strings.Contains(strings.Join(told, "\n"), "remove an old log"), "told %q", told)
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
