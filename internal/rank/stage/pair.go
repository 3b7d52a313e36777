package stage

import (
	"context"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/retrieve"
)

// pair lets the node that contradicts the last packed item follow it, and the one that contradicts that, until the
// answer is full or there is none left: clause 11.8. A reader of one of two memories that cannot both hold must see the
// other. Only nodes that pass the filters follow, once in an answer.
func (p *packer) pair(ctx context.Context) error {
	defer func() { p.facing, p.faced, p.beside = graph.ID{}, graph.ID{}, graph.ID{} }()
	for !p.facing.IsZero() && !p.full() {
		id := p.facing
		p.facing = graph.ID{}
		ok, err := p.mayFollow(ctx, id)
		if err != nil || !ok {
			return err
		}
		if p.paired == nil {
			p.paired = make(map[graph.ID]bool)
		}
		p.paired[id] = true
		p.beside = p.faced
		if err := p.take(ctx, p.candidate(id)); err != nil {
			return err
		}
	}
	return nil
}

// mayFollow reports whether a node that contradicts an item is there, was not examined yet, and
// passes the filters.
func (p *packer) mayFollow(ctx context.Context, id graph.ID) (bool, error) {
	its := func(it retrieve.Item) bool { return it.ID == id }
	dropped := func(d retrieve.DroppedItem) bool { return d.ID == id }
	if slices.ContainsFunc(p.answer.Items, its) ||
		slices.ContainsFunc(p.answer.DroppedItems, dropped) {
		return false, nil
	}
	return p.there(ctx, id)
}

// candidate returns the candidate for a node, or a new one without a score if nothing found it.
func (p *packer) candidate(id graph.ID) *candidate {
	i := slices.IndexFunc(p.found, func(c *candidate) bool { return c.id == id })
	if i >= 0 {
		return p.found[i]
	}
	p.answer.Candidates++
	return &candidate{id: id}
}
