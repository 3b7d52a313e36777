package stage

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/intent"
	"github.com/mnem-project/mnem/internal/rank/source"
)

// Constants of neighbours in ranking version 2: clause 26.8.
const (
	neighbourTime = 7 * 24 * 3600 * 1_000_000 // microseconds within which there is one
	neighbourRead = 32                        // nodes that are read to find one that is not only a name
	restates      = fixed.One / 2             // strength from which a memory repeats the question
)

// addNeighbours puts the memories written right before and right after the best candidate behind it, the nearer first,
// if a recall asks for a reason: people often tell a cause right before or after its effect, in other words.
func (r *recaller) addNeighbours(ctx context.Context) error {
	if !r.row.neighbours || r.blank() || r.dated.alone {
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
	var apart []int64 // neighbourTime for none
	for _, sign := range []int64{-1, 1} {
		c, at, err := r.neighbour(ctx, seed, int64(times[0].Created), sign)
		if err != nil {
			return err
		}
		apart = append(apart, at)
		if c != nil {
			near = append(near, c)
		}
	}
	if clearlyLess(apart[1], apart[0]) {
		slices.Reverse(near)
		slices.Reverse(apart)
	}
	if len(near) > 0 {
		near[0].nearer = clearlyLess(apart[0], apart[1])
	}
	best := slices.Index(r.found, seed)
	rest := slices.DeleteFunc(slices.Clone(r.found[best+1:]), func(c *candidate) bool { return slices.Contains(near, c) })
	r.found = slices.Concat(r.found[:best+1], near, rest)
	return nil
}

// neighbour returns the candidate that was written nearest to another one, before it where sign is -1 and
// after it where sign is 1, and how far apart they are; nil and neighbourTime for none.
func (r *recaller) neighbour(ctx context.Context, seed *candidate, at, sign int64) (*candidate, int64, error) {
	hits, err := r.x.ByTime(ctx, func(t source.Times) int64 {
		apart := (int64(t.Created) - at) * sign
		if apart <= 0 || apart > neighbourTime {
			return 0
		}
		return math.MaxInt64 - apart
	}, r.filter.Accept(ctx), neighbourRead)
	if err != nil {
		return nil, 0, fmt.Errorf("find memories written next to %s: %w", seed.id, err)
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
		return nil, neighbourTime, err
	}
	items[0].beside = seed
	for _, h := range hits {
		if h.ID == items[0].id {
			return items[0], math.MaxInt64 - h.Score, nil
		}
	}
	return items[0], neighbourTime, nil
}

// clearlyLess reports whether one distance in time is at most three quarters of another.
func clearlyLess(one, other int64) bool { return one <= other/4*3 }

// reasonFirst moves the neighbour of the best candidate before it, if the two were written clearly nearer to each other
// than to the other neighbour, and the best one matches the question but gives no reason. In a conversation each turn
// has neighbours, so nearness alone means nothing.
func (e *examiner) reasonFirst(ctx context.Context, list []held) error {
	for i := 1; i < len(list); i++ {
		best, near := list[i-1], list[i]
		if near.beside != best.candidate || !near.nearer || best.said || best.tier != tierNone || best.strength() < restates {
			continue
		}
		n, _, err := e.g.Node(ctx, best.id)
		if err != nil {
			return fmt.Errorf("read node %s: %w", best.id, err)
		}
		if !intent.Explains(n.Summary) {
			list[i-1], list[i] = near, best
		}
		break
	}
	return nil
}
