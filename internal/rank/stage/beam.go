package stage

import (
	"cmp"
	"context"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// beamNode is a node that the beam search has reached, and how.
type beamNode struct {
	id    graph.ID
	value int64 // in units of 2^-16, 1 to 65,536
	seed  graph.ID
	from  *beamNode // nil for an anchor
	by    retrieve.Step
	hops  int
}

func (b *beamNode) way() *retrieve.Reach {
	r := &retrieve.Reach{Seed: b.seed, Hops: b.hops, Path: make([]retrieve.Step, b.hops)}
	for ; b.from != nil; b = b.from {
		r.Path[b.hops-1] = b.by
	}
	return r
}

// arrival is the best way to a node in one round.
type arrival struct {
	id     graph.ID
	from   *beamNode
	by     retrieve.Step
	bound  int64 // of its value, which the number of the node's edges may lessen
	anchor bool
}

// beam searches for nodes along edges, from anchors outwards: clause 26.3.
type beam struct {
	*spreader
	plan    *intentPlan
	anchors map[graph.ID]int64 // what they began with
	seen    map[graph.ID]bool
	visited int // nodes looked at
	reached map[graph.ID]*beamNode
}

// beamFrom searches from anchors, each with a value of 0 to 65,536.
func (r *recaller) beamFrom(ctx context.Context, plan *intentPlan, layer []*beamNode) (*beam, error) {
	b := &beam{
		spreader: r.newSpreader(), plan: plan,
		anchors: map[graph.ID]int64{}, seen: map[graph.ID]bool{},
		reached: map[graph.ID]*beamNode{},
	}
	for _, a := range layer {
		b.anchors[a.id] = a.value
	}
	for hop := 1; hop <= plan.depth && len(layer) > 0; hop++ {
		next, err := b.step(ctx, layer, hop)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(next, func(a, b *beamNode) int {
			return cmp.Or(cmp.Compare(b.value, a.value), a.id.Compare(b.id))
		})
		layer = next[:min(len(next), plan.width)]
	}
	return b, nil
}

// step looks at the nodes that a layer is linked to, those that may get the most first, and returns
// those from which it goes on: what it reaches for the first time, and anchors that are reached with
// more than they began with. No way returns to where it began.
func (b *beam) step(ctx context.Context, layer []*beamNode, hop int) ([]*beamNode, error) {
	list, err := b.arrivals(ctx, layer)
	if err != nil {
		return nil, err
	}
	var next []*beamNode
	for _, a := range list {
		if !a.anchor {
			if b.visited == b.plan.visited {
				continue
			}
			b.visited++
			b.seen[a.id] = true
		}
		v := b.node(a.id)
		if ok, err := b.passing(ctx, v); err != nil {
			return nil, err
		} else if !ok {
			continue
		}
		damping, err := b.damp(ctx, v, a.by.Forward)
		if err != nil {
			return nil, err
		}
		n := &beamNode{
			id: a.id, value: a.bound * damping >> fixed.FracBits,
			seed: a.from.seed, from: a.from, by: a.by, hops: hop,
		}
		old := b.reached[a.id]
		if n.value == 0 || old != nil && old.value >= n.value {
			continue
		}
		b.reached[a.id] = n
		if n.value > b.anchors[a.id] { // which is 0 for all others
			next = append(next, n)
		}
	}
	return next, nil
}

// arrivals returns the nodes that a layer is linked to and that were not looked at, each once by
// what may give it the most, first by that. Of equal ways the one from the earlier node of the
// layer counts, along what comes first in the bucket, out before in.
func (b *beam) arrivals(ctx context.Context, layer []*beamNode) ([]*arrival, error) {
	byID := map[graph.ID]*arrival{}
	var list []*arrival
	for _, u := range layer {
		links, err := b.edges(ctx, u.id)
		if err != nil {
			return nil, err
		}
		for _, l := range links {
			if l.Other == u.id || l.Other == u.seed || b.seen[l.Other] {
				continue
			}
			bound := b.bound(u, l.Link)
			a := byID[l.Other]
			if bound == 0 || a != nil && a.bound >= bound {
				continue
			}
			if hidden, err := b.r.filter.HiddenEdge(ctx, l.Link); err != nil {
				return nil, err
			} else if hidden {
				continue
			}
			if a == nil {
				_, anchor := b.anchors[l.Other]
				a = &arrival{id: l.Other, anchor: anchor}
				byID[l.Other] = a
				list = append(list, a)
			}
			a.from, a.by, a.bound = u, retrieve.Step{Node: l.Other, Type: l.Type, Forward: l.out}, bound
		}
	}
	slices.SortFunc(list, func(a, b *arrival) int {
		return cmp.Or(cmp.Compare(b.bound, a.bound), a.id.Compare(b.id))
	})
	return list, nil
}

// bound returns what u gives along an edge before damping. No way gains.
func (b *beam) bound(u *beamNode, l source.Link) int64 {
	weight := min(b.r.edgeWeight(l), fixed.One)
	return (u.value * b.plan.keeps(l.Type) >> fixed.FracBits) * weight >> fixed.FracBits
}
