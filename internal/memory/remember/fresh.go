package remember

import (
	"cmp"
	"slices"

	"github.com/mnem-project/mnem/internal/memory"
)

// maxFresh bounds the earlier requests examined for one word, since most of them may have it.
const maxFresh = 256

// fresh finds the memories that requests before made in the same commit: no index has them yet.
type fresh struct {
	list        []*known
	having      [][]int32 // by term number, indexes in list, ascending
	shared      []uint8   // for each of list, how many terms it shares with the current text
	rarest, met []int32   // room
}

// add adds a memory of some terms, each once.
func (f *fresh) add(terms []int32, k *known) {
	n := int32(len(f.list))
	f.list = append(f.list, k)
	for _, term := range terms {
		if more := int(term) + 1 - len(f.having); more > 0 {
			f.having = append(f.having, make([][]int32, more)...)
		}
		f.having[term] = append(f.having[term], n)
	}
}

// nearby returns the memories that share the most of the rarest of some terms, each once, at most maxNearby,
// the most alike first and of those the newest. It looks at maxFresh of the newest of each of
// maxQuery terms.
func (f *fresh) nearby(of []int32) []*known {
	if len(f.list) == 0 {
		return nil
	}
	terms := f.rarest[:0]
	for _, term := range of {
		if int(term) < len(f.having) && len(f.having[term]) > 0 {
			terms = append(terms, term)
		}
	}
	f.rarest = terms
	slices.SortStableFunc(terms, func(a, b int32) int {
		return cmp.Compare(len(f.having[a]), len(f.having[b]))
	})
	f.shared = append(f.shared, make([]uint8, len(f.list)-len(f.shared))...)
	met := f.met[:0]
	for _, term := range terms[:min(memory.MaxQuery, len(terms))] {
		at := f.having[term]
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
	f.met = met
	out := make([]*known, len(best))
	for i, n := range best {
		out[i] = f.list[n]
	}
	for _, n := range met {
		f.shared[n] = 0
	}
	return out
}
