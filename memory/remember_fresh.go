package memory

import (
	"cmp"
	"slices"

	"github.com/mnem-project/mnem/internal/text"
)

// maxFresh is how many requests before are looked at for one of a word that most of them have.
const maxFresh = 256

// fresh finds the memories that requests before made in the same commit: no index has them yet.
type fresh struct {
	list   []*known
	terms  map[string][]int32 // places in list, ascending
	shared []uint8            // of each of list, how many terms it shares with the text at hand
}

func (f *fresh) add(a *text.Analyzer, k *known) {
	n := int32(len(f.list))
	f.list = append(f.list, k)
	a.Each(k.text, func(term string) bool {
		at := f.terms[term]
		if len(at) == 0 || at[len(at)-1] != n {
			f.terms[term] = append(at, n)
		}
		return true
	})
}

// nearby returns the memories that share the most of the rarest terms of a text, at most maxNearby,
// the most alike first and of those the newest. It looks at maxFresh of the newest of each of
// maxQuery terms.
func (f *fresh) nearby(a *text.Analyzer, s string) []*known {
	if len(f.list) == 0 {
		return nil
	}
	var terms []string
	seen := map[string]bool{}
	a.Each(s, func(term string) bool {
		if !seen[term] && len(f.terms[term]) > 0 {
			seen[term] = true
			terms = append(terms, term)
		}
		return true
	})
	slices.SortStableFunc(terms, func(a, b string) int {
		return cmp.Compare(len(f.terms[a]), len(f.terms[b]))
	})
	f.shared = append(f.shared, make([]uint8, len(f.list)-len(f.shared))...)
	var met []int32
	for _, term := range terms[:min(maxQuery, len(terms))] {
		at := f.terms[term]
		for _, n := range at[max(0, len(at)-maxFresh):] {
			if f.shared[n]++; f.shared[n] == 1 {
				met = append(met, n)
			}
		}
	}
	order := func(a, b int32) int {
		return cmp.Or(cmp.Compare(f.shared[b], f.shared[a]), cmp.Compare(b, a))
	}
	best := make([]int32, 0, maxNearby+1)
	for _, n := range met {
		if len(best) == maxNearby && order(best[maxNearby-1], n) < 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, n, order)
		best = slices.Insert(best, at, n)
		best = best[:min(maxNearby, len(best))]
	}
	out := make([]*known, len(best))
	for i, n := range best {
		out[i] = f.list[n]
	}
	for _, n := range met {
		f.shared[n] = 0
	}
	return out
}
