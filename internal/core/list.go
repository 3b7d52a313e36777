package core

import (
	"context"
	"fmt"
	"iter"
	"runtime"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// Nodes yields the nodes whose id is greater than after in id order, so that the zero ID gives all
// of them, hidden ones included; for purged ones a stand-in comes (see Node). It holds one node at a
// time. After an error, which comes with the zero NodeEntry, it ends.
func (s *Snapshot) Nodes(ctx context.Context, after graph.ID) iter.Seq2[state.NodeEntry, error] {
	return func(yield func(state.NodeEntry, error) bool) {
		defer runtime.KeepAlive(s.State) // and with it its lease
		state.Records(ctx, s.State.Nodes, s.State.Get, after, state.ReadShown)(
			func(c ipld.CID, n *graph.Node, err error) bool { return yield(state.NodeEntry{CID: c, Node: n}, err) })
	}
}

// Edges yields the edges whose id is greater than after in id order, as Nodes does nodes.
func (s *Snapshot) Edges(ctx context.Context, after graph.ID) iter.Seq2[state.EdgeEntry, error] {
	return func(yield func(state.EdgeEntry, error) bool) {
		defer runtime.KeepAlive(s.State)
		state.Records(ctx, s.State.Edges, s.State.Get, after, state.ReadListed)(
			func(c ipld.CID, e *graph.Edge, err error) bool { return yield(state.EdgeEntry{CID: c, Edge: e}, err) })
	}
}

// Marks yields the marks on nodes or edges in the order of their ids. It holds one mark at a time. After
// an error, which comes with nil, it ends.
func (s *Snapshot) Marks(ctx context.Context, on graph.Target) iter.Seq2[*graph.Mark, error] {
	return func(yield func(*graph.Mark, error) bool) {
		defer runtime.KeepAlive(s.State)
		from := graph.MarkKey(on, graph.ID{})
		to := []byte{from[0] + 1}
		for kv, err := range s.State.Marks.Scan(ctx, from, to) {
			var m *graph.Mark
			if err == nil {
				var c ipld.CID
				if c, err = state.LinkItem(kv.Value); err == nil {
					m, err = commit.ReadMark(ctx, s.State.Get, c)
				}
			}
			if err != nil {
				yield(nil, fmt.Errorf("list: %w", err))
				return
			}
			if !yield(m, nil) {
				return
			}
		}
	}
}

// Diff returns what differs from s to other. Reading it costs what differs, not what there is.
func (s *Snapshot) Diff(other *Snapshot) state.Diff {
	return state.Diff{From: s.State, To: other.State}
}

// AddedNodes yields the nodes of other that s lacks, in id order. It reads what differs, and no
// more of it than is consumed.
func (s *Snapshot) AddedNodes(ctx context.Context, other *Snapshot) iter.Seq2[*graph.Node, error] {
	return func(yield func(*graph.Node, error) bool) {
		for c, err := range prolly.Diff(ctx, s.State.Nodes, other.State.Nodes) {
			var n *graph.Node
			if err == nil && c.Old != nil {
				continue
			}
			if err == nil && len(c.Key) != graph.IDLen {
				err = fmt.Errorf("%w tree key of %d bytes", store.ErrCorrupt, len(c.Key))
			}
			if err == nil {
				n, _, err = other.State.Shown(ctx, graph.ID(c.Key))
			}
			if err == nil && n == nil {
				continue
			}
			if !yield(n, err) || err != nil {
				return
			}
		}
	}
}
