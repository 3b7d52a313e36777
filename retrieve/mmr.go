package retrieve

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/internal/fixed"
)

// maxDiversified is the number of candidates that diversification looks at.
const maxDiversified = 100

// diversify puts the first candidates, which are in order, into the order of clause 11.4: each is
// the one that is best in relevance less its likeness to those before it.
func (r *run) diversify(ctx context.Context) error {
	if r.req.MMR == nil {
		return nil
	}
	window := r.found[:min(maxDiversified, len(r.found))]
	terms := make([][]uint32, len(window))
	for i, c := range window {
		n, _, err := r.g.Node(ctx, c.id)
		if err != nil {
			return fmt.Errorf("read node %s: %w", c.id, err)
		}
		p, err := r.features(ctx, n, nil)
		if err != nil {
			return err
		}
		terms[i] = p.terms
	}
	picked := marginal(window, terms, int64(*r.req.MMR))
	copy(window, picked)
	return nil
}

// marginal returns candidates, which are in order, by maximal marginal relevance. Those of tier 1
// and 2 stay in front.
func marginal(list []*candidate, terms [][]uint32, lambda int64) []*candidate {
	top := int64(0) // the score that is relevance 1
	for _, c := range list {
		if c.tier == tierNone {
			top = max(top, c.score)
		}
	}
	relevance := func(c *candidate) int64 {
		if top == 0 {
			return 0
		}
		return int64(fixed.MulDivSat(uint64(c.score), fixed.One, uint64(top)))
	}
	shares := make([]int64, len(list))
	var first []int
	for i, c := range list {
		shares[i] = relevance(c)
		if c.tier != tierNone {
			first = append(first, i)
		}
	}
	out := make([]*candidate, len(list))
	for i, at := range Marginal(shares, terms, first, lambda, len(list)) {
		out[i] = list[at]
	}
	return out
}

// Marginal returns which of some texts come first by maximal marginal relevance, at most most, by
// their places in the list: those of first in their order, then each time the one with the greatest
//
//	lambda · relevance − (65,536 − lambda) · nearest
//
// of several the first in the list: clause 11.4. relevance and lambda are in units of 2^-16, terms
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
