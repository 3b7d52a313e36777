package index

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/view/segment"
)

// edits is the distance of a to the term b of clause 9.10 by its definition: from the ends, cutting
// nothing short.
func edits(a, b []rune) int {
	replace := 1
	if len(b) <= 4 {
		replace = 2
	}
	memo := map[[2]int]int{}
	var from func(i, j int) int
	from = func(i, j int) int {
		if i == 0 || j == 0 {
			return i + j
		}
		n, ok := memo[[2]int{i, j}]
		if ok {
			return n
		}
		n = min(from(i-1, j)+1, from(i, j-1)+1, from(i-1, j-1)+replace)
		if a[i-1] == b[j-1] {
			n = min(n, from(i-1, j-1))
		}
		if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
			n = min(n, from(i-2, j-2)+1)
		}
		memo[[2]int{i, j}] = n
		return n
	}
	return from(len(a), len(b))
}

// misspelt returns a word of a few letters, so that many are close to each other.
func misspelt(rng *rand.Rand) string {
	word := []rune{'q'}
	for range rng.IntN(8) {
		word = append(word, []rune("abxд")[rng.IntN(4)])
	}
	return string(word)
}

func TestDistance(t *testing.T) {
	rng := newRand(t)
	for range effort.Pick(15, 30, 600) {
		term := misspelt(rng)
		most := 1 + rng.IntN(2)
		d := newDistance(term, most)
		others := make([]string, 200)
		for i := range others {
			others[i] = misspelt(rng)
		}
		slices.Sort(others)
		for _, other := range others {
			want := edits([]rune(other), []rune(term))
			got, dead := d.to(other)
			if dead == 0 && got != want || dead > 0 && want <= most {
				t.Fatalf("%s to %s: %d, dead %d, want %d", term, other, got, dead, want)
			}
			if dead > 0 {
				for _, o := range others {
					if strings.HasPrefix(o, other[:dead]) && edits([]rune(o), []rune(term)) <= most {
						t.Fatalf("%s: nothing close should begin with %s, but %s", term, other[:dead], o)
					}
				}
			}
		}
	}
}

// TestReadings compares with an index of one segment, over segments that kill terms of each other.
func TestReadings(t *testing.T) {
	effort.Alone(t)
	ctx := context.Background()
	rng := newRand(t)
	found := 0
	for range effort.Pick(3, 8, 160) {
		sentence := func(n int) string {
			words := make([]string, n)
			for i := range words {
				words[i] = misspelt(rng)
			}
			return strings.Join(words, " ")
		}
		docs, x := grown(t, rng, 60, func(id graph.ID) *Document {
			return node(graph.Node{ID: id, Type: "T", Summary: sentence(6)})
		})
		o := fresh(t, docs)
		for range 20 {
			query := sentence(1 + rng.IntN(30))
			got := must.Get(x.Analyse(query).Readings(ctx))(t)
			want := must.Get(o.Analyse(query).Readings(ctx))(t)
			must.Same(t, got, want, query)
			found += len(got)
			checkRead(t, x, query, got)
		}
	}
	must.True(t, found != 0, "nothing was read as anything else")
}

// checkRead searches for a query that is read otherwise: each term that is read as another gives
// half of what the other gives, at least 1, and the terms' scores add up.
func checkRead(t *testing.T, x *Index, query string, readings []Reading) {
	t.Helper()
	ctx := context.Background()
	q := x.Analyse(query).Query(readings)
	res := must.Get(x.Search(ctx, q, nil, 1<<20))(t)
	sums := map[graph.ID]int64{}
	for _, term := range q {
		alone := must.Get(x.Text(ctx, term.As, nil, 1<<20))(t)
		for _, h := range alone.Hits {
			n := h.Score * term.Times
			if term.As != term.Term {
				n = max(1, n/2)
			}
			sums[h.ID] += n
		}
	}
	ids := make([]graph.ID, len(res.Hits))
	for i, h := range res.Hits {
		ids[i] = h.ID
		must.Equal(t, sums[h.ID], h.Score, query, ": ", h.ID)
	}
	must.Require(t, len(sums) == len(ids), "%s: %d hits, want %d", query, len(ids), len(sums))
	split := must.Get(x.Split(ctx, q, ids, nil))(t)
	for i, row := range split.Scores {
		sum := int64(0)
		for _, n := range row {
			sum += n
		}
		must.Equal(t, sum, res.Hits[i].Score, query, ": terms of ", ids[i], " add up")
	}
}

// TestEnglishWords: a word that no document has is no misspelling if it is an English one, unless it is spelt so elsewhere.
func TestEnglishWords(t *testing.T) {
	x, _ := withSummaries(t, []string{"the harbour", "a boat at that point"})
	for query, want := range map[string][]Reading{
		"bolt": nil, "paint": nil, "boatt": {{Word: "boatt", Term: "boatt", As: "boat"}}, "harbor": {{Word: "harbor", Term: "harbor", As: "harbour"}},
	} {
		got := must.Get(x.Analyse(query).Readings(t.Context()))(t, query)
		must.Same(t, got, want, query)
	}
}

// manyWords returns an index of 60,000 words, most of them different, and the words.
func manyWords(t testing.TB) (func(*segment.Cache) *Index, []string) {
	rng := rand.New(rand.NewPCG(1, 1))
	docs := collection{}
	var words []string
	for i := range 3000 {
		var b strings.Builder
		for range 20 {
			word := make([]byte, 4+rng.IntN(7))
			for j := range word {
				word[j] = "etaoinshrdlucmfwyp"[rng.IntN(18)]
			}
			words = append(words, string(word)+"o") // no suffix that stems lose
			fmt.Fprintf(&b, "%so ", word)
		}
		id := numberedID(i)
		docs[id] = node(graph.Node{ID: id, Type: "T", Summary: b.String()})
	}
	blocks := mem.New().Derived()
	m := build(t, blocks, docs, UpdateOptions{})
	return func(cache *segment.Cache) *Index {
		return must.Get(Open(context.Background(), blocks, m, cache))(t)
	}, words
}

// TestReadingWork counts the parts of a large dictionary that a word costs.
func TestReadingWork(t *testing.T) {
	rng := newRand(t)
	open, words := manyWords(t)
	parts := open(nil).segs[0].Parts(secTerms)
	must.Require(t, parts >= 30, "a dictionary of %d parts", parts)
	for range 20 {
		word := words[rng.IntN(len(words))]
		at := 1 + rng.IntN(len(word)-1)
		cache := segment.NewCache(64 << 20)
		got, err := open(cache).Analyse(word[:at] + "q" + word[at:]).Readings(context.Background())
		must.Require(t, err == nil && len(got) == 1, "%s: %v, %v", word, got, err)
		n := cache.Len()
		must.True(t, n <= parts/6, "%s read %d of %d parts", word, n, parts)
	}
}
