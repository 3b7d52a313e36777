package index

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
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
