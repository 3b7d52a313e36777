package retrieve

import (
	"context"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
)

// Hidden reports whether nodes and edges in a state are left out unless a request lets the state
// through: forgotten, superseded, expired and retired ones. What is stale or contradicted is shown,
// with its state.
func Hidden(s graph.State) bool {
	switch s {
	case graph.Forgotten, graph.Superseded, graph.Expired, graph.Retired:
		return true
	}
	return false
}

// filter decides which nodes pass and which marks hide: clause 8.3. It is made once for a request.
type filter struct {
	g      Graph
	req    *Request
	byNode bool                  // whether anything but the mark decides
	timed  bool                  // whether times do
	erased int                   // nodes of the graph that were erased
	bare   bool                  // whether nothing has a mark
	out    map[graph.ID]struct{} // excluded nodes, nil for none
	seen   filterCounts          // what lanes asked about
}

// filterCounts is how many documents were asked about.
type filterCounts struct {
	passed int
	left   LeftOut
}

func newFilter(g Graph, req *Request) *filter {
	f := &filter{g: g, req: req}
	if e, ok := g.(Erased); ok {
		f.erased = e.ErasedNodes()
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

// accept returns the filter in the form that an Index takes.
func (f *filter) accept(ctx context.Context) Accept {
	return func(d Document) (bool, error) {
		if f.out != nil && f.excluded(d.ID()) {
			f.seen.left.Exclude++
			return false, nil
		}
		ok, err := f.fits(ctx, d, &f.seen.left)
		if err != nil || !ok {
			return false, err
		}
		if f.bare {
			f.seen.passed++
			return true, nil
		}
		hidden, err := f.hidden(ctx, graph.OnNode, d.ID())
		if hidden {
			f.seen.left.Marks++
		} else if err == nil {
			f.seen.passed++
		}
		return !hidden, err
	}
}

// passes decides about the node with an id, reading it only if need be.
func (f *filter) passes(ctx context.Context, id graph.ID) (bool, error) {
	if f.excluded(id) {
		return false, nil
	}
	hidden, err := f.hidden(ctx, graph.OnNode, id)
	if err != nil || hidden {
		return false, err
	}
	if f.erased > 0 {
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

// hidden reports whether a mark hides a node or edge.
func (f *filter) hidden(ctx context.Context, on graph.Target, id graph.ID) (bool, error) {
	if f.bare {
		return false, nil
	}
	m, err := f.g.Mark(ctx, on, id)
	if err != nil {
		return false, fmt.Errorf("read mark on %s %s: %w", on, id, err)
	}
	return f.hides(m), nil
}

// hides reports whether a mark, nil for none, hides what it is on.
func (f *filter) hides(m *graph.Mark) bool {
	return m != nil && Hidden(m.State) && !slices.Contains(f.req.Marks, m.State)
}

// excluded reports whether the request leaves a node out by its id.
func (f *filter) excluded(id graph.ID) bool {
	_, ok := f.out[id]
	return ok
}

// fits decides by everything but the mark, what is cheap to ask first, and counts what it leaves
// out.
func (f *filter) fits(ctx context.Context, d Document, left *LeftOut) (bool, error) {
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

// holds reports whether a predicate holds for a document.
func (f *filter) holds(ctx context.Context, p Predicate, d Document) (bool, error) {
	if p.Edges != "" {
		n, err := f.countEdges(ctx, d.ID(), p)
		return p.HoldsFor(n), err
	}
	v, ok, err := d.Prop(p.Name)
	if err != nil {
		return false, fmt.Errorf("read property %q of %s: %w", p.Name, d.ID(), err)
	}
	return p.Holds(v, ok), nil
}

func (f *filter) inTime(t Times) bool {
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

// within reports whether from <= t < to, where an absent end is open.
func within(t graph.Time, from, to graph.OptTime) bool {
	return (!from.Given || from.Time <= t) && (!to.Given || t < to.Time)
}
