package retrieve

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/fixed"
)

// Constants of expansion in ranking version 1: clauses 8.1 and 10.
const (
	maxSeeds    = 20
	decay       = 45_875 // 0.7 in Q16
	maxJoining  = 20
	maxFanOut   = 256
	maxFrontier = 5000
)

// maxRemembered bounds the memory of an expansion: so many decisions about nodes, and so many
// links, are kept for the next seed.
const maxRemembered = 1 << 17

// expander walks from seeds over edges. What it remembers is only there for speed.
type expander struct {
	g       Graph
	filter  *filter
	types   []string
	dirs    []Direction
	passing map[graph.ID]bool
	buckets map[graph.ID][]Link
	kept    int // links in buckets
}

// arrival is the best path to a node.
type arrival struct {
	gain  int64
	reach Reach
}

// expand scores all candidates anew by what is linked to them, and adds new ones: clause 10. It
// returns the number of seeds whose expansion was cut short.
func (r *run) expand(ctx context.Context) (truncated int, err error) {
	if *r.req.Expand == 0 || trimBlank(r.req.Text) == "" {
		return 0, nil
	}
	r.toConvex()
	slices.SortFunc(r.found, byRank)
	e := &expander{
		g: r.g, filter: r.filter, types: r.req.ExpandTypes, dirs: directions(r.req.Direction),
		passing: map[graph.ID]bool{}, buckets: map[graph.ID][]Link{},
	}
	best := map[graph.ID]arrival{}
	for _, seed := range r.found[:min(maxSeeds, len(r.found))] {
		full, err := e.from(ctx, seed.id, seed.score, *r.req.Expand, best)
		if err != nil {
			return 0, fmt.Errorf("expand from %s: %w", seed.id, err)
		}
		if !full {
			truncated++
		}
	}
	r.join(best)
	return truncated, nil
}

// toConvex replaces the scores by shares of the best one. Named nodes count as the best.
func (r *run) toConvex() {
	var top int64
	for _, c := range r.found {
		top = max(top, c.lane)
	}
	for _, c := range r.found {
		switch {
		case c.tier != tierNone:
			c.score = fixed.One
		case top > 0:
			c.score = int64(fixed.MulDivSat(uint64(max(c.lane, 0)), fixed.One, uint64(top)))
		}
	}
}

func directions(d Direction) []Direction {
	if d == Both {
		return []Direction{Out, In}
	}
	return []Direction{d}
}

// from walks from one seed, layer by layer, and raises best where it finds a better path. full is
// false where the layers outgrew the frontier.
func (e *expander) from(
	ctx context.Context, seed graph.ID, gain int64, hops int, best map[graph.ID]arrival,
) (full bool, err error) {
	seen := map[graph.ID]bool{seed: true}
	layer := map[graph.ID]int64{seed: gain}
	for hop := 1; hop <= hops && len(layer) > 0; hop++ {
		next := map[graph.ID]int64{}
		for id, gain := range layer {
			if err := e.step(ctx, id, gain, seen, next); err != nil {
				return false, err
			}
			if len(seen)+len(next) > maxFrontier {
				return false, nil
			}
		}
		for id, gain := range next {
			seen[id] = true
			if gain > best[id].gain {
				best[id] = arrival{gain, Reach{Seed: seed, Hops: hop}}
			}
		}
		layer = next
	}
	return true, nil
}

// step adds what is linked to one node of a layer to the next layer, unless it was seen before.
func (e *expander) step(
	ctx context.Context, id graph.ID, gain int64, seen map[graph.ID]bool, next map[graph.ID]int64,
) error {
	links, err := e.links(ctx, id)
	if err != nil {
		return err
	}
	for _, l := range links {
		g := (gain * decay >> fixed.FracBits) * l.Weight >> fixed.FracBits
		if old, ok := next[l.Other]; seen[l.Other] || ok && old >= g {
			continue
		}
		follow, err := e.follows(ctx, l)
		if err != nil {
			return err
		}
		if follow {
			next[l.Other] = g
		}
	}
	return nil
}

// follows decides whether an edge and its other end are visible.
func (e *expander) follows(ctx context.Context, l Link) (bool, error) {
	ok, known := e.passing[l.Other]
	if !known {
		var err error
		if ok, err = e.filter.passes(ctx, l.Other); err != nil {
			return false, err
		}
		if len(e.passing) >= maxRemembered {
			clear(e.passing)
		}
		e.passing[l.Other] = ok
	}
	if !ok {
		return false, nil
	}
	hidden, err := e.filter.hidden(ctx, graph.OnEdge, l.Edge)
	return !hidden, err
}

// links returns the entries of a node's buckets that may be followed.
func (e *expander) links(ctx context.Context, id graph.ID) ([]Link, error) {
	if links, ok := e.buckets[id]; ok {
		return links, nil
	}
	var all []Link
	for _, dir := range e.dirs {
		q := BucketQuery{Node: id, Direction: dir, Types: e.types, Limit: maxFanOut}
		links, _, err := e.g.Bucket(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("read edges of %s: %w", id, err)
		}
		all = append(all, links...)
	}
	if e.kept += len(all) + 1; e.kept > maxRemembered {
		clear(e.buckets)
		e.kept = len(all) + 1
	}
	e.buckets[id] = all
	return all, nil
}

// join adds the gains of expansion to the candidates, and the best of the new nodes to them.
func (r *run) join(best map[graph.ID]arrival) {
	for _, c := range r.found {
		if a, ok := best[c.id]; ok {
			c.score += a.gain
			c.reach = new(a.reach) // not &a.reach, which would put every a on the heap
			c.lanes = append(c.lanes, LaneHit{Lane: LaneExpand, Score: a.gain})
			delete(best, c.id)
		}
	}
	joining := make([]*candidate, 0, len(best))
	for id, a := range best {
		joining = append(joining, &candidate{
			id: id, score: a.gain, reach: new(a.reach),
			lanes: []LaneHit{{Lane: LaneExpand, Score: a.gain}},
		})
	}
	slices.SortFunc(joining, byRank)
	r.found = append(r.found, joining[:min(maxJoining, len(joining))]...)
	r.rankExpanded()
}

// rankExpanded fills in the ranks of the expansion's list.
func (r *run) rankExpanded() {
	var list []*candidate
	for _, c := range r.found {
		if c.reach != nil {
			list = append(list, c)
		}
	}
	last := func(c *candidate) *LaneHit { return &c.lanes[len(c.lanes)-1] }
	slices.SortFunc(list, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(last(b).Score, last(a).Score), a.id.Compare(b.id))
	})
	for i, c := range list {
		last(c).Rank = i + 1
	}
}
