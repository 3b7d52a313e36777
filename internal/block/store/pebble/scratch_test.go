package pebble

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	pdb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/internal/base/queue"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/storetest"
)

func scratchFiles(t *testing.T, dir string) (names []string) {
	t.Helper()
	list := must.Get(os.ReadDir(dir))(t)
	for _, e := range list {
		if strings.HasPrefix(e.Name(), scratchPrefix) {
			names = append(names, e.Name())
		}
	}
	return names
}

// TestScratch writes two scratch files at the same time; one is left behind.
func TestScratch(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s := must.Get(Open(dir, Options{Create: true}))(t)
	var files []store.Scratch
	for _, text := range []string{"one", "two"} {
		f := must.Get(s.Scratch(t.Context()))(t)
		for range 2 {
			must.Get(f.Write([]byte(text)))(t)
		}
		files = append(files, f)
	}
	for i, want := range []string{"neo", "wot"} {
		b := make([]byte, 3)
		_, err := files[i].ReadAt(b, 1)
		must.True(t, err == nil && string(b) == want, "file %d has %q there, %v, want %q", i, b, err, want)
	}
	must.OK(t, files[0].Close())
	must.Equal(t, len(scratchFiles(t, dir)), 1, "files")
	must.OK(t, s.Close())
	_, err := s.Scratch(t.Context())
	must.Fail(t, err, store.ErrClosed)

	if s, err = Open(dir, Options{ReadOnly: true}); err == nil {
		_, err = s.Scratch(t.Context())
		err = errors.Join(s.Close(), err)
	}
	must.Fail(t, err, store.ErrReadOnly, "scratch file of a store that is read")
	must.Equal(t, len(scratchFiles(t, dir)), 1, "scratch file of a store that is read")
	s = must.Get(Open(dir, Options{}))(t)
	names := scratchFiles(t, dir)
	must.True(t, names == nil, "files %q are left", names)
	if err := errors.Join(s.Close(), files[1].Close()); err == nil {
		t.Error("a file that is gone was removed") // and nothing worse
	}
}

// readsFS counts reads of files.
type readsFS struct {
	vfs.FS
	reads atomic.Int64
}

func (fs *readsFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	f, err := fs.FS.Open(name, opts...)
	if err != nil {
		return nil, err
	}
	return &readsFile{f, fs}, nil
}

type readsFile struct {
	vfs.File
	fs *readsFS
}

func (f *readsFile) ReadAt(p []byte, off int64) (int, error) {
	f.fs.reads.Add(1)
	return f.File.ReadAt(p, off)
}

// TestReadsOfLookUps bounds how often files are read for blocks in several tables with overlapping key ranges: one
// read for each block, plus what is read once from each table.
func TestReadsOfLookUps(t *testing.T) {
	const (
		tables = 6
		each   = 2000
		looked = 400
		// Footer, properties, index and filter are read from each table.
		ofTable = 6
	)
	ctx := t.Context()
	fs := &readsFS{FS: vfs.NewMem()}
	s := openFS(t, fs, Options{Create: true})
	must.OK(t, s.Commit(ctx, store.Head{}, storetest.Next(store.Head{}, 1)))
	must.OK(t, s.Close())
	flushTables(t, fs, tables, each)
	s = openFS(t, fs, Options{ReadOnly: true})
	defer s.Close()
	n := s.db.Metrics().Levels[0].TablesCount
	must.Require(t, n >= tables, "%d tables", n)
	fs.reads.Store(0)
	for i := range looked {
		b := storetest.Block(i*(tables*each/looked), 300)
		must.Get(s.Facts().Get(ctx, b.CID))(t)
	}
	reads := int(fs.reads.Load())
	most := looked + looked/10 + ofTable*tables
	must.True(t, reads <= most, "%d reads for %d blocks in %d tables, want at most %d", reads, looked, tables, most)
}

// flushTables writes tables of blocks into the database without compacting them.
func flushTables(t *testing.T, fs vfs.FS, tables, each int) {
	t.Helper()
	opts := Options{Create: true}
	opts.setDefaults()
	settings := opts.pebble(&failFS{FS: fs, fail: newFailSwitch()}, nil, newGate(true), false)
	settings.DisableAutomaticCompactions = true
	db := must.Get(pdb.Open("/repo/.mnem/"+dbName, settings))(t)
	for i := range tables {
		for k := range each {
			b := storetest.Block(i*each+k, 300)
			must.OK(t, db.Set(Facts.key(b.CID), b.Data, pdb.NoSync))
		}
		must.OK(t, db.Flush())
	}
	must.OK(t, db.Close())
}

// TestPutLooksForASample puts many blocks into a store with many others: new ones are written without a lookup for
// each, and present ones are not written again, however many new ones are among them.
func TestPutLooksForASample(t *testing.T) {
	const stored, n, size = 20_000, 2000, 300
	ctx := t.Context()
	s := must.Get(Open(t.TempDir(), Options{Create: true}))(t)
	defer func() { must.OK(t, s.Close()) }()
	blocks := func(from, to int) (list []store.Block) {
		for i := from; i < to; i++ {
			list = append(list, storetest.Block(i, size))
		}
		return list
	}
	put := func(list []store.Block) (looks int64, written uint64) {
		t.Helper()
		before := s.db.Metrics()
		must.OK(t, s.Facts().Put(ctx, list...))
		after := s.db.Metrics()
		looks = after.BlockCache.Hits + after.BlockCache.Misses - before.BlockCache.Hits - before.BlockCache.Misses
		return looks, after.WAL.BytesIn - before.WAL.BytesIn
	}
	put(blocks(0, stored))
	must.OK(t, s.db.Flush())
	const end = stored + n
	looks, written := put(blocks(stored, end))
	must.True(t, looks <= 4*sample && written >= n*size, "%d new blocks: %d looks, %d bytes written", n, looks, written)
	_, written = put(blocks(0, stored))
	must.True(t, written <= stored*size/20, "%d blocks that are there: %d bytes written", stored, written)
	if _, written := put(blocks(stored/2, end+n)); written < n*size || written > 2*n*size {
		t.Errorf("%d blocks, %d of them new: %d bytes written", end+n-stored/2, n, written)
	}
	for i := range end + n {
		b := storetest.Block(i, size)
		must.Get(s.Facts().Get(ctx, b.CID))(t)
	}
}

// TestNewcomersWait: a process that arrives when the lock is free gets it after those that already wait, even if
// they are pausing at that moment.
func TestNewcomersWait(t *testing.T) {
	const rounds = 8
	dir := t.TempDir()
	opts := Options{Create: true, Wait: time.Minute}
	open := func() *Store { return must.Get(Open(dir, opts))(t) }
	held := open()
	file := filepath.Join(dir, QueueName)
	info, err := os.Stat(file)
	must.Require(t, err == nil && info.Size() == 0 && info.Mode().Perm()&0o077 == 0, "the queue: %v %v", info, err)
	for round := range rounds {
		var order []string // in which processes had the store; each opened it after the previous one closed it
		waited := make(chan error, 1)
		go func() {
			s, err := Open(dir, opts)
			if err == nil {
				order = append(order, "waited")
				err = s.Close()
			}
			waited <- err
		}()
		for behind := false; !behind; runtime.Gosched() {
			place := queue.Join(file, 0)
			behind = !place.Turn()
			place.Leave()
		}
		must.OK(t, held.Close())
		held = open()
		order = append(order, "came")
		must.OK(t, <-waited)
		must.Same(t, order, []string{"waited", "came"}, "round ", round)
	}
	must.OK(t, held.Close())
}

// TestNoQueueOffDisk: on file systems other than the disk there is no queue, and the lock alone decides.
func TestNoQueueOffDisk(t *testing.T) {
	fs := vfs.NewMem()
	s := must.Get(Open("store", Options{Create: true, FS: fs, Wait: time.Minute}))(t)
	must.True(t, must.Err(fs.Stat(fs.PathJoin("store", QueueName))) != nil, "there is a queue")
	must.OK(t, s.Close())
}
