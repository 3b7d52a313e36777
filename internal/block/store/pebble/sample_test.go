package pebble

import (
	"testing"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/storetest"
)

// TestPutLooksForASample puts many blocks into a store with many others: new ones are written without a lookup for
// each, and present ones are not written again, however many new ones are among them.
func TestPutLooksForASample(t *testing.T) {
	const stored, n, size = 20_000, 2000, 300
	ctx := t.Context()
	s := must.Get(Open(t.TempDir(), Options{Create: true}))(t)
	defer func() {
		must.OK(t, s.Close())
	}()
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
		looks = after.BlockCache.Hits + after.BlockCache.Misses -
			before.BlockCache.Hits - before.BlockCache.Misses
		return looks, after.WAL.BytesIn - before.WAL.BytesIn
	}
	put(blocks(0, stored))
	must.OK(t, s.db.Flush())
	const end = stored + n
	if looks, written := put(blocks(stored, end)); looks > 4*sample || written < n*size {
		t.Errorf("%d new blocks: %d looks, %d bytes written", n, looks, written)
	}
	if _, written := put(blocks(0, stored)); written > stored*size/20 {
		t.Errorf("%d blocks that are there: %d bytes written", stored, written)
	}
	if _, written := put(blocks(stored/2, end+n)); written < n*size || written > 2*n*size {
		t.Errorf("%d blocks, %d of them new: %d bytes written", end+n-stored/2, n, written)
	}
	for i := range end + n {
		b := storetest.Block(i, size)
		must.Get(s.Facts().Get(ctx, b.CID))(t)
	}
}
