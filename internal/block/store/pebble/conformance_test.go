package pebble

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/storetest"
)

// openMem opens a new store in memory. Small memtables produce tables early.
func openMem(t testing.TB) *Store {
	t.Helper()
	return openFS(t, vfs.NewMem(), Options{Create: true, MemTableBytes: 64 << 10})
}

func openFS(t testing.TB, fs vfs.FS, opts Options) *Store {
	t.Helper()
	opts.FS = fs
	return must.Get(Open("/repo/.mnem", opts))(t)
}

func openDisk(t testing.TB, dir string, opts Options) *Store {
	t.Helper()
	return must.Get(Open(dir, opts))(t)
}

func TestConformance(t *testing.T) {
	t.Run("mem", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) store.Store { return openMem(t) })
	})
	t.Run("disk", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) store.Store {
			return openDisk(t, t.TempDir()+"/.mnem", Options{Create: true})
		})
	})
}
