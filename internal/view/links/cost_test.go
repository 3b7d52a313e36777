package links

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/view/segment"
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

// usual returns a node with three edges on each side.
func usual(rng *rand.Rand, id graph.ID, n int) Node {
	bucket := func() (b Bucket) {
		for _, typ := range []string{"about", "next", "refers"} {
			b.Entries = append(b.Entries, HalfEdge{typ, testID(rng.IntN(n)), graph.MaxWeight, false})
			b.Degree++
		}
		return b
	}
	return Node{id, bucket(), bucket()}
}

// TestCosts bounds how much looking up a node reads and how much changing two nodes, as an edge does, writes and
// reads: about as much with four times as many nodes.
func TestCosts(t *testing.T) {
	const updates, dirBytes = 64, 256 * 64 // a directory of 256 parts
	for _, n := range []int{5_000, 20_000} {
		rng := rand.New(rand.NewPCG(1, 1))
		m := newMemory(t)
		nodes := make([]Node, n)
		for i := range nodes {
			nodes[i] = usual(rng, testID(i), n)
		}
		m.apply(nodes, UpdateOptions{})
		blocks := &metered{Blocks: m.blocks}
		m.blocks = blocks
		for range 20 {
			x := m.open(new(segment.Cache))
			blocks.read = work{}
			m.same(x, testID(rng.IntN(n)))
			must.Check(t, blocks.read.blocks <= 2 && blocks.read.bytes <= partSize+dirBytes,
				"%d nodes: looking one up reads %v", n, blocks.read)
		}
		var read, written work
		for range updates {
			blocks.read, blocks.written = work{}, work{}
			i := rng.IntN(n - 1)
			m.apply([]Node{usual(rng, testID(i), n), usual(rng, testID(i+1), n)}, UpdateOptions{})
			read.blocks, read.bytes = read.blocks+blocks.read.blocks, read.bytes+blocks.read.bytes
			written.blocks += blocks.written.blocks
			written.bytes += blocks.written.bytes
		}
		x := m.open(new(segment.Cache))
		t.Logf("%d nodes: %d updates read %v and wrote %v; %d segments", n, updates, read, written,
			len(x.segs))
		if written.bytes > updates*3000 || written.blocks > updates*5/2 || read.blocks > updates*4 {
			t.Errorf("%d nodes: %d updates read %v and wrote %v", n, updates, read, written)
		}
		must.Check(t, len(x.segs) <= 12, "%d segments", len(x.segs))
	}
}

// TestFilters bounds the cost of looking up nodes of the oldest of several large segments: for the others it reads
// their Bloom filters, and hardly a part.
func TestFilters(t *testing.T) {
	const n, asked = 8000, 400
	rng := rand.New(rand.NewPCG(1, 1))
	m := newMemory(t)
	for turn := range 4 {
		var nodes []Node
		for i := turn; i < n; i += 4 {
			nodes = append(nodes, usual(rng, testID(i), n))
		}
		m.apply(nodes, UpdateOptions{Fanout: 8})
	}
	blocks := &metered{Blocks: m.blocks}
	m.blocks = blocks
	x := m.open(segment.NewCache(64 << 20))
	must.Require(t, len(x.segs) == 4, "%d segments", len(x.segs))
	before := blocks.read.blocks
	parts := map[string]bool{}
	for range asked {
		id := testID(4 * rng.IntN(n/4))
		m.same(x, id)
		p := must.Get(x.src.covering(t.Context(), x.segs[0], id, true))(t)
		parts[string(p.first())] = true
	}
	read := blocks.read.blocks - before
	t.Logf("%d nodes in %d parts: %d blocks", asked, len(parts), read)
	if read > len(parts)+20 { // a directory of each segment, three filters, and false positives
		t.Errorf("%d nodes in %d parts: %d blocks read", asked, len(parts), read)
	}
}
