package remember

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/memory/compare"
)

// nearbySorted is fresh.nearby said plainly: all that share a term, sorted.
func nearbySorted(f *fresh, v *compare.Vocabulary, s string) []*known {
	var terms []int32
	for _, t := range v.Analyser.Terms(s) {
		term := v.Numbers[t]
		if int(term) < len(f.having) && len(f.having[term]) > 0 && !slices.Contains(terms, term) {
			terms = append(terms, term)
		}
	}
	slices.SortStableFunc(terms, func(a, b int32) int {
		return cmp.Compare(len(f.having[a]), len(f.having[b]))
	})
	shared := map[int32]int{}
	for _, term := range terms[:min(memory.MaxQuery, len(terms))] {
		at := f.having[term]
		for _, n := range at[max(0, len(at)-maxFresh):] {
			shared[n]++
		}
	}
	var found []int32
	for n := range shared {
		found = append(found, n)
	}
	slices.SortFunc(found, func(a, b int32) int {
		return cmp.Or(cmp.Compare(shared[b], shared[a]), cmp.Compare(b, a))
	})
	var out []*known
	for _, n := range found[:min(maxNearby, len(found))] {
		out = append(out, f.list[n])
	}
	return out
}

// TestFreshNearby finds the texts most like a given one among earlier ones; more than maxFresh of them have the common
// words.
func TestFreshNearby(t *testing.T) {
	analyser, err := text.New("en")
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 1))
		f, words := fresh{}, compare.NewVocabulary(analyser)
		found := 0
		for i := range 600 {
			var b strings.Builder
			for range r.IntN(30) {
				fmt.Fprintf(&b, "w%d ", r.IntN(1+r.IntN(400)))
			}
			terms := words.Read(b.String()).Order
			got, want := f.nearby(terms), nearbySorted(&f, words, b.String())
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d: text %d has %d likes, want %d, or others", seed, i, len(got), len(want))
			}
			found += len(got)
			f.add(terms, &known{Draft: Draft{Request: Request{Text: b.String()}}})
		}
		if found < 600 {
			t.Errorf("seed %d: %d likes found", seed, found)
		}
	}
}
