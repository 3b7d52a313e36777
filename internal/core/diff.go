package core

import (
	"context"
	"fmt"
	"iter"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/store"
)

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
