package core

import (
	"context"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view"
	"github.com/mnem-project/mnem/internal/view/index"
)

// Kinds counts nodes, edges and marks by kind. Node types come from the index if there is one, edge
// types from the keys of the tree that lists them: for 10^5 nodes that is a twentieth of their bytes.
// progress, if not nil, receives the number counted so far.
func (s *Snapshot) Kinds(ctx context.Context, progress func(done int)) (*state.KindCounts, error) {
	if progress == nil {
		progress = func(int) {}
	}
	out := &state.KindCounts{Nodes: make(map[string]int), Edges: make(map[string]int), Marks: make(map[graph.State]int)}
	done := 0
	count := func() {
		done++
		progress(done)
	}
	if err := s.nodeTypes(ctx, out.Nodes, count); err != nil {
		return nil, err
	}
	for kv, err := range s.State.Adjacency().Out.Scan(ctx, nil, nil) {
		if err != nil {
			return nil, fmt.Errorf("count edges: %w", err)
		}
		_, e, err := adjacency.Parse(kv.Key, kv.Value)
		if err != nil {
			return nil, fmt.Errorf("count edges: %w", err)
		}
		out.Edges[e.Type]++
		count()
	}
	for kv, err := range s.State.Marks.Scan(ctx, nil, nil) {
		if err != nil {
			return nil, fmt.Errorf("count marks: %w", err)
		}
		c, err := state.LinkItem(kv.Value)
		if err != nil {
			return nil, fmt.Errorf("count marks: %w", err)
		}
		m, err := commit.ReadMark(ctx, s.State.Get, c)
		if err != nil {
			return nil, fmt.Errorf("count marks: %w", err)
		}
		out.Marks[m.State]++
		count()
	}
	return out, nil
}

// nodeTypes counts the nodes of each type.
func (s *Snapshot) nodeTypes(ctx context.Context, types map[string]int, count func()) error {
	_, err := s.Repo.Store.Derived().Cell(ctx, view.TextsKey(s.State.Root))
	if errors.Is(err, store.ErrNotFound) || !s.Id.Defined() { // to count is no reason to make an index
		return s.nodeTypesRead(ctx, types, count)
	}
	if err != nil {
		return err
	}
	counted := 0
	err = s.WithIndex(ctx, func(x *index.Index) error {
		clear(types)
		counted = 0
		for d, err := range x.Docs(ctx, nil) {
			if err != nil {
				return err
			}
			types[d.Type()]++
			if err := d.Err(); err != nil {
				return err
			}
			counted++
			count()
		}
		return nil
	})
	if err == nil && counted < int(s.State.Nodes.Len()) { // what was erased is no document
		types[state.RedactedType] += int(s.State.Nodes.Len()) - counted
	}
	return err
}

func (s *Snapshot) nodeTypesRead(ctx context.Context, types map[string]int, count func()) error {
	for e, err := range s.Nodes(ctx, graph.ID{}) {
		if err != nil {
			return err
		}
		types[e.Node.Type]++
		count()
	}
	return nil
}
