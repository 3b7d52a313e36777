package links

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// TestModel compares an index with a map, whatever the layout of its segments is.
func TestModel(t *testing.T) {
	for seed := range effort.Pick[uint64](3, 6, 60) {
		rng := rand.New(rand.NewPCG(seed, 5))
		opt := UpdateOptions{Fanout: int(seed) % 5}
		m := newMemory(t)
		universe := []int{30, 400, 3000}[seed%3]
		for round := range 14 {
			changed := 1 + rng.IntN(4)
			if round%5 == 0 {
				changed = universe / 2
			}
			var nodes []Node
			for _, i := range rng.Perm(universe)[:changed] {
				n := randomNode(rng, testID(i), universe)
				if rng.IntN(5) == 0 {
					n = Node{ID: n.ID}
				}
				nodes = append(nodes, n)
			}
			m.apply(nodes, opt)
			x := m.open(segment.NewCache(int64(rng.IntN(2)) << 16))
			for i := range universe + 3 {
				m.same(x, testID(i))
			}
			wrong, err := Verify(t.Context(), m.blocks, m.manifest, m.of, m.all())
			must.Require(t, err == nil && len(wrong) <= 0, "seed %d, round %d: %v, %v", seed, round, wrong, err)
		}
		all := m.walk()
		copied := mem.New().Derived()
		for _, c := range all {
			data, err := m.blocks.Get(t.Context(), c)
			if err == nil {
				err = copied.Put(t.Context(), store.Block{CID: c, Data: data})
			}
			must.OK(t, err)
		}
		m.blocks = copied // the walk has read everything
		wrong := must.Get(Verify(t.Context(), m.blocks, m.manifest, m.of, m.all()))(t)
		must.Require(t, wrong == nil, "seed %d: %v", seed, wrong)
	}
}

// TestVerify finds every way in which an index may be that of another graph.
func TestVerify(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	m := newMemory(t)
	var nodes []Node
	for i := range 300 {
		n := randomNode(rng, testID(i), 300)
		n.Out = Bucket{2, []HalfEdge{{"a", testID(1), 7, false}, {"b", testID(2), 9, true}}}
		nodes = append(nodes, n)
	}
	m.apply(nodes, UpdateOptions{})
	ids := slices.Collect(func(yield func(graph.ID) bool) {
		for n := range m.all() {
			if !yield(n.ID) {
				return
			}
		}
	})
	first, last := ids[0], ids[len(ids)-1]
	for name, change := range map[string]func(){
		"first gone":   func() { delete(m.nodes, first) },
		"last gone":    func() { delete(m.nodes, last) },
		"one more":     func() { n := m.nodes[first]; n.ID[15]++; m.nodes[n.ID] = n },
		"behind all":   func() { n := m.nodes[first]; n.ID = last; n.ID[15]++; m.nodes[n.ID] = n },
		"other degree": func() { n := m.nodes[last]; n.In = Bucket{Degree: 1 << 20}; m.nodes[last] = n },
		"other weight": func() { n := m.nodes[last]; n.Out = cloned(n.Out); n.Out.Entries[0].Weight++; m.nodes[last] = n },
		"no mark":      func() { n := m.nodes[last]; n.Out = cloned(n.Out); n.Out.Entries[1].Marked = false; m.nodes[last] = n },
	} {
		before := m.nodes
		m.nodes = map[graph.ID]Node{}
		for id, n := range before {
			m.nodes[id] = n
		}
		change()
		wrong, err := Verify(t.Context(), m.blocks, m.manifest, m.of, m.all())
		must.True(t, err == nil && len(wrong) == 1 && strings.Contains(wrong[0], "links of "),
			"%s: %q, %v", name, wrong, err)
		m.nodes = before
	}
	_, err := Open(t.Context(), m.blocks, m.manifest, Of{Out: m.of.Out}, new(segment.Cache))
	must.True(t, err != nil, "opened as the index of other trees")
}

func cloned(b Bucket) Bucket { return Bucket{b.Degree, slices.Clone(b.Entries)} }

// TestWideNodes uses nodes whose entries all have different long types.
func TestWideNodes(t *testing.T) {
	m := newMemory(t)
	wide := func(id graph.ID) Node {
		n := Node{ID: id}
		for i := range MaxEntries {
			for _, b := range []*Bucket{&n.Out, &n.In} {
				typ := strings.Repeat("x", graph.MaxType-3) + string(rune('a'+i%26)) + string(rune('a'+i/26))
				if b == &n.In {
					typ += "i"
				}
				b.Entries = append(b.Entries, HalfEdge{typ, testID(i), 1 + uint32(i), true})
				b.Degree++
			}
		}
		return n
	}
	m.apply([]Node{wide(testID(1)), wide(testID(2)), wide(testID(3))}, UpdateOptions{})
	x := m.open(segment.NewCache(1 << 20))
	for i := range 5 {
		m.same(x, testID(i))
	}
}

// desk knows which merges were made, and whether one was asked for that was not.
type desk struct {
	made  map[ipld.CID]ipld.CID
	asked bool
}

func (d *desk) Merged(_ context.Context, key ipld.CID) (ipld.CID, error) {
	c := d.made[key]
	d.asked = d.asked || !c.Defined()
	return c, nil
}

// TestLater makes merges a random while after they are due, or loses them, damages them or never
// makes them: no update writes more than a small merge takes, and every node is as it should be.
func TestLater(t *testing.T) {
	effort.Alone(t)
	const (
		base      = 3000
		mostBytes = 24 << 10 // a merge of 256 nodes, and a block of refs
	)
	updates := effort.Pick(800, 3000, 3000)
	for _, loses := range []int{4, 1} {
		rng := rand.New(rand.NewPCG(uint64(loses), 8))
		m := newMemory(t)
		d := &desk{made: map[ipld.CID]ipld.CID{}}
		opt := UpdateOptions{Later: d}
		nodes := make([]Node, base)
		for i := range nodes {
			nodes[i] = usual(rng, testID(i), base)
		}
		m.apply(nodes, opt)
		must.True(t, !d.asked, "an update of many nodes left a merge for later")
		blocks := &metered{Blocks: m.blocks}
		m.blocks = blocks
		merges, worst, most, wait, lost := 0, 0, 0, 0, ipld.CID{}
		for i := range updates {
			blocks.written, d.asked = work{}, false
			var list []Node
			for _, n := range []int{rng.IntN(base), base + i} {
				if list = append(list, usual(rng, testID(n), base)); rng.IntN(5) == 0 {
					list[len(list)-1] = Node{ID: testID(n)}
				}
			}
			m.apply(list, opt)
			if worst = max(worst, blocks.written.bytes); blocks.written.bytes > mostBytes && loses > 1 {
				t.Errorf("update %d wrote %v", i, blocks.written)
			}
			most = max(most, len(m.open(new(segment.Cache)).segs))
			if rng.IntN(30) == 0 {
				delete(d.made, lost)
			}
			if !d.asked {
				wait = rng.IntN(50)
			} else if wait--; wait < 0 {
				key, merged, err := Format.MergeWaiting(t.Context(), m.blocks, m.manifest)
				must.Require(t, err == nil && key.Defined(), "merge %s of %s: %v", merged, key, err)
				switch merges++; {
				case loses == 1: // never made
					wait = updates
				case merges%loses == 0:
					d.made[key], lost = store.NewBlock(ipld.DagCBOR, fmt.Append(nil, i)).CID, key
				case merges%loses == 1:
					d.made[key], lost = m.manifest, key // no segment
				default:
					d.made[key] = merged
				}
			}
			if i%50 == 0 {
				x := m.open(segment.NewCache(1 << 20))
				for range 200 {
					m.same(x, testID(rng.IntN(base+updates)))
				}
			}
		}
		wrong, err := Verify(t.Context(), m.blocks, m.manifest, m.of, m.all())
		must.True(t, err == nil && len(wrong) <= 0, "%v, %v", wrong, err)
		must.True(t, merges >= 1 && most <= maxWaiting+1, "%d merges, %d segments at most", merges, most)
		t.Logf("%d merges, at most %d bytes an update, %d segments", merges, worst, most)
		m.apply([]Node{usual(rng, testID(0), base)}, UpdateOptions{}) // merges by itself
		if key, c, err := Format.MergeWaiting(t.Context(), m.blocks, m.manifest); key.Defined() || c.Defined() || err != nil {
			t.Errorf("merged %s for %s where nothing waits: %v", c, key, err)
		}
	}
}

// TestBusy: numbers of edges are found by reading few parts, and Verify refuses a segment whose busy nodes are others
// than its nodes say.
func TestBusy(t *testing.T) {
	const n = 4000
	ids := make([]graph.ID, n)
	for i := range ids {
		ids[i] = testID(i)
	}
	slices.SortFunc(ids, graph.ID.Compare)
	hub := func(id graph.ID, degree int) Node { return Node{ID: id, Out: Bucket{Degree: degree}} }
	write := func(lie func(w *busyWriter, i int)) *memory {
		m := newMemory(t)
		m.apply(nil, UpdateOptions{}) // for roots
		w := newWriter(Format.NewWriter(t.Context(), m.blocks))
		for i, id := range ids {
			node := usual(rand.New(rand.NewPCG(1, uint64(i))), id, n)
			if i%9 == 0 {
				node = hub(id, MaxEntries+1)
			}
			if i == 900 { // more than a busy node stores
				node = hub(id, 1<<20)
			}
			m.nodes[id] = node
			must.OK(t, w.add(&node, 0))
			lie(&w.busy, i)
		}
		s, block, err := w.finish()
		must.OK(t, err)
		must.OK(t, m.blocks.Put(t.Context(), block))
		manifest := &segment.Manifest{Roots: m.of.roots(), List: segment.List{Segments: []segment.Ref{s.Ref()}}}
		m.manifest = must.Get(Format.WriteManifest(t.Context(), m.blocks, manifest))(t)
		return m
	}
	m := write(func(*busyWriter, int) {})
	wrong, err := Verify(t.Context(), m.blocks, m.manifest, m.of, m.all())
	must.True(t, err == nil && wrong == nil, "%v, %v", wrong, err)
	blocks := &metered{Blocks: m.blocks}
	m.blocks = blocks
	x := m.open(segment.NewCache(1 << 20))
	blocks.read = work{}
	for _, id := range ids {
		f := must.Get(x.Degrees(t.Context(), id))(t)
		if out := m.nodes[id].Out.Degree; out > Few {
			must.Equal(t, f.Degree(Out), out, id)
		}
	}
	must.True(t, blocks.read.blocks <= 3, "%v read for all numbers of edges", blocks.read)
	for name, lie := range map[string]func(w *busyWriter, i int){
		"one more": func(w *busyWriter, i int) {
			if i == 1 {
				node := hub(ids[i], 100)
				must.OK(t, w.add(&node))
			}
		},
		"of no node": func(w *busyWriter, i int) {
			if i == n-1 {
				node := hub(ids[i], 100)
				node.ID[15]++
				must.OK(t, w.add(&node))
			}
		},
		"one less": func(w *busyWriter, i int) {
			if i == 9 {
				w.ids, w.degrees = w.ids[:len(w.ids)-graph.IDLen], w.degrees[:len(w.degrees)-4]
			}
		},
		"other number": func(w *busyWriter, i int) {
			if i == 9 {
				w.degrees[len(w.degrees)-4]++
			}
		},
	} {
		m := write(lie)
		must.Fail(t, must.Err(Verify(t.Context(), m.blocks, m.manifest, m.of, m.all())), store.ErrCorrupt, name)
	}
}
