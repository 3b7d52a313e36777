package stage

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/dates"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/intent"
	"github.com/mnem-project/mnem/retrieve"
)

// Constants of replaced memories: clause 11.12.
const (
	maxReplaced = 50 // superseded candidates examined, the best first
	maxChain    = 32 // superseded marks followed to reach the current memory
	maxBehind   = 3  // replaced memories that follow one item
)

type replaced struct {
	mark  *graph.Mark
	by    graph.ID // the current memory, at the end of the chain
	asked bool     // whether the text asks about the time before it was replaced
}

// showsReplaced reports whether the lanes let superseded nodes through, to be shown behind what superseded them.
func showsReplaced(row *ranking, req *retrieve.Request, alone bool) bool {
	return row.bands && !req.Current && !asksNothing(*req) && !alone &&
		!slices.Contains(req.Marks, graph.Superseded)
}

// setAside removes superseded nodes from the candidates. The current memory of each takes the higher of both scores.
// If the question asks about the past, the superseded nodes stay candidates.
func (p *pool) setAside(ctx context.Context) error {
	if len(p.filter.Replaced) == 0 {
		return nil
	}
	live, byID := p.found[:0], make(map[graph.ID]*candidate, len(p.found))
	var old []*candidate
	for _, c := range p.found {
		if p.filter.Replaced[c.id] != nil {
			old = append(old, c)
			continue
		}
		live, byID[c.id] = append(live, c), c
	}
	slices.SortFunc(old, byRank)
	for _, c := range old[:min(maxReplaced, len(old))] {
		by, err := p.successor(ctx, p.filter.Replaced[c.id])
		if err != nil {
			return err
		}
		if by.IsZero() {
			continue
		}
		c.replaced = &replaced{mark: p.filter.Replaced[c.id], by: by}
		if c.replaced.asked, err = p.asksOf(ctx, c); err != nil {
			return err
		}
		next := byID[by]
		if next == nil {
			next = &candidate{id: by, heir: &retrieve.Reach{Seed: c.id, Hops: 1, Path: []retrieve.Step{{
				Node: by, Type: string(graph.Superseded), Forward: true,
			}}}}
			live, byID[by] = append(live, next), next
		}
		if next.tier == tierNone {
			next.score, next.share = max(next.score, c.score), max(next.share, c.share)
		}
		if c.replaced.asked {
			live = append(live, c)
		} else {
			p.behind = append(p.behind, c)
		}
	}
	p.found = live
	return nil
}

// successor returns the current memory of a superseded node, zero if it does not pass the filters.
func (r *request) successor(ctx context.Context, m *graph.Mark) (graph.ID, error) {
	id := m.By
	for range maxChain {
		next, err := r.g.Mark(ctx, graph.OnNode, id)
		if err != nil {
			return graph.ID{}, fmt.Errorf("read mark on node %s: %w", id, err)
		}
		if next == nil || next.State != graph.Superseded {
			ok, err := r.there(ctx, id)
			if !ok {
				id = graph.ID{}
			}
			return id, err
		}
		id = next.By
	}
	return graph.ID{}, nil
}

// judgeBehind keeps the replaced memories that are strong enough to be items.
func (e *examiner) judgeBehind(ctx context.Context, v *judged) error {
	list, err := e.hold(ctx, e.behind)
	if err != nil {
		return err
	}
	least := v.strongest() * e.row.ofBest >> fixed.FracBits
	e.behind = e.behind[:0]
	for _, h := range list {
		if h.strength() >= least {
			e.behind = append(e.behind, h.candidate)
		}
	}
	return nil
}

// follow packs the memories that the n-th item replaced after it, the last replaced first.
func (p *packer) follow(ctx context.Context, at int) error {
	if at == len(p.answer.Items) {
		return nil
	}
	item := p.answer.Items[at]
	var list []*candidate
	for _, c := range p.behind {
		if c.replaced.by == item.ID {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.replaced.mark.Time, a.replaced.mark.Time), a.id.Compare(b.id))
	})
	for _, c := range list[:min(maxBehind, len(list))] {
		if p.full() {
			break
		}
		c.band = item.Band
		p.answer.Candidates++
		if err := p.take(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// inTime sorts replaced memories and their current memory by time, next to each other, if the question asks about the
// past.
func (p *packer) inTime(ctx context.Context, list []*candidate) ([]*candidate, error) {
	chains := make(map[graph.ID][]*candidate)
	created := make(map[graph.ID]graph.Time)
	for _, c := range list {
		if c.replaced == nil {
			continue
		}
		chains[c.replaced.by] = append(chains[c.replaced.by], c)
	}
	if len(chains) == 0 {
		return list, nil
	}
	for _, c := range list {
		if chain, ok := chains[c.id]; ok {
			chains[c.id] = append(chain, c)
		}
	}
	for _, chain := range chains {
		for _, c := range chain {
			n, _, err := p.g.Node(ctx, c.id)
			if err != nil {
				return nil, fmt.Errorf("read node %s: %w", c.id, err)
			}
			created[c.id] = n.Created
		}
		slices.SortFunc(chain, func(a, b *candidate) int {
			return cmp.Or(cmp.Compare(created[a.id], created[b.id]), a.id.Compare(b.id))
		})
	}
	out := make([]*candidate, 0, len(list))
	for _, c := range list {
		chain := chains[c.chain()]
		if chain == nil {
			out = append(out, c)
		} else if !slices.Contains(out, c) {
			out = append(out, chain...)
		}
	}
	return out, nil
}

func (c *candidate) chain() graph.ID {
	if c.replaced != nil {
		return c.replaced.by
	}
	return c.id
}

func asksPast(req *retrieve.Request) bool {
	return slices.ContainsFunc(append([]string{req.Text}, req.Rewrites...), intent.Past)
}

// asksOf reports whether the text asks about the past, or names a time before a memory was replaced.
func (r *request) asksOf(ctx context.Context, c *candidate) (bool, error) {
	if r.past || len(r.dated.Ranges) == 0 {
		return r.past, nil
	}
	n, _, err := r.g.Node(ctx, c.id)
	if err != nil {
		return false, fmt.Errorf("read node %s: %w", c.id, err)
	}
	return slices.ContainsFunc(r.dated.Ranges, func(d dates.Range) bool {
		return d.From < int64(c.replaced.mark.Time) && d.To > int64(n.Created)
	}), nil
}

// replacement returns by what, when and by whom an item was replaced, nil if it was not.
func replacement(m *graph.Mark) *retrieve.Replacement {
	if m == nil || m.State != graph.Superseded || m.By.IsZero() {
		return nil
	}
	return &retrieve.Replacement{By: m.By, Time: m.Time, Actor: m.Actor}
}
