package index

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
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
	"github.com/mnem-project/mnem/ipld"
)

// withSummaries returns an index of nodes that have summaries, and their ids.
func withSummaries(t *testing.T, summaries []string) (*Index, []graph.ID) {
	t.Helper()
	docs, ids := collection{}, make([]graph.ID, len(summaries))
	for i, s := range summaries {
		ids[i] = graph.NodeID(fmt.Sprint("node", i))
		docs[ids[i]] = &Document{Node: &graph.Node{ID: ids[i], Type: "T", Summary: s, Created: 1}}
	}
	blocks := mem.New().Derived()
	x := must.Get(Open(t.Context(), blocks, build(t, blocks, docs, UpdateOptions{}), nil))(t)
	return x, ids
}

// lookups counts the reads of a query without a cache: each look-up of a term in a segment is one
// of a part of its dictionary, at least.
type lookups struct {
	x    *Index
	read *counter
}

func (l lookups) of(t *testing.T, what func(ctx context.Context) error) int {
	t.Helper()
	l.read.got = map[ipld.CID]int{}
	must.OK(t, what(t.Context()))
	sum := 0
	for _, n := range l.read.got {
		sum += n
	}
	return sum
}

// TestHostileWork bounds what questions of 64 KiB look up in an index of 10,000 documents, and
// what they allocate: in proportion to their terms, and only in the text lane to all of them.
func TestHostileWork(t *testing.T) {
	effort.Alone(t)
	blocks := mem.New().Derived()
	m := must.Get(Update(t.Context(), blocks, ipld.CID{}, zipfDocs(10_000), UpdateOptions{}))(t)
	l := lookups{read: &counter{Getter: blocks, got: map[ipld.CID]int{}}}
	l.x = must.Get(Open(t.Context(), l.read, m, nil))(t)
	const bytes = 64 << 10
	fill := func(word func(i int) string) string {
		var b strings.Builder
		for i := 0; b.Len() < bytes; i++ {
			b.WriteString(word(i) + " ")
		}
		return b.String()[:bytes]
	}
	letters := rand.New(rand.NewPCG(3, 3))
	for name, s := range map[string]string{
		"known":   fill(func(i int) string { return fmt.Sprint("word", i) }),
		"unknown": fill(func(i int) string { return fmt.Sprint("absent", i) }),
		"slips": fill(func(int) string {
			b := []byte("word")
			for range 4 {
				b = append(b, byte('a'+letters.IntN(26)))
			}
			return string(b)
		}),
		"one":   strings.Repeat("a ", bytes/2),
		"marks": strings.Repeat("`\"", bytes/2),
		"Han":   fill(func(i int) string { return string(rune(0x4e00 + i%20_000)) }),
	} {
		q := l.x.Analyse(s)
		terms := len(q.Query(nil))
		// A reading walks the dictionary, part after part.
		parts := l.x.segs[0].Parts(secTerms)
		if n := l.of(t, func(ctx context.Context) error { return must.Err(q.Readings(ctx)) }); n > min(terms, maxReadable)+maxReadings*2*parts {
			t.Errorf("%s: readings of %d terms read %d parts", name, terms, n)
		}
		known := 0
		if n := l.of(t, func(ctx context.Context) error {
			res, err := l.x.Search(ctx, q.Query(nil), nil, 0)
			known = res.Known
			return err
		}); n > terms+4*known+10_000/docsPerPart*4+8 {
			t.Errorf("%s: a search of %d terms, %d known, read %d parts", name, terms, known, n)
		}
		only := make([]int, min(terms, maxReadable))
		for i := range only {
			only[i] = i
		}
		if n := l.of(t, func(ctx context.Context) error {
			return must.Err(l.x.Split(ctx, q.Query(nil), nil, only))
		}); n > 2*len(only)+2 {
			t.Errorf("%s: splitting scores of %d terms read %d parts", name, len(only), n)
		}
		all := docIDs(t, l.x, 100)
		if n := l.of(t, func(ctx context.Context) error { return must.Err(q.TitlesNamed(ctx, nil, all)) }); n > 3*min(terms, maxTitleText)+16 {
			t.Errorf("%s: titles in %d terms read %d parts", name, terms, n)
		}
		checkAllocs(t, name, l.x, s, terms)
	}
}

// checkAllocs bounds allocations by terms: of an analysis, and of the titles of a hundred nodes,
// which must not look the same terms up again and again.
func checkAllocs(t *testing.T, name string, x *Index, s string, terms int) {
	t.Helper()
	of := func(f func()) int { return int(testing.AllocsPerRun(1, f)) }
	if n := of(func() { x.Analyse(s) }); n > 6*terms+200 {
		t.Errorf("%s: analysing %d terms allocates %d times", name, terms, n)
	}
	q, ids := x.Analyse(s), docIDs(t, x, 100)
	named := func() {
		if _, err := q.TitlesNamed(t.Context(), nil, ids); err != nil {
			t.Error(err)
		}
	}
	named()
	// Without a cache, each look-up opens a part of the dictionary again.
	if n := of(named); n > 40*min(terms, maxTitleText)+200 {
		t.Errorf("%s: titles in %d terms allocate %d times", name, terms, n)
	}
}

// docIDs returns the first ids of an index of one segment.
func docIDs(t *testing.T, x *Index, n int) []graph.ID {
	t.Helper()
	part := must.Get(x.src.IDList(t.Context(), x.segs[0], secIDs, 0))(t)
	ids := make([]graph.ID, n)
	for i := range ids {
		ids[i] = graph.ID(part.At(i))
	}
	return ids
}

// TestTermsAreRemembered asks twice for terms: each is read once, and the answer is the same.
func TestTermsAreRemembered(t *testing.T) {
	blocks := mem.New().Derived()
	const nodes = 100
	var list []*Document
	for i := range nodes {
		summary := "harbour"
		for j := range 40 { // more terms than a part of the dictionary has
			summary += fmt.Sprintf(" w%dx%d", i, j)
		}
		list = append(list, node(graph.Node{ID: numberedID(i), Type: "T", Summary: summary}))
	}
	m := build(t, blocks, collect(list...), UpdateOptions{})
	read := &counter{Getter: blocks, got: map[ipld.CID]int{}}
	x := must.Get(Open(t.Context(), read, m, nil))(t)
	for term, want := range map[string]int64{"harbour": nodes, "w77x7": 1, "w77x": 0} {
		for ask := range 2 {
			clear(read.got)
			df := must.Get(x.TermStats(t.Context(), term))(t, term)
			must.Equal(t, df, want, term)
			must.True(t, ask != 1 || len(read.got) <= 0, "%s: read a second time", term)
		}
	}
}

// TestLens writes columns of every width and reads them back.
func TestLens(t *testing.T) {
	rng := newRand(t)
	for _, most := range []uint32{0, 1, 255, 256, 65_535, 65_536, math.MaxUint32} {
		docs := make([]docLens, 1+rng.IntN(docsPerPart))
		for i := range docs {
			for f := range Fields {
				docs[i][f] = uint32(rng.Uint64N(uint64(most)/uint64(f+1) + 1))
			}
		}
		docs[rng.IntN(len(docs))][0] = most
		data := encodeLens(docs)
		p := must.Get(decodeLens(data, len(docs)))(t, "at most ", most)
		for i, want := range docs {
			must.Equal(t, p.at(docsPerPart+uint32(i), allFields), want, "at most ", most, ": document ", i)
			if got := p.at(uint32(i), 1<<2); got != (docLens{2: want[2]}) {
				t.Fatalf("at most %d: document %d has %v of one field, want %v", most, i, got, want[2])
			}
		}
		for _, bad := range [][]byte{data[:len(data)-1], append(data, 0), nil, {3}, {5}} {
			if _, err := decodeLens(bad, len(docs)); !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("%d bytes of %d: %v, want %v", len(bad), len(data), err, store.ErrCorrupt)
			}
		}
	}
}

// TestTypesUnread holds that a query whose filter asks for ids alone reads no types and times, and
// that one which asks for them fails where they are missing.
func TestTypesUnread(t *testing.T) {
	ctx := context.Background()
	blocks := mem.New().Derived()
	m := must.Get(Update(ctx, blocks, ipld.CID{}, zipfDocs(5000), UpdateOptions{}))(t)
	x := must.Get(Open(ctx, blocks, m, nil))(t)
	seen := &counter{Getter: blocks, got: map[ipld.CID]int{}}
	src, gone := source{Format.NewReader(seen, nil)}, map[ipld.CID]bool{}
	for doc := range x.segs[0].Docs {
		must.Get(src.meta(ctx, x.segs[0], uint32(doc)))(t)
	}
	for c := range seen.got {
		gone[c] = true
	}
	x.src = source{Format.NewReader(without{blocks, gone}, nil)}
	res, err := x.Text(ctx, "word0", func(d ranking.Document) (bool, error) { return !d.ID().IsZero(), nil }, 10)
	must.OK(t, err, "hits")
	must.Equal(t, len(res.Hits), 10, "hits")
	ofType := func(d ranking.Document) (bool, error) { return d.Type() == "", nil }
	_, err = x.Text(ctx, "word0", ofType, 10)
	must.Fail(t, err, store.ErrNotFound)
	var last error
	for d, err := range x.Docs(ctx) {
		if last = err; err == nil {
			d.Type()
		}
	}
	must.Fail(t, last, store.ErrNotFound, "listed by type")
	d, ok, err := x.Doc(ctx, numberedID(7))
	if err != nil || !ok || d.Err() != nil {
		t.Errorf("%v, %v, %v", ok, err, d.Err())
	}
	if d.Times(); !errors.Is(d.Err(), store.ErrNotFound) {
		t.Errorf("asked when it was created: %v, want %v", d.Err(), store.ErrNotFound)
	}
}

// without lacks some blocks.
type without struct {
	store.Getter
	gone map[ipld.CID]bool
}

func (w without) Get(ctx context.Context, c ipld.CID) ([]byte, error) {
	if w.gone[c] {
		return nil, &store.NotFoundError{CID: c}
	}
	return w.Getter.Get(ctx, c)
}

// byAge is a score of times that uses all of them and gives some documents nothing.
func byAge(t Times) int64 {
	return int64(t.Created+2*t.Updated.Time+3*t.ValidFrom.Time+5*t.ValidTo.Time)%97 - 10
}

func timesOf(n *graph.Node) Times {
	return Times{Created: n.Created, Updated: n.Updated, ValidFrom: n.ValidFrom, ValidTo: n.ValidTo}
}

// checkTimes compares what an index says of times with the documents.
func checkTimes(t *testing.T, x *Index, docs collection, accept Accept, filter func(*Document) bool, k int) {
	t.Helper()
	var want []Hit
	for id, d := range docs {
		if s := byAge(timesOf(d.Node)); s > 0 && (filter == nil || filter(d)) {
			want = append(want, Hit{ID: id, Score: s})
		}
	}
	got := must.Get(x.ByTime(context.Background(), byAge, accept, k))(t)
	must.Equal(t, differ.Diff(best(want, k), got, equateEmpty), "", "best ", k, " by time")
	ids := append(slices.Collect(maps.Keys(docs)), graph.ID{0xFF}, graph.ID{})
	times, ok, err := x.Times(context.Background(), ids)
	must.OK(t, err)
	for i, id := range ids {
		if d := docs[id]; ok[i] != (d != nil) || d != nil && times[i] != timesOf(d.Node) {
			t.Fatalf("times of %s are %+v, %v", id, times[i], ok[i])
		}
	}
	types := must.Get(x.Types(context.Background(), ids))(t)
	for i, id := range ids {
		want := ""
		if d := docs[id]; d != nil {
			want = d.Node.Type
		}
		must.Equal(t, types[i], want, id, " is a")
	}
}

func TestByTimeErrors(t *testing.T) {
	docs := collect(node(graph.Node{Summary: "alpha", Created: 5}))
	blocks := mem.New().Derived()
	x := must.Get(Open(context.Background(), blocks, build(t, blocks, docs, UpdateOptions{}), nil))(t)
	broken := errors.New("broken")
	one := func(Times) int64 { return 1 }
	accept := func(ranking.Document) (bool, error) { return false, broken }
	_, err := x.ByTime(context.Background(), one, accept, 0)
	must.Fail(t, err, broken)
	none := func(Times) int64 { return 0 } // what has no score is not asked about
	if hits, err := x.ByTime(context.Background(), none, accept, 0); err != nil || len(hits) > 0 {
		t.Errorf("by time: %v, %v", hits, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = x.ByTime(ctx, one, nil, 0)
	must.Fail(t, err, context.Canceled)
}

// Text is Search for a query as it is written.
func (x *Index) Text(ctx context.Context, query string, accept Accept, k int) (TextResult, error) {
	return x.Search(ctx, x.Query(query), accept, k)
}

// TermScores is Split for a query as it is written.
func (x *Index) TermScores(ctx context.Context, query string, ids []graph.ID, only []int) (*TermScores, error) {
	return x.Split(ctx, x.Query(query), ids, only)
}

// Doc returns the live document of a node, and whether there is one.
func (x *Index) Doc(ctx context.Context, id graph.ID) (Doc, bool, error) {
	return x.Finder(ctx).Doc(id)
}
