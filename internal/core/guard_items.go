package core

import (
	"fmt"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
)

// between asks about what differs between two states, either of them nil for no ref at all.
func (g *guarding) between(from, to *state.State) error {
	if from == nil || to == nil {
		return nil
	}
	if from.Profile != to.Profile {
		if err := g.guard(state.Touch{Kind: TouchProfile, Ref: g.ref}); err != nil {
			return err
		}
	}
	if from.DigestsRoot() != to.DigestsRoot() {
		if err := g.guard(state.Touch{Kind: TouchDigest, Ref: g.ref}); err != nil {
			return err
		}
	}
	if err := g.records(from, to); err != nil {
		return err
	}
	for c, err := range prolly.Diff(g.ctx, from.Marks, to.Marks) {
		if err != nil {
			return fmt.Errorf("diff marks: %w", err)
		}
		on, id, err := graph.ParseMarkKey(c.Key)
		if err != nil {
			return fmt.Errorf("diff marks: %w: %w", store.ErrCorrupt, err)
		}
		item := g.node
		if on == graph.OnEdge {
			item = g.edge
		}
		if err := item(id, from, to); err != nil {
			return err
		}
	}
	for c, err := range prolly.Diff(g.ctx, from.Vectors, to.Vectors) {
		if err != nil {
			return fmt.Errorf("diff embeddings: %w", err)
		}
		if len(c.Key) < graph.IDLen {
			return fmt.Errorf("%w tree key of %d bytes", store.ErrCorrupt, len(c.Key))
		}
		if err := g.node(graph.ID(c.Key[:graph.IDLen]), from, to); err != nil {
			return err
		}
	}
	return nil
}

// records asks about the nodes and edges whose records differ.
func (g *guarding) records(from, to *state.State) error {
	diff := state.Diff{From: from, To: to}
	for _, items := range []struct {
		on  graph.Target
		ask func(graph.ID, ...*state.State) error
	}{{graph.OnNode, g.node}, {graph.OnEdge, g.edge}} {
		a, b := diff.Trees(items.on)
		for id, err := range state.MergeIDs(prolly.Diff(g.ctx, a, b), nil) {
			if err == nil {
				err = items.ask(id, from, to)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// node asks about a node as each of some states has it. One that none has, as an embedding may be of, has no type.
func (g *guarding) node(id graph.ID, in ...*state.State) error {
	touches, err := g.nodeTouches(id, in)
	if err != nil {
		return err
	}
	return g.ask(touches)
}

func (g *guarding) nodeTouches(id graph.ID, in []*state.State) ([]state.Touch, error) {
	var out []state.Touch
	for _, s := range in {
		n, _, err := s.Shown(g.ctx, id)
		if err != nil {
			return nil, err
		}
		if n != nil {
			out = append(out, state.Touch{Kind: TouchNode, Ref: g.ref, ID: id, Type: n.Type})
		}
	}
	if out == nil {
		out = []state.Touch{{Kind: TouchNode, Ref: g.ref, ID: id}}
	}
	return out, nil
}

// edge asks about an edge as each of some states has it.
func (g *guarding) edge(id graph.ID, in ...*state.State) error {
	var touches []state.Touch
	for _, s := range in {
		e, _, err := s.Edge(g.ctx, id)
		if err != nil {
			return err
		}
		if e == nil {
			continue
		}
		t := state.Touch{Kind: TouchEdge, Ref: g.ref, ID: id, Type: e.Type}
		src, _, err := s.Shown(g.ctx, e.Src)
		if err != nil {
			return err
		}
		if src != nil {
			t.Source = src.Type
		}
		touches = append(touches, t)
	}
	if touches == nil {
		touches = []state.Touch{{Kind: TouchEdge, Ref: g.ref, ID: id}}
	}
	return g.ask(touches)
}

func (g *guarding) ask(touches []state.Touch) error {
	for i, t := range touches {
		if i > 0 && t == touches[i-1] {
			continue
		}
		if err := g.guard(t); err != nil {
			return err
		}
	}
	return nil
}

// resolved asks about one item of a merge in progress that was decided: as either side has it, and as it was decided.
func (g *guarding) resolved(rec *commit.Merge, name string, value []byte) error {
	item, err := graph.ParseItem(name)
	if err != nil {
		return fmt.Errorf("read resolutions: %w: %w", store.ErrCorrupt, err)
	}
	if item.Kind == graph.ProfileItem {
		return g.guard(state.Touch{Kind: TouchProfile, Ref: g.ref})
	}
	ours, err := g.commit(rec.Ours)
	if err != nil {
		return err
	}
	theirs, err := g.commit(rec.Theirs)
	if err != nil {
		return err
	}
	if item.Kind == graph.EdgeItem || item.Kind == graph.EdgeMarkItem {
		return g.edge(item.ID, ours, theirs)
	}
	if err := g.node(item.ID, ours, theirs); err != nil {
		return err
	}
	if value == nil || item.Kind != graph.NodeItem {
		return nil
	}
	res, err := commit.DecodeResolution(value)
	if err != nil || !res.Record.Defined() {
		return err
	}
	n, err := commit.ReadNode(g.ctx, g.t.Stage, res.Record)
	if err != nil {
		return err
	}
	return g.guard(state.Touch{Kind: TouchNode, Ref: g.ref, ID: item.ID, Type: n.Type})
}
