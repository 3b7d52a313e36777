package dense

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// metered counts blocks and bytes.
type metered struct {
	store.Blocks
	read, written work
}

type work struct{ blocks, bytes int }

func (w *work) add(n int) { w.blocks, w.bytes = w.blocks+1, w.bytes+n }

func (m *metered) Get(ctx context.Context, c ipld.CID) ([]byte, error) {
	data, err := m.Blocks.Get(ctx, c)
	m.read.add(len(data))
	return data, err
}

func (m *metered) Put(ctx context.Context, blocks ...store.Block) error {
	for _, b := range blocks {
		m.written.add(len(b.Data))
	}
	return m.Blocks.Put(ctx, blocks...)
}

// TestUpdateCost bounds what changing one embedding writes and reads: segment, chunk of the tree of
// groups and manifest, and now and then a merge of the newest segments, however many vectors there
// are.
func TestUpdateCost(t *testing.T) {
	effort.Alone(t)
	const dims, updates = 384, 64
	var small work
	for _, n := range []int{2000, 8000} {
		rng := rand.New(rand.NewPCG(1, 1))
		m := newMemory(t)
		changes := map[key][]int8{}
		for i := range n {
			changes[key{denseID(i), "m"}] = randomVector(rng, dims, 127)
		}
		m.apply(changes, UpdateOptions{})
		blocks := &metered{Blocks: m.blocks}
		m.blocks = blocks
		var read, written, most work
		for range updates {
			blocks.read, blocks.written = work{}, work{}
			m.apply(map[key][]int8{{denseID(rng.IntN(n)), "m"}: randomVector(rng, dims, 127)}, UpdateOptions{})
			read.blocks, read.bytes = read.blocks+blocks.read.blocks, read.bytes+blocks.read.bytes
			written.blocks += blocks.written.blocks
			written.bytes += blocks.written.bytes
			most.blocks = max(most.blocks, blocks.written.blocks)
			most.bytes = max(most.bytes, blocks.written.bytes)
		}
		t.Logf("of %d: %d updates write %+v, one at most %+v, and read %+v", n, updates, written, most,
			read)
		// One vector takes about 500 bytes with its overhead, a merge 64 of them at most.
		must.Check(t, most.blocks <= 3 && most.bytes <= 48<<10 && written.bytes <= updates*3<<10,
			"of %d: one update writes up to %+v, all %+v", n, most, written)
		must.Check(t, read.blocks <= updates*5, "of %d: read %+v", n, read)
		if small.blocks == 0 {
			small = written
		}
		must.Check(t, written.blocks <= small.blocks+4 && written.bytes <= small.bytes+4<<10,
			"of %d: writes %+v, of 2000 %+v", n, written, small)
		m.blocks = blocks.Blocks
		m.verify()
	}
}
