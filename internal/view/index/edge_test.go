package index

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	ranking "github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/testkit/differ"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// build returns the index of docs.
func build(t testing.TB, blocks store.Blocks, docs collection, opt UpdateOptions) ipld.CID {
	t.Helper()
	return must.Get(Update(context.Background(), blocks, ipld.CID{}, changes(nil, docs), opt))(t)
}

// update applies changes to an index.
func update(t testing.TB, blocks store.Blocks, m ipld.CID, from, to collection) ipld.CID {
	t.Helper()
	m = must.Get(Update(context.Background(), blocks, m, changes(from, to), UpdateOptions{}))(t)
	return m
}

// collect returns documents under ids of their own.
func collect(docs ...*Document) collection {
	out := collection{}
	for i, d := range docs {
		d.Node.ID = graph.NodeID(fmt.Sprint("edge ", i))
		if d.Node.Type == "" {
			d.Node.Type = "Note"
		}
		out[d.Node.ID] = d
	}
	return out
}

func node(n graph.Node) *Document { return &Document{Node: &n} }

func TestCollections(t *testing.T) {
	effort.Alone(t)
	many := make([]*Document, 300)
	for i := range many {
		many[i] = node(graph.Node{Type: fmt.Sprintf("%0255d", i), Summary: "alpha"})
	}
	var wide []ipld.Entry
	for i := range graph.MaxProps {
		wide = append(wide, ipld.Entry{Key: fmt.Sprintf("%0255d", i), Value: ipld.IntValue(1)})
	}
	long := strings.Repeat("x", 100_000)
	hostile := "\x00 \xff\xfe a\u0300\u0301 " + strings.Repeat("\u0301", 5000) + " " + long
	var distinct strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&distinct, "t%d alpha ", i)
	}
	cases := map[string]collection{
		"empty":            {},
		"no text":          collect(node(graph.Node{Type: "-"})),
		"stop words":       collect(node(graph.Node{Type: "the", Summary: "of and the"})),
		"many types":       collect(many...),
		"many properties":  collect(node(graph.Node{Props: wide})),
		"long word":        collect(node(graph.Node{Summary: long})),
		"hostile text":     collect(node(graph.Node{Summary: hostile, Context: "\u202e"})),
		"many terms":       collect(&Document{Node: &graph.Node{}, Content: distinct.String()}),
		"extreme times":    collect(node(extreme(graph.MaxTime)), node(extreme(graph.MinTime))),
		"equal documents":  collect(node(graph.Node{Summary: "beta"}), node(graph.Node{Summary: "beta"})),
		"one large value":  collect(node(largeProps(1))),
		"many large value": collect(node(largeProps(160))),
	}
	rng := newRand(t)
	for name, docs := range cases {
		t.Run(name, func(t *testing.T) {
			blocks := mem.New().Derived()
			m := build(t, blocks, docs, UpdateOptions{})
			checkIndex(t, rng, blocks, m, docs)
			checkVerify(t, blocks, m, docs)
			// All of it goes, and comes back.
			gone := update(t, blocks, m, docs, nil)
			checkIndex(t, rng, blocks, gone, nil)
			checkIndex(t, rng, blocks, update(t, blocks, gone, nil, docs), docs)
		})
	}
}

func extreme(t graph.Time) graph.Node {
	return graph.Node{
		Created: t, Updated: graph.At(graph.MaxTime + graph.MinTime - t),
		ValidFrom: graph.At(graph.MinTime),
		ValidTo:   graph.At(graph.MaxTime),
	}
}

func largeProps(n int) graph.Node {
	var props []ipld.Entry
	for i := range n {
		v := ipld.BytesValue(slices.Repeat([]byte{byte(i)}, maxSmallItem))
		props = append(props, ipld.Entry{Key: fmt.Sprintf("large%03d", i), Value: v})
	}
	return graph.Node{Props: props}
}

func documents(docs collection) iter.Seq2[*Document, error] {
	return func(yield func(*Document, error) bool) {
		for _, id := range slices.SortedFunc(maps.Keys(docs), graph.ID.Compare) {
			if !yield(docs[id], nil) {
				return
			}
		}
	}
}

// verify compares an index with documents, and again with documents that are known by their numbers:
// what it says must be the same.
func verify(ctx context.Context, get store.Getter, m ipld.CID, docs iter.Seq2[*Document, error]) ([]string, error) {
	x := NewExpectations()
	read := make(map[graph.ID]*Document)
	by := func(known bool) ([]string, error) {
		wanted := func(yield func(Wanted, error) bool) {
			for d, err := range docs {
				if err != nil {
					yield(Wanted{}, err)
					return
				}
				w := Wanted{ID: d.Node.ID, Document: d}
				if read[w.ID] = d; known {
					w.Sum, w.Document = x.Sum(d), nil
				}
				if !yield(w, nil) {
					return
				}
			}
		}
		return x.Verify(ctx, get, m, wanted, func(_ context.Context, id graph.ID) (*Document, error) {
			return read[id], nil
		})
	}
	found, err := by(false)
	again, errAgain := by(true)
	if !slices.Equal(found, again) || (err == nil) != (errAgain == nil) {
		return nil, fmt.Errorf("%v, %w; of documents known by their numbers %v, %w", found, err, again, errAgain)
	}
	return found, err
}

func checkVerify(t *testing.T, blocks store.Blocks, m ipld.CID, docs collection) {
	t.Helper()
	found, err := verify(context.Background(), blocks, m, documents(docs))
	must.Require(t, err == nil && len(found) == 0, "verify: %v, %v", found, err)
}

func TestUpdateUnchanged(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	blocks := mem.New().Derived()
	d := randomDoc(rng, randomID(rng, 9))
	docs := collection{d.Node.ID: d}
	m := build(t, blocks, docs, UpdateOptions{})
	copied := *d.Node
	copied.Sources = []string{"elsewhere"}
	copied.Key = "other"
	next := collection{d.Node.ID: {Node: &copied, Content: d.Content}}
	must.Equal(t, update(t, blocks, m, docs, next), m, "a change of what is not indexed made a new manifest")
	must.Equal(t, update(t, blocks, m, nil, nil), m, "no change made a new manifest")
	copied.Created++
	must.True(t, update(t, blocks, m, docs, next) != m, "a change of a time made no new manifest")
}

func TestUpdateRefuses(t *testing.T) {
	ctx := context.Background()
	blocks := mem.New().Derived()
	a, b := node(graph.Node{Summary: "alpha beta"}), node(graph.Node{Summary: "gamma"})
	collect(a, b) // gives them their ids
	if a.Node.ID.Compare(b.Node.ID) > 0 {
		a, b = b, a
	}
	m := build(t, blocks, collection{a.Node.ID: a}, UpdateOptions{})
	broken := errors.New("broken")
	cases := map[string]struct {
		changes iter.Seq2[Change, error]
		want    error
	}{
		"error of changes": {func(yield func(Change, error) bool) { yield(Change{}, broken) }, broken},
		"removed without being there": {func(yield func(Change, error) bool) {
			_ = yield(Change{ID: a.Node.ID, Old: a}, nil) && yield(Change{ID: b.Node.ID, Old: b}, nil)
		}, store.ErrCorrupt},
		"descending": {func(yield func(Change, error) bool) {
			_ = yield(Change{ID: b.Node.ID, New: b}, nil) && yield(Change{ID: a.Node.ID, Old: a}, nil)
		}, nil},
	}
	for name, c := range cases {
		_, err := Update(ctx, blocks, m, c.changes, UpdateOptions{})
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// TestLayouts checks that no layout of segments, no cache and no number of goroutines changes an answer, and that
// skipping documents changes nothing: the best five are the first of the best 100,000, for which none is ever skipped.
func TestLayouts(t *testing.T) {
	effort.Alone(t)
	ctx := context.Background()
	n := effort.Pick(800, 2500, 50_000)
	docs := collection{}
	for c := range zipfDocs(n) {
		docs[c.ID] = c.New
	}
	half := collection{}
	for id, d := range docs {
		if id[5] < 0x80 {
			half[id] = d
		} else {
			half[id] = node(graph.Node{ID: id, Type: "Old", Summary: "word1 word2 word3"})
		}
	}
	var all []*Index
	for _, opt := range []UpdateOptions{
		{}, {SpillDocs: 100, Fanout: 3}, {SpillDocs: 1000, Fanout: 100}, {SpillBytes: 100_000, Fanout: 2},
	} {
		blocks := mem.New().Derived()
		m := build(t, blocks, half, opt)
		must.Equal(t, build(t, mem.New().Derived(), half, opt), m, opt, ": manifests")
		m = must.Get(Update(ctx, blocks, m, changes(half, docs), opt))(t)
		x := must.Get(Open(ctx, blocks, m, segment.NewCache(1<<20)))(t)
		t.Logf("%+v: %d segments", opt, len(x.segs))
		checkVerify(t, blocks, m, docs)
		all = append(all, x)
	}
	for _, query := range []string{
		"word0", "word0 word1", "word5 word50 word500 word0", "word3 word3 word3 word2", "note",
		"word2000 word1 team7", "word999999", "",
	} {
		checkSame(t, all, query)
	}
}

func checkSame(t *testing.T, all []*Index, query string) {
	t.Helper()
	ctx := context.Background()
	accept := func(d ranking.Document) (bool, error) { return d.Type() == "Note", nil }
	for _, filter := range []Accept{nil, accept} {
		full := must.Get(all[0].Text(ctx, query, filter, 100_000))(t)
		for i, x := range all {
			for _, k := range []int{1, 5, 100, 100_000} {
				got := must.Get(x.Text(ctx, query, filter, k))(t)
				want := full.Hits[:min(k, len(full.Hits))]
				diff := differ.Diff(want, got.Hits, equateEmpty)
				must.Require(t, diff == "", "index %d, query %q, best %d (-want +got):\n%s", i, query, k, diff)
			}
		}
	}
}

func TestAcceptError(t *testing.T) {
	docs := collect(node(graph.Node{Summary: "alpha"}))
	blocks := mem.New().Derived()
	x := must.Get(Open(context.Background(), blocks, build(t, blocks, docs, UpdateOptions{}), nil))(t)
	broken := errors.New("broken")
	accept := func(ranking.Document) (bool, error) { return false, broken }
	_, err := x.Text(context.Background(), "alpha", accept, 0)
	must.Fail(t, err, broken)
	_, err = x.Recency(context.Background(), accept, 0)
	must.Fail(t, err, broken)
}

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
	must.True(t, live != 0, "no document lives")
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
