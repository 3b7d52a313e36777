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
	out := make([]*candidate, 0, len(list))
	nearest := make([]int64, len(list)) // the greatest similarity to one in out
	done := make([]bool, len(list))
	pick := func(at int) {
		out = append(out, list[at])
		done[at] = true
		for i := range list {
			if !done[i] {
				nearest[i] = max(nearest[i], similarity(terms[i], terms[at]))
			}
		}
	}
	for at, c := range list {
		if c.tier != tierNone {
			pick(at)
		}
	}
	for len(out) < len(list) {
		best, value := -1, int64(0)
		for i, c := range list {
			if done[i] {
				continue
			}
			v := lambda*relevance(c) - (fixed.One-lambda)*nearest[i]
			if best < 0 || v > value {
				best, value = i, v
			}
		}
		pick(best)
	}
	return out
}
