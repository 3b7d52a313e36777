package source

import (
	"context"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/retrieve"
)

// Filter decides which nodes pass and which marks hide: clause 8.3. It is made once for a request.
type Filter struct {
	g      Graph
	req    *retrieve.Request
	byNode bool                  // whether anything but the mark decides
	timed  bool                  // whether times do
	Erased int                   // nodes of the graph that were erased
	bare   bool                  // whether nothing has a mark
	out    map[graph.ID]struct{} // excluded nodes, nil for none
	Seen   FilterCounts          // counts of the lanes' checks
	// Replaced has lanes see superseded nodes too, and collects their marks; nil for nothing.
	Replaced map[graph.ID]*graph.Mark
}

// FilterCounts is how many documents were asked about.
type FilterCounts struct {
	Passed int
	Left   LeftOut
}

func NewFilter(g Graph, req *retrieve.Request) *Filter {
	f := &Filter{g: g, req: req}
	if e, ok := g.(Erased); ok {
		f.Erased = e.ErasedNodes()
	}
	if u, ok := g.(Unmarked); ok {
		f.bare = u.Unmarked()
	}
	if len(req.Exclude) > 0 {
		f.out = make(map[graph.ID]struct{}, len(req.Exclude))
		for _, id := range req.Exclude {
			f.out[id] = struct{}{}
		}
	}
	f.timed = req.ValidAt.Given || req.CreatedFrom.Given || req.CreatedTo.Given ||
		req.UpdatedFrom.Given || req.UpdatedTo.Given
	f.byNode = f.timed || len(req.Types) > 0 || len(req.Where) > 0
	return f
}

// Accept returns the filter in the form that an Index takes.
func (f *Filter) Accept(ctx context.Context) Accept {
	return func(d Document) (bool, error) {
		if f.out != nil && f.excluded(d.ID()) {
			f.Seen.Left.Exclude++
			return false, nil
		}
		ok, err := f.fits(ctx, d, &f.Seen.Left)
		if err != nil || !ok {
			return false, err
		}
		if f.bare {
			f.Seen.Passed++
			return true, nil
		}
		m, err := f.mark(ctx, graph.OnNode, d.ID())
		if err != nil {
			return false, err
		}
		hidden := f.hides(m)
		if hidden && f.Replaced != nil && m.State == graph.Superseded && !m.By.IsZero() {
			f.Replaced[m.ID] = m
			hidden = false
		}
		if hidden {
			f.Seen.Left.Marks++
		} else {
			f.Seen.Passed++
		}
		return !hidden, nil
	}
}

// Passes decides about the node with an id, reading it only if need be.
func (f *Filter) Passes(ctx context.Context, id graph.ID) (bool, error) {
	if f.excluded(id) {
		return false, nil
	}
	hidden, err := f.Hidden(ctx, graph.OnNode, id)
	if err != nil || hidden {
		return false, err
	}
	if f.Erased > 0 {
		gone, err := f.g.(Erased).IsErased(ctx, id)
		if err != nil || gone {
			return false, err
		}
	}
	if !f.byNode {
		return true, nil
	}
	n, _, err := f.g.Node(ctx, id)
	if err != nil {
		return false, fmt.Errorf("read node %s: %w", id, err)
	}
	return f.fits(ctx, NodeDocument(n), new(LeftOut))
}

// Hidden reports whether a mark hides a node or edge.
func (f *Filter) Hidden(ctx context.Context, on graph.Target, id graph.ID) (bool, error) {
	if f.bare {
		return false, nil
	}
	m, err := f.mark(ctx, on, id)
	return err == nil && f.hides(m), err
}

func (f *Filter) mark(ctx context.Context, on graph.Target, id graph.ID) (*graph.Mark, error) {
	m, err := f.g.Mark(ctx, on, id)
	if err != nil {
		return nil, fmt.Errorf("read mark on %s %s: %w", on, id, err)
	}
	return m, nil
}

// hides reports whether a mark, nil for none, hides its node or edge.
func (f *Filter) hides(m *graph.Mark) bool {
	return m != nil && m.State.Hides() && !slices.Contains(f.req.Marks, m.State)
}

func (f *Filter) excluded(id graph.ID) bool {
	_, ok := f.out[id]
	return ok
}

// fits checks everything but the mark, cheap conditions first, and counts what it leaves out.
func (f *Filter) fits(ctx context.Context, d Document, left *LeftOut) (bool, error) {
	if !f.byNode {
		return true, nil
	}
	if len(f.req.Types) > 0 && !slices.Contains(f.req.Types, d.Type()) {
		left.Types++
		return false, nil
	}
	if f.timed && !f.inTime(d.Times()) {
		left.Times++
		return false, nil
	}
	for _, p := range f.req.Where {
		ok, err := f.holds(ctx, p, d)
		if err != nil || !ok {
			left.Where++
			return false, err
		}
	}
	return true, nil
}

func (f *Filter) holds(ctx context.Context, p retrieve.Predicate, d Document) (bool, error) {
	if p.Edges != "" {
		n, err := f.CountEdges(ctx, d.ID(), p)
		return p.HoldsFor(n), err
	}
	v, ok, err := d.Prop(p.Name)
	if err != nil {
		return false, fmt.Errorf("read property %q of %s: %w", p.Name, d.ID(), err)
	}
	return p.Holds(v, ok), nil
}

func (f *Filter) inTime(t Times) bool {
	updated := t.Created
	if t.Updated.Given {
		updated = t.Updated.Time
	}
	if !within(t.Created, f.req.CreatedFrom, f.req.CreatedTo) ||
		!within(updated, f.req.UpdatedFrom, f.req.UpdatedTo) {
		return false
	}
	return !f.req.ValidAt.Given || within(f.req.ValidAt.Time, t.ValidFrom, t.ValidTo)
}

// within reports whether from <= t < to; an absent bound is open.
func within(t graph.Time, from, to graph.OptTime) bool {
	return (!from.Given || from.Time <= t) && (!to.Given || t < to.Time)
}

// EdgePage is how many edges are read at once to be counted.
const EdgePage = 256

// CountEdges returns how many edges a predicate on edges counts of a node, at most those that are
// enough: those that no mark hides, nor the node at their other end.
func (f *Filter) CountEdges(ctx context.Context, id graph.ID, p retrieve.Predicate) (n int, err error) {
	enough := p.Enough()
	q := BucketQuery{
		Node: id, Direction: p.Edges, Types: []string{p.Name}, Limit: EdgePage, Bare: true,
	}
	for {
		page, _, err := f.g.Bucket(ctx, q)
		if err != nil {
			return 0, fmt.Errorf("count edges of %s: %w", id, err)
		}
		for _, l := range page {
			hidden, err := f.HiddenLink(ctx, l)
			if err != nil {
				return 0, err
			}
			if hidden {
				continue
			}
			if n++; n == enough {
				return n, nil
			}
		}
		switch {
		case len(page) < q.Limit:
			return n, nil
		case q.Bare: // which tells no place to go on from
			n, q.Bare = 0, false
		default:
			q.After = &page[len(page)-1]
		}
	}
}

// HiddenLink reports whether a mark hides an edge or its other end.
func (f *Filter) HiddenLink(ctx context.Context, l Link) (bool, error) {
	hidden, err := f.Hidden(ctx, graph.OnNode, l.Other)
	if err != nil || hidden {
		return hidden, err
	}
	return f.HiddenEdge(ctx, l)
}

// HiddenEdge reports whether a mark hides an edge.
func (f *Filter) HiddenEdge(ctx context.Context, l Link) (bool, error) {
	if l.Unmarked {
		return false, nil
	}
	return f.Hidden(ctx, graph.OnEdge, l.Edge)
}

// LeftOut is how many nodes the filters left out, each by the first that did in this order.
type LeftOut struct {
	Exclude int `json:"exclude"`
	Types   int `json:"type"`
	Times   int `json:"time"`
	Where   int `json:"where"`
	Marks   int `json:"marks"`
}

// Sum returns how many there are.
func (l LeftOut) Sum() int { return l.Exclude + l.Types + l.Times + l.Where + l.Marks }

func (l LeftOut) Minus(o LeftOut) LeftOut {
	return LeftOut{l.Exclude - o.Exclude, l.Types - o.Types, l.Times - o.Times, l.Where - o.Where,
		l.Marks - o.Marks}
}
