package memory

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/text"
)

// nearbySorted is fresh.nearby said plainly: all that share a term, sorted.
func nearbySorted(f *fresh, a *text.Analyzer, s string) []*known {
	var terms []string
	for _, term := range a.Terms(s) {
		if len(f.terms[term]) > 0 && !slices.Contains(terms, term) {
			terms = append(terms, term)
		}
	}
	slices.SortStableFunc(terms, func(a, b string) int {
		return cmp.Compare(len(f.terms[a]), len(f.terms[b]))
	})
	shared := map[int32]int{}
	for _, term := range terms[:min(maxQuery, len(terms))] {
		at := f.terms[term]
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

// TestFreshNearby finds the likes of texts among those before them, of which more than maxFresh have
// the common words.
func TestFreshNearby(t *testing.T) {
	analyser, err := text.New("en")
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 1))
		f := fresh{terms: map[string][]int32{}}
		found := 0
		for i := range 600 {
			var b strings.Builder
			for range r.IntN(30) {
				fmt.Fprintf(&b, "w%d ", r.IntN(1+r.IntN(400)))
			}
			got, want := f.nearby(analyser, b.String()), nearbySorted(&f, analyser, b.String())
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d: text %d has %d likes, want %d, or others", seed, i, len(got), len(want))
			}
			found += len(got)
			f.add(analyser, &known{text: b.String()})
		}
		if found < 600 {
			t.Errorf("seed %d: %d likes found", seed, found)
		}
	}
}
