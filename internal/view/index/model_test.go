package index

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

// newRand returns a random source and prints its seed, so that a failure can be run again.
func newRand(t testing.TB) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// collection is the documents of a graph.
type collection map[graph.ID]*Document

// changes returns what leads from one collection to another.
func changes(from, to collection) iter.Seq2[Change, error] {
	ids := slices.Collect(maps.Keys(from))
	for id := range to {
		if from[id] == nil {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, graph.ID.Compare)
	return func(yield func(Change, error) bool) {
		for _, id := range ids {
			if from[id] != to[id] && !yield(Change{ID: id, Old: from[id], New: to[id]}, nil) {
				return
			}
		}
	}
}

var words = []string{
	"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "river", "mountain", "server",
	"database", "billing", "team", "Alice", "Bob", "2024", "v1.2.3", "naïve", "東京都", "деньги",
}

func sentence(rng *rand.Rand, most int) string {
	s := ""
	for range rng.IntN(most + 1) {
		// The square makes the first words common and the last rare.
		r := rng.Float64()
		s += words[int(r*r*float64(len(words)))] + " "
	}
	return s
}

func randomID(rng *rand.Rand, space int) graph.ID {
	n := rng.IntN(space) + 1
	return graph.NodeID(fmt.Sprint("key ", n))
}

func randomDoc(rng *rand.Rand, id graph.ID) *Document {
	n := &graph.Node{
		ID: id, Type: []string{"Person", "Service", "Note"}[rng.IntN(3)],
		Summary: sentence(rng, 12), Created: graph.Time(rng.IntN(2000) - 1000),
	}
	if rng.IntN(3) == 0 {
		n.Context = sentence(rng, 6)
	}
	if rng.IntN(3) == 0 {
		n.Updated = graph.At(n.Created + 1 + graph.Time(rng.IntN(1000)))
	}
	if rng.IntN(4) == 0 {
		n.ValidFrom = graph.At(graph.Time(rng.IntN(1000)))
	}
	if rng.IntN(4) == 0 {
		n.ValidTo = graph.At(graph.Time(1000 + rng.IntN(1000)))
	}
	var props []ipld.Entry
	add := func(key string, v ipld.Value) { props = append(props, ipld.Entry{Key: key, Value: v}) }
	if rng.IntN(2) == 0 {
		add("team", ipld.StringValue(words[rng.IntN(len(words))]))
	}
	if rng.IntN(2) == 0 {
		add("rank", ipld.IntValue(int64(rng.IntN(10))))
	}
	if rng.IntN(5) == 0 {
		add("tags", ipld.ListValue(ipld.StringValue("beta gamma"), ipld.StringValue("delta")))
	}
	if rng.IntN(20) == 0 {
		add("blob", ipld.BytesValue(make([]byte, 20_000)))
	}
	ipld.SortEntries(props)
	n.Props = props
	d := &Document{Node: n}
	if rng.IntN(3) == 0 {
		d.Content = sentence(rng, 200)
	}
	return d
}

func recency(docs collection, accept func(*Document) bool, k int) []Hit {
	var hits []Hit
	for id, d := range docs {
		at := d.Node.Created
		if d.Node.Updated.Given {
			at = d.Node.Updated.Time
		}
		if accept == nil || accept(d) {
			hits = append(hits, Hit{ID: id, Score: min(max(0, int64(at)), maxCount)})
		}
	}
	return best(hits, k)
}

func best(hits []Hit, k int) []Hit {
	slices.SortFunc(hits, func(a, b Hit) int {
		if a.Score != b.Score {
			return int(b.Score - a.Score)
		}
		return a.ID.Compare(b.ID)
	})
	return hits[:min(k, len(hits))]
}

// acceptDoc and acceptNode are one filter, as asked of the index and of the documents themselves.
func acceptDoc(d ranking.Document) (bool, error) {
	rank, ok, err := d.Prop("rank")
	t := d.Times()
	at := t.Created
	if t.Updated.Given {
		at = t.Updated.Time
	}
	return d.Type() != "Note" && (!ok || rank.Int() < 5) && at > -500 && !t.ValidTo.Given, err
}

func acceptNode(d *Document) bool {
	n := d.Node
	rank, ok := ipld.FindEntry(n.Props, "rank")
	at := n.Created
	if n.Updated.Given {
		at = n.Updated.Time
	}
	return n.Type != "Note" && (!ok || rank.Int() < 5) && at > -500 && !n.ValidTo.Given
}

// fresh opens an index that is built of documents at once.
func fresh(t *testing.T, docs collection) *Index {
	t.Helper()
	blocks := mem.New().Derived()
	return must.Get(Open(t.Context(), blocks, build(t, blocks, docs, UpdateOptions{}), nil))(t)
}

// checkIndex compares everything an index answers with the documents, or with an index built of them at once: what
// scores are is frozen by TestGolden, and by the golden answers of package rank.
func checkIndex(t *testing.T, rng *rand.Rand, blocks store.Blocks, m ipld.CID, docs collection) {
	t.Helper()
	ctx := context.Background()
	x := must.Get(Open(ctx, blocks, m, segment.NewCache(1<<20)))(t)
	o := fresh(t, docs)
	must.Same(t, x.Stats(), o.Stats(), "statistics")
	for range 8 {
		query, k := sentence(rng, 6), []int{1, 3, 10, 1000}[rng.IntN(4)]
		var accept Accept
		var filter func(*Document) bool
		if rng.IntN(2) == 0 {
			accept, filter = acceptDoc, acceptNode
		}
		got := must.Get(x.Text(ctx, query, accept, k))(t)
		want := must.Get(o.Text(ctx, query, accept, 1<<20))(t)
		for _, h := range want.Hits {
			must.Require(t, filter == nil || filter(docs[h.ID]),
				"query %q: %s does not pass the filter", query, h.ID)
		}
		want.Hits = want.Hits[:min(k, len(want.Hits))]
		must.Equal(t, differ.Diff(want, got, equateEmpty), "", "query ", query, ", best ", k)
		recent := must.Get(x.Recency(ctx, accept, k))(t)
		must.Equal(t, differ.Diff(recency(docs, filter, k), recent, equateEmpty), "", "most recent ", k)
		checkTimes(t, x, docs, accept, filter, k)
	}
	for _, term := range x.analyser.Terms(strings.Join(words, " ")) {
		got := must.Get(x.TermStats(ctx, term))(t)
		must.Equal(t, got, must.Get(o.TermStats(ctx, term))(t), "df of ", term)
	}
	checkDocs(t, x, docs)
}

var equateEmpty = cmp.Transformer("empty", func(h []Hit) []Hit { return append([]Hit{}, h...) })

// checkDocs compares the listing and every column with the documents.
func checkDocs(t *testing.T, x *Index, docs collection) {
	t.Helper()
	ids := slices.SortedFunc(maps.Keys(docs), graph.ID.Compare)
	i := 0
	for d, err := range x.Docs(context.Background()) {
		must.OK(t, err)
		if i == len(ids) || d.ID() != ids[i] {
			t.Fatalf("document %d is %s, want one of %d ids", i, d.ID(), len(ids))
		}
		checkDoc(t, d, docs[ids[i]].Node)
		i++
	}
	must.Require(t, i == len(ids), "%d documents, want %d", i, len(ids))
}

func checkDoc(t *testing.T, d Doc, n *graph.Node) {
	t.Helper()
	want := (&Document{Node: n}).meta()
	must.Equal(t, d.Times(), want.times(), "document ", n.ID)
	must.Equal(t, d.Type(), n.Type, "document ", n.ID)
	for _, name := range []string{"blob", "rank", "tags", "team", "none"} {
		want, has := ipld.FindEntry(n.Props, name)
		got, ok, err := d.Prop(name)
		must.Require(t, err == nil && ok == has && got.Equal(want),
			"document %s has %s = %v, %t, %v, want %v, %t", n.ID, name, got, ok, err, want, has)
	}
}

// mutate returns a copy of docs after some random changes.
func mutate(rng *rand.Rand, docs collection, space int) collection {
	next := maps.Clone(docs)
	for range 1 + rng.IntN(1+rng.IntN(30)) {
		id := randomID(rng, space)
		if rng.IntN(3) == 0 {
			delete(next, id)
		} else {
			next[id] = randomDoc(rng, id)
		}
	}
	return next
}

func TestModel(t *testing.T) {
	effort.Alone(t)
	rng := newRand(t)
	for range effort.Pick(6, 20, 240) {
		opt := UpdateOptions{Fanout: 2 + rng.IntN(8), SpillDocs: 1 + rng.IntN(40), SpillBytes: 1 << rng.IntN(24)}
		t.Logf("options %+v", opt)
		runModel(t, rng, opt)
	}
}

func runModel(t *testing.T, rng *rand.Rand, opt UpdateOptions) {
	t.Helper()
	ctx := context.Background()
	blocks := mem.New().Derived()
	docs, m := collection{}, ipld.CID{}
	for step := range 25 {
		next := mutate(rng, docs, 60)
		var err error
		if m, err = Update(ctx, blocks, m, changes(docs, next), opt); err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
		docs = next
		if step%4 == 0 {
			checkIndex(t, rng, blocks, m, docs)
		}
	}
	built := must.Get(Update(ctx, blocks, ipld.CID{}, changes(nil, docs), UpdateOptions{}))(t)
	checkIndex(t, rng, blocks, built, docs)
}
