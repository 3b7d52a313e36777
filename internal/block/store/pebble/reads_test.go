package pebble

import (
	"sync/atomic"
	"testing"

	pdb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/storetest"
)

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
	if n := s.db.Metrics().Levels[0].TablesCount; n < tables {
		t.Fatalf("%d tables", n)
	}
	fs.reads.Store(0)
	for i := range looked {
		b := storetest.Block(i*(tables*each/looked), 300)
		must.Get(s.Facts().Get(ctx, b.CID))(t)
	}
	reads := int(fs.reads.Load())
	t.Logf("%d reads for %d blocks in %d tables", reads, looked, tables)
	if most := looked + looked/10 + ofTable*tables; reads > most {
		t.Errorf("%d reads for %d blocks in %d tables, want at most %d", reads, looked, tables, most)
	}
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
