package stage

import (
	"github.com/mnem-project/mnem/internal/base/fixed"
)

// Marginal returns which of some texts come first by maximal marginal relevance, at most most, by
// their places in the list: those of first in their order, then each time the one with the greatest
//
//	lambda · relevance − (65,536 − lambda) · nearest
//
// of several the first in the list: clause 11.3. relevance and lambda are in units of 2^-16, terms
// the numbers of a text's distinct terms, ascending, and nearest the greatest similarity (clause
// 11.2) to one that comes before.
func Marginal(relevance []int64, terms [][]uint32, first []int, lambda int64, most int) []int {
	out := make([]int, 0, len(relevance))
	nearest := make([]int64, len(relevance))
	done := make([]bool, len(relevance))
	pick := func(at int) {
		out = append(out, at)
		done[at] = true
		for i := range relevance {
			if !done[i] {
				nearest[i] = max(nearest[i], similarity(terms[i], terms[at]))
			}
		}
	}
	for _, at := range first {
		pick(at)
	}
	for len(out) < min(most, len(relevance)) {
		best, value := -1, int64(0)
		for i := range relevance {
			if done[i] {
				continue
			}
			v := lambda*relevance[i] - (fixed.One-lambda)*nearest[i]
			if best < 0 || v > value {
				best, value = i, v
			}
		}
		pick(best)
	}
	return out
}
