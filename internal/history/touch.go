package history

import (
	"context"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// touched reports whether a test holds for what a commit changed against each of its parents, or
// for all it has if it has none. A merge that took one side as it was has touched nothing.
func touched(
	ctx context.Context, r *core.Repo, c ipld.CID, rec *commit.Commit, test func(state.Diff) (bool, error),
) (bool, error) {
	after, err := r.At(ctx, c)
	if err != nil {
		return false, err
	}
	parents := rec.Parents
	if len(parents) == 0 {
		parents = []ipld.CID{{}}
	}
	for _, p := range parents {
		before, err := r.At(ctx, p)
		if err != nil {
			return false, err
		}
		if ok, err := test(before.Diff(after)); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// touchesNode reports whether a node differs, its mark, an edge of it or the mark of one.
func touchesNode(ctx context.Context, d state.Diff, id graph.ID) (bool, error) {
	for _, t := range []struct {
		from, to *prolly.Map
		key      []byte
	}{
		{d.From.Nodes, d.To.Nodes, id[:]},
		{d.From.Marks, d.To.Marks, graph.MarkKey(graph.OnNode, id)},
	} {
		before, err := state.Lookup(ctx, t.from, t.key)
		if err != nil {
			return false, err
		}
		after, err := state.Lookup(ctx, t.to, t.key)
		if before != after || err != nil {
			return err == nil, err
		}
	}
	ok, err := movesEdge(ctx, d, id)
	if ok || err != nil {
		return ok, err
	}
	return editsEdge(ctx, d, id)
}

// movesEdge reports whether an edge of a node came, went or weighs otherwise: the keys of its
// adjacency buckets tell, without a look at any edge or at other nodes.
func movesEdge(ctx context.Context, d state.Diff, id graph.ID) (bool, error) {
	for _, trees := range [][2]*prolly.Map{{d.From.Out, d.To.Out}, {d.From.In, d.To.In}} {
		for _, err := range prolly.DiffPrefix(ctx, trees[0], trees[1], id[:]) {
			if err != nil {
				return false, fmt.Errorf("diff adjacency: %w", err)
			}
			return true, nil
		}
	}
	return false, nil
}

// editsEdge reports whether an edge of a node that stayed has other fields or another mark. What
// came or went is not read.
func editsEdge(ctx context.Context, d state.Diff, id graph.ID) (bool, error) {
	if d.From.Edges.Len() == 0 {
		return false, nil // all of them came
	}
	isOf := func(edge graph.ID) (bool, error) {
		e, _, err := d.To.Edge(ctx, edge)
		return e != nil && (e.Src == id || e.Dst == id), err
	}
	for c, err := range prolly.Diff(ctx, d.From.Edges, d.To.Edges) {
		if err != nil {
			return false, fmt.Errorf("diff edges: %w", err)
		}
		if c.Old == nil || c.New == nil || len(c.Key) != graph.IDLen {
			continue
		}
		if ok, err := isOf(graph.ID(c.Key)); ok || err != nil {
			return ok, err
		}
	}
	marks, err := d.MarkIDs(ctx, graph.OnEdge)
	if err != nil {
		return false, err
	}
	for _, edge := range marks {
		if ok, err := isOf(edge); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// touchesType reports whether a node or edge that differs, or whose mark does, has one of some
// types before or after.
func touchesType(ctx context.Context, d state.Diff, types []string) (bool, error) {
	for id, err := range d.Ids(ctx, graph.OnNode) {
		if err != nil {
			return false, err
		}
		for _, s := range []*state.State{d.From, d.To} {
			n, _, err := s.Shown(ctx, id)
			if err != nil || n != nil && slices.Contains(types, n.Type) {
				return err == nil, err
			}
		}
	}
	for id, err := range d.Ids(ctx, graph.OnEdge) {
		if err != nil {
			return false, err
		}
		for _, s := range []*state.State{d.From, d.To} {
			e, _, err := s.Edge(ctx, id)
			if err != nil || e != nil && slices.Contains(types, e.Type) {
				return err == nil, err
			}
		}
	}
	return false, nil
}
