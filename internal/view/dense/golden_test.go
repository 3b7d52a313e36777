package dense

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// TestSketchGolden freezes the sketches of vectors, from which shortlists are made.
func TestSketchGolden(t *testing.T) {
	cases.Golden(t, "testdata/sketch.jsonl", func(t testing.TB, c cases.Case) any {
		var in struct{ Vector string }
		cases.Parse(t, c.Input, &in)
		var values []int8
		for _, b := range cases.Bytes(t, in.Vector) {
			values = append(values, int8(b))
		}
		return map[string]any{"sketch": hex.EncodeToString(newSketcher(len(values)).bytes(values))}
	})
}

// bulkVectors describes vectors instead of listing them: vector i belongs to the node whose id is the beginning of the
// hash of Seed:i, and its values are hashes of Seed:i:j.
type bulkVectors struct {
	Seed                          string
	Count, Dims, Size, Near, Keep int
}

func (b bulkVectors) vector(seed string, i int) []int8 {
	out := make([]int8, 0, b.Dims)
	for j := 0; len(out) < b.Dims; j++ {
		for _, x := range sha256.Sum256(fmt.Appendf(nil, "%s:%d:%d", seed, i, j)) {
			if len(out) < b.Dims {
				out = append(out, max(int8(x), -127))
			}
		}
	}
	return out
}

func (b bulkVectors) changes() iter.Seq2[VectorChange, error] {
	var list []VectorChange
	for i := range b.Count {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s:%d", b.Seed, i))
		list = append(list, VectorChange{ID: graph.ID(sum[:16]), Model: "m", New: b.vector(b.Seed, i)})
	}
	slices.SortFunc(list, func(x, y VectorChange) int { return x.ID.Compare(y.ID) })
	return func(yield func(VectorChange, error) bool) {
		for _, c := range list {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// bulkIndexes are the indexes that cases share.
var bulkIndexes sync.Map

// index makes the index of a bulk, once.
func (b bulkVectors) index(t testing.TB) *Index {
	key := bulkVectors{Seed: b.Seed, Count: b.Count, Dims: b.Dims}
	if x, ok := bulkIndexes.Load(key); ok {
		return x.(*Index)
	}
	m := newMemory(t)
	for c := range b.changes() {
		m.vectors[denseKey(c)] = c.New
	}
	m.manifest = must.Get(Update(t.Context(), m.blocks, ipld.CID{}, m.of(), b.changes(), UpdateOptions{}))(t)
	x := m.open(segment.NewCache(1 << 20))
	bulkIndexes.Store(key, x)
	return x
}

func denseKey(c VectorChange) key { return key{c.ID, c.Model} }

// TestShortlistGolden freezes the results of searches among many vectors, few of them compared.
func TestShortlistGolden(t *testing.T) {
	cases.Golden(t, "testdata/shortlist.jsonl", func(t testing.TB, c cases.Case) any {
		var in bulkVectors
		cases.Parse(t, c.Input, &in)
		q := Query{
			Model: "m", Values: in.vector(in.Seed+":query", 0), Shortlist: in.Size, Near: in.Near,
			Accept: func(id graph.ID) (bool, error) { return int(id[15])%in.Keep == 0, nil },
		}
		got := must.Get(in.index(t).Search(t.Context(), q))(t)
		hits := [][2]any{}
		for _, h := range got.Hits {
			hits = append(hits, [2]any{hex.EncodeToString(h.ID[:]), h.Score})
		}
		return map[string]any{"hits": hits}
	})
}

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

// TestUpdateCost bounds what changing one embedding writes and reads: segment, chunk of the tree of groups and
// manifest, and now and then a merge of the newest segments, however many vectors there are.
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
		// One vector takes about 500 bytes with its overhead, a merge 64 of them at most.
		must.True(t, most.blocks <= 3 && most.bytes <= 48<<10 && written.bytes <= updates*3<<10,
			"of %d: one update writes up to %+v, all %+v", n, most, written)
		must.True(t, read.blocks <= updates*5, "of %d: read %+v", n, read)
		if small.blocks == 0 {
			small = written
		}
		must.True(t, written.blocks <= small.blocks+4 && written.bytes <= small.bytes+4<<10,
			"of %d: writes %+v, of 2000 %+v", n, written, small)
		m.blocks = blocks.Blocks
		m.verify()
	}
}
