package stage

import (
	"cmp"
	"context"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/retrieve"
)

// expand rescores all candidates by what is linked to them, and adds new ones: clause 10.
func (r *run) expand(ctx context.Context) error {
	if !r.expands() {
		return nil
	}
	r.toShares()
	slices.SortFunc(r.found, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.tier, a.tier), cmp.Compare(b.share, a.share), a.id.Compare(b.id))
	})
	sources := r.found[:min(maxSources, len(r.found))]
	switch r.req.Expansion {
	case retrieve.Decay:
		return r.decay(ctx, sources)
	case retrieve.PPR:
		return r.pagerank(ctx, sources)
	}
	return r.lend(ctx, sources)
}

// expansionWarnings returns what the answer must say of its expansion. Nobody asked for what
// happens by default, so that nothing is said where that found nothing to do.
func (r *run) expansionWarnings() []retrieve.Warning {
	var out []retrieve.Warning
	if r.silent > 0 {
		out = append(out, warning(retrieve.ExpansionTruncated, paramSources, r.silent))
	}
	if r.cut > 0 {
		out = append(out, warning(retrieve.LinksCut, paramNodes, r.cut))
	}
	asked := r.req.Expansion != retrieve.Lend || len(r.req.ExpandTypes) > 0
	if asked && *r.req.Expand > 0 && !r.linked && len(r.found) > 0 {
		out = append(out, retrieve.Warning{Code: retrieve.NothingLinked})
	}
	return out
}

// reached is what one node was given, and by which way.
type reached struct {
	id   graph.ID
	gain int64 // more than 0
	way  func() *retrieve.Reach
}

// joinReached adds what was given to the scores of the candidates, and the best of the other nodes
// to them. got has no node twice; its order is no matter.
func (r *run) joinReached(got []reached) {
	byID := make(map[graph.ID]*candidate, len(r.found))
	for _, c := range r.found {
		byID[c.id] = c
	}
	slices.SortFunc(got, func(a, b reached) int {
		return cmp.Or(cmp.Compare(b.gain, a.gain), a.id.Compare(b.id))
	})
	room := *r.req.MaxExpand
	for _, g := range got {
		c := byID[g.id]
		if c == nil {
			if room == 0 {
				continue
			}
			room--
			c = &candidate{id: g.id}
			r.found = append(r.found, c)
		}
		c.gain, c.reach = g.gain, g.way()
		c.lanes = append(c.lanes, retrieve.LaneHit{Lane: retrieve.LaneExpand, Score: g.gain})
		if !byRanks(r.req.Fusion) {
			c.score += g.gain
		}
	}
	r.rankExpanded()
}
