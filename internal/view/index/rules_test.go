package index

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// TestGolden pins the format: the manifest of three documents, an update of them, and the scores
// of a query.
func TestGolden(t *testing.T) {
	ctx := context.Background()
	blocks := mem.New().Derived()
	docs := collect(
		node(graph.Node{Summary: "alpha beta alpha", Context: "gamma", Created: 5}),
		node(graph.Node{Summary: "beta", Type: "Person", Created: -7, Updated: graph.At(9),
			Props: []ipld.Entry{{Key: "team", Value: ipld.StringValue("gamma")}}}),
		&Document{Node: &graph.Node{ValidTo: graph.At(3)}, Content: "alpha gamma gamma delta"},
	)
	m := build(t, blocks, docs, UpdateOptions{})
	next := collection{}
	for id, d := range docs {
		next[id] = d
	}
	delete(next, graph.NodeID("edge 1"))
	changed := update(t, blocks, m, docs, next)
	const (
		want     = "bafyreicrielhbxnhnzp4wyeppofid7v32n7hrqpxwqvprbw3kicbujw5jq"
		wantNext = "bafyreiatcgab3j4jot5ki4j5iso5aryya4a4dag6wv6zle3tvaoujbi6e4"
	)
	must.Equal(t, m.String(), want, "manifest")
	must.Equal(t, changed.String(), wantNext, "manifest after a removal")
	x := must.Get(Open(ctx, blocks, m, nil))(t)
	res := must.Get(x.Text(ctx, "alpha gamma gamma unknown", nil, 0))(t)
	wantRes := TextResult{Terms: 3, Known: 2, Hits: []Hit{
		{ID: graph.NodeID("edge 0"), Score: 48_233}, {ID: graph.NodeID("edge 2"), Score: 40_803},
		{ID: graph.NodeID("edge 1"), Score: 13_290},
	}}
	must.Same(t, res, wantRes)
}

// TestBounds holds that no posting scores more than its block's bounds say.
func TestBounds(t *testing.T) {
	rng := newRand(t)
	for range 2000 {
		s := scorer{stats: Stats{Nodes: 1000}}
		for f := range Fields {
			s.stats.Filled[f] = int64(1 + rng.IntN(1000))
			s.stats.Terms[f] = s.stats.Filled[f] + int64(rng.IntN(50_000))
		}
		var b bounds
		idf := uint64(1 + rng.IntN(1<<20))
		most := uint64(0)
		for range 1 + rng.IntN(blockDocs) {
			var tf [Fields]uint32
			var lens docLens
			mask := byte(1 + rng.IntN(maskFields))
			for f := range Fields {
				lens[f] = uint32(1 + rng.IntN(300))
				if mask>>f&1 == 1 {
					tf[f] = uint32(1 + rng.IntN(int(lens[f])))
				}
			}
			b.add(&tf, &lens)
			most = max(most, s.score(idf, mask, &tf, &lens))
		}
		got := s.bound(idf, &b)
		must.Require(t, got >= most && got <= idf, "bound %d, scores up to %d, idf %d", got, most, idf)
	}
}

func TestDocByID(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(5, 5))
	blocks := mem.New().Derived()
	docs := collection{}
	m := build(t, blocks, docs, UpdateOptions{})
	for range 12 {
		next := mutate(rng, docs, 40)
		m = update(t, blocks, m, docs, next)
		docs = next
	}
	x := must.Get(Open(ctx, blocks, m, nil))(t)
	live := 0
	for i := range 42 {
		id := graph.NodeID(fmt.Sprint("key ", i))
		d, ok, err := x.Doc(ctx, id)
		must.Require(t, err == nil && ok == (docs[id] != nil), "document %s: %t, %v", id, ok, err)
		if ok {
			live++
			n := docs[id].Node
			if d.ID() != id || d.Times().Created != n.Created || d.Times().ValidFrom != n.ValidFrom {
				t.Errorf("document %s: %+v", id, d)
			}
		}
	}
	must.Check(t, live != 0, "no document lives")
}

// TestRemoveAll removes everything if that makes a merge, which leaves no segment.
func TestRemoveAll(t *testing.T) {
	ctx := context.Background()
	blocks := mem.New().Derived()
	docs := collect(node(graph.Node{Summary: "alpha"}), node(graph.Node{Summary: "beta"}))
	m := build(t, blocks, docs, UpdateOptions{})
	m = must.Get(Update(ctx, blocks, m, changes(docs, nil), UpdateOptions{Fanout: 2}))(t)
	x := must.Get(Open(ctx, blocks, m, nil))(t)
	if len(x.m.Segments) != 0 || x.Stats() != (Stats{}) {
		t.Errorf("%d segments, %+v", len(x.m.Segments), x.Stats())
	}
	must.Equal(t, m, build(t, blocks, nil, UpdateOptions{}), "manifest")
}

// TestWrongOld removes a document with another text than it has: what the statistics cannot tell
// at once a merge does.
func TestWrongOld(t *testing.T) {
	ctx := context.Background()
	blocks := mem.New().Derived()
	d := node(graph.Node{Summary: "alpha", Type: "Note"})
	docs := collect(d, node(graph.Node{Summary: "beta gamma"}))
	m := build(t, blocks, docs, UpdateOptions{})
	wrong := node(graph.Node{ID: d.Node.ID, Summary: "gamma", Type: "Note"})
	// The change of another node makes the new segment large enough for a merge.
	last := graph.ID{0: 0xff}
	both := func(c Change) func(func(Change, error) bool) {
		other := Change{ID: last, New: node(graph.Node{ID: last, Type: "Note"})}
		return func(yield func(Change, error) bool) { _ = yield(c, nil) && yield(other, nil) }
	}
	_, err := Update(ctx, blocks, m, both(Change{ID: d.Node.ID, Old: wrong}), UpdateOptions{Fanout: 2})
	must.Fail(t, err, store.ErrCorrupt)
	missing := Change{ID: graph.ID{1}, Old: node(graph.Node{ID: graph.ID{1}, Type: "Note"})}
	_, err = Update(ctx, blocks, m, both(missing), UpdateOptions{Fanout: 2})
	must.Fail(t, err, store.ErrCorrupt)
}

func TestOtherAnalyser(t *testing.T) {
	ctx := context.Background()
	for _, m := range []Manifest{{Analyser: 99, Language: "en"}, {Analyser: 1, Language: "xx"}} {
		blocks := mem.New().Derived()
		b := store.NewBlock(ipld.DagCBOR, encodeManifest(&m))
		must.OK(t, blocks.Put(ctx, b))
		_, err := Open(ctx, blocks, b.CID, nil)
		must.Fail(t, err, ErrAnalyser)
		_, err = Update(ctx, blocks, b.CID, changes(nil, nil), UpdateOptions{})
		must.Fail(t, err, ErrAnalyser)
	}
}
