package stage

import (
	"cmp"
	"context"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/retrieve"
)

// expander is the stage that raises what is linked to the candidates.
type expander struct {
	*pool
	terms  int  // of the text
	silent int  // sources that did not contribute for lack of room
	cut    int  // nodes not all of whose links were followed
	linked bool // whether expansion followed any link
}

// expand rescores all candidates by their links, and adds new ones: clause 10.
func (e *expander) expand(ctx context.Context) error {
	if !e.expands() {
		return nil
	}
	e.toShares()
	slices.SortFunc(e.found, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.tier, a.tier), cmp.Compare(b.share, a.share), a.id.Compare(b.id))
	})
	sources := e.found[:min(maxSources, len(e.found))]
	switch e.req.Expansion {
	case retrieve.Decay:
		return e.decay(ctx, sources)
	case retrieve.PPR:
		return e.pagerank(ctx, sources)
	}
	return e.lend(ctx, sources)
}

// expansionWarnings returns the warnings about expansion. An expansion that the request did not ask for causes none if
// it found nothing to do.
func (e *expander) expansionWarnings() []retrieve.Warning {
	var out []retrieve.Warning
	if e.silent > 0 {
		out = append(out, warning(retrieve.ExpansionTruncated, paramSources, e.silent))
	}
	if e.cut > 0 {
		out = append(out, warning(retrieve.LinksCut, paramNodes, e.cut))
	}
	asked := e.req.Expansion != retrieve.Lend || len(e.req.ExpandTypes) > 0
	if asked && *e.req.Expand > 0 && !e.linked && len(e.found) > 0 {
		out = append(out, retrieve.Warning{Code: retrieve.NothingLinked})
	}
	return out
}

// reached is a node's gain from expansion, with its path.
type reached struct {
	id   graph.ID
	gain int64 // more than 0
	way  func() *retrieve.Reach
}

// joinReached adds gains to the scores of the candidates, and adds the best of the other nodes. got has no node twice;
// its order does not matter.
func (e *expander) joinReached(got []reached) {
	byID := make(map[graph.ID]*candidate, len(e.found))
	for _, c := range e.found {
		byID[c.id] = c
	}
	slices.SortFunc(got, func(a, b reached) int {
		return cmp.Or(cmp.Compare(b.gain, a.gain), a.id.Compare(b.id))
	})
	room := *e.req.MaxExpand
	for _, g := range got {
		c := byID[g.id]
		if c == nil {
			if room == 0 {
				continue
			}
			room--
			c = &candidate{id: g.id}
			e.found = append(e.found, c)
		}
		c.gain, c.reach = g.gain, g.way()
		c.lanes = append(c.lanes, retrieve.LaneHit{Lane: retrieve.LaneExpand, Score: g.gain})
		if !byRanks(e.req.Fusion) {
			c.score += g.gain
		}
	}
	e.rankExpanded()
}
