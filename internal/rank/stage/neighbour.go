package stage

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// Constants of neighbours in ranking version 2: clause 26.8.
const (
	neighbourTime = 7 * 24 * 3600 * 1_000_000 // microseconds within which there is one
	neighbourRead = 32                        // nodes that are read to find one that is not only a name
)

// addNeighbours puts what was written right before and right after the best candidate behind it, where a
// recall asks for a reason: a cause is often told before its effect, by itself and in other words.
func (r *run) addNeighbours(ctx context.Context) error {
	if !r.row.neighbours || r.req.Intent != retrieve.IntentWhy || r.blank() || r.dated.alone {
		return nil
	}
	items, err := r.items(ctx, r.found[:min(maxBanded, len(r.found))])
	if err != nil || len(items) == 0 {
		return err
	}
	seed := items[0]
	times, ok, err := r.x.Times(ctx, []graph.ID{seed.id})
	if err != nil || !ok[0] {
		return err
	}
	var near []*candidate
	for _, sign := range []int64{-1, 1} {
		c, err := r.neighbour(ctx, seed, int64(times[0].Created), sign)
		if err != nil {
			return err
		}
		if c != nil {
			near = append(near, c)
		}
	}
	best := slices.Index(r.found, seed)
	rest := slices.DeleteFunc(slices.Clone(r.found[best+1:]), func(c *candidate) bool { return slices.Contains(near, c) })
	r.found = slices.Concat(r.found[:best+1], near, rest)
	return nil
}

// neighbour returns the candidate that was written nearest to another one, before it where sign is -1 and
// after it where sign is 1; nil for none.
func (r *run) neighbour(
	ctx context.Context, seed *candidate, at, sign int64,
) (*candidate, error) {
	hits, err := r.x.ByTime(ctx, func(t source.Times) int64 {
		apart := (int64(t.Created) - at) * sign
		if apart <= 0 || apart > neighbourTime {
			return 0
		}
		return math.MaxInt64 - apart
	}, r.filter.Accept(ctx), neighbourRead)
	if err != nil {
		return nil, fmt.Errorf("find what was written beside %s: %w", seed.id, err)
	}
	near := make([]*candidate, len(hits))
	for n, h := range ranked(hits) {
		near[n] = &candidate{id: h.ID, recalled: new(recalled)}
		if i := slices.IndexFunc(r.found, func(c *candidate) bool { return c.id == h.ID }); i >= 0 {
			near[n] = r.found[i]
		}
	}
	items, err := r.items(ctx, near)
	if err != nil || len(items) == 0 {
		return nil, err
	}
	items[0].beside = seed
	return items[0], nil
}
