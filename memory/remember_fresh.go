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
	list  []*known
	terms map[string][]int32 // places in list, ascending
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
	shared := map[int32]int{}
	for _, term := range terms[:min(maxQuery, len(terms))] {
		at := f.terms[term]
		for _, n := range at[max(0, len(at)-maxFresh):] {
			shared[n]++
		}
	}
	found := make([]int32, 0, len(shared))
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
