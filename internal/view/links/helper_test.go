package links

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// testID scatters ids as hashes are.
func testID(n int) (id graph.ID) {
	binary.BigEndian.PutUint64(id[:], uint64(n+1)*0x9e3779b97f4a7c15)
	binary.BigEndian.PutUint32(id[12:], uint32(n))
	return id
}

// memory is a naive map of nodes with its index.
type memory struct {
	t        testing.TB
	blocks   store.Blocks
	nodes    map[graph.ID]Node
	manifest ipld.CID
	of       Of
	version  int
}

func newMemory(t testing.TB) *memory {
	return &memory{t: t, blocks: mem.New().Derived(), nodes: map[graph.ID]Node{}}
}

// apply updates nodes; those without edges are removed.
func (m *memory) apply(nodes []Node, opt UpdateOptions) {
	m.t.Helper()
	m.version++
	of := func(tree string) ipld.CID {
		return ipld.Sum(ipld.DagCBOR, fmt.Appendf(nil, "%s %d", tree, m.version))
	}
	m.of = Of{of("out"), of("in"), of("marks")}
	slices.SortFunc(nodes, func(a, b Node) int { return a.ID.Compare(b.ID) })
	changes := func(yield func(Change, error) bool) {
		for _, n := range nodes {
			_, known := m.nodes[n.ID]
			if !yield(Change{n, known}, nil) {
				return
			}
		}
	}
	var err error
	m.manifest, err = Update(m.t.Context(), m.blocks, m.manifest, m.of, changes, opt)
	must.OK(m.t, err)
	for _, n := range nodes {
		if m.nodes[n.ID] = n; n.Out.Degree+n.In.Degree == 0 {
			delete(m.nodes, n.ID)
		}
	}
}

// all yields the nodes in id order.
func (m *memory) all() iter.Seq2[Node, error] {
	return func(yield func(Node, error) bool) {
		ids := slices.SortedFunc(maps.Keys(m.nodes), graph.ID.Compare)
		for _, id := range ids {
			if !yield(m.nodes[id], nil) {
				return
			}
		}
	}
}

func (m *memory) open(cache *segment.Cache) *Index {
	m.t.Helper()
	return must.Get(Open(m.t.Context(), m.blocks, m.manifest, m.of, cache))(m.t)
}

// walk returns the blocks of the index.
func (m *memory) walk() (all []ipld.CID) {
	m.t.Helper()
	must.OK(m.t, Format.Walk(m.t.Context(), m.blocks, m.manifest, func(c ipld.CID) error {
		all = append(all, c)
		return nil
	}))
	return all
}

// randomNode returns a node with edges to nodes below n: mostly a few, now and then none or more
// than are kept.
func randomNode(rng *rand.Rand, id graph.ID, n int) Node {
	bucket := func() (b Bucket) {
		b.Degree = rng.IntN(6)
		switch rng.IntN(20) {
		case 0:
			b.Degree = MaxEntries - 1 + rng.IntN(3)
		case 1:
			b.Degree = 1 << rng.IntN(40)
		}
		if !b.Whole() {
			return b
		}
		for range b.Degree {
			e := HalfEdge{
				Type: fmt.Sprint("type ", rng.IntN(5)), Other: testID(rng.IntN(n)),
				Weight: graph.MaxWeight, Marked: rng.IntN(9) == 0,
			}
			if rng.IntN(3) == 0 {
				e.Weight = 1 + uint32(rng.IntN(graph.MaxWeight))
			}
			b.Entries = append(b.Entries, e)
		}
		slices.SortStableFunc(b.Entries, func(a, b HalfEdge) int {
			return cmp.Or(cmp.Compare(a.Type, b.Type), a.Other.Compare(b.Other))
		})
		return b
	}
	return Node{id, bucket(), bucket()}
}

// same fails unless the index agrees with the map about a node.
func (m *memory) same(x *Index, id graph.ID) {
	m.t.Helper()
	f, err := x.Find(m.t.Context(), id)
	var got Node
	if err == nil {
		err = f.node(id, &got)
	}
	want := m.nodes[id]
	if err != nil || !got.Out.equal(want.Out) || !got.In.equal(want.In) {
		m.t.Fatalf("node %s: %+v, %v; want %+v", id, got, err, want)
	}
	degrees := [2]int{want.Out.Degree, want.In.Degree}
	f, err = x.Degrees(m.t.Context(), id)
	if err != nil || f.degrees != degrees && (isBusy(degrees) || isBusy(f.degrees)) {
		m.t.Fatalf("node %s: %d edges, %v; want %d", id, f.degrees, err, degrees)
	}
}
