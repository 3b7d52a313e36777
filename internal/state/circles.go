package state

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
)

// CircleError is returned if nodes would supersede each other in a cycle, or a node itself: all of them would be
// hidden with no replacement. errors.Is(err, ErrInvalid) holds.
type CircleError struct {
	Nodes []graph.ID // each superseded by the next, the last by the first
}

// MaxCircle bounds how many nodes of a cycle are named.
const MaxCircle = 8

// Error names at most MaxCircle nodes of the cycle, and how to break it.
func (e *CircleError) Error() string {
	var b strings.Builder
	for i, id := range append(slices.Clone(e.Nodes[:min(len(e.Nodes), MaxCircle)]), e.Nodes[0]) {
		switch {
		case i == 0:
			fmt.Fprintf(&b, "node %s would be superseded", id)
		case i == MaxCircle && len(e.Nodes) > MaxCircle:
			fmt.Fprintf(&b, " by %d more, and these by %s", len(e.Nodes)-MaxCircle, id)
		default:
			fmt.Fprintf(&b, " by %s", id)
		}
	}
	return b.String() + ": all would be hidden; take a mark of them off, or leave one out"
}

// Is reports whether target is ErrInvalid.
func (e *CircleError) Is(target error) bool { return target == ErrInvalid }

// supersededBy returns the superseding node that a mark names, or zero.
func supersededBy(m *graph.Mark) graph.ID {
	if m == nil || m.On != graph.OnNode || m.State != graph.Superseded {
		return graph.ID{}
	}
	return m.By
}

// Successor returns the node that supersedes id, or zero.
func (s *State) Successor(ctx context.Context, id graph.ID) (graph.ID, error) {
	c, err := Lookup(ctx, s.Marks, graph.MarkKey(graph.OnNode, id))
	if err != nil || !c.Defined() {
		return graph.ID{}, err
	}
	m, err := commit.ReadMark(ctx, s.Get, c)
	return supersededBy(m), err
}

// Circles returns the cycles of superseding nodes in s in which at least one mark differs from before, ordered by
// the first such mark. It reads each differing mark, and each mark on the chains from it, once.
func Circles(ctx context.Context, before *prolly.Map, s *State) ([][]graph.ID, error) {
	var starts []graph.ID
	for c, err := range prolly.Diff(ctx, before, s.Marks) {
		if err != nil {
			return nil, fmt.Errorf("diff marks: %w", err)
		}
		on, id, err := graph.ParseMarkKey(c.Key)
		if err != nil {
			return nil, fmt.Errorf("diff marks: %w: %w", store.ErrCorrupt, err)
		}
		if c.New != nil && on == graph.OnNode {
			starts = append(starts, id)
		}
	}
	changed := make(map[graph.ID]bool, len(starts))
	for _, id := range starts {
		changed[id] = true
	}
	var out [][]graph.ID
	walk := make(map[graph.ID]int) // the walk in which a node was met, counted from 1
	for i, id := range starts {
		var path []graph.ID
		for !id.IsZero() && walk[id] == 0 {
			walk[id] = i + 1
			path = append(path, id)
			var err error
			if id, err = s.Successor(ctx, id); err != nil {
				return nil, err
			}
		}
		if id.IsZero() || walk[id] != i+1 {
			continue
		}
		circle := path[slices.Index(path, id):]
		if slices.ContainsFunc(circle, func(id graph.ID) bool { return changed[id] }) {
			out = append(out, circle)
		}
	}
	return out, nil
}

// NoCircles returns a *CircleError if next has a cycle that the state before did not have.
func NoCircles(ctx context.Context, before, next *State) error {
	found, err := Circles(ctx, before.Marks, next)
	if err == nil && len(found) > 0 {
		err = &CircleError{found[0]}
	}
	return err
}
