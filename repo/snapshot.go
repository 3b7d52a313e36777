package repo

import (
	"context"
	"iter"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// Snapshot is the memory as one commit left it. It never changes, and is safe for concurrent use until its Repo is
// closed.
type Snapshot struct {
	core    *core.Snapshot
	meaning Meaning
}

// CID is the commit, undefined before the first.
func (s *Snapshot) CID() ipld.CID { return s.core.CID() }

// Graph is the identity of what is known: two repositories that hold the same facts with the same times agree on it.
func (s *Snapshot) Graph() ipld.CID { return s.core.Graph() }

// Retrieve answers a request. The same snapshot and request give the same bytes in every process.
func (s *Snapshot) Retrieve(ctx context.Context, req retrieve.Request) (*retrieve.Answer, error) {
	req, err := asked(ctx, s.meaning, req)
	if err != nil {
		return nil, err
	}
	return rank.Retrieve(ctx, s.core, req)
}

// Find returns the id of the node that a name means: its exact key, its id, or a unique prefix of that. The error
// wraps ErrNotFound if there is none.
func (s *Snapshot) Find(ctx context.Context, name string) (graph.ID, error) {
	return s.core.Name(ctx, name)
}

// Node reads a node. The caller must not change it.
func (s *Snapshot) Node(ctx context.Context, id graph.ID) (*graph.Node, error) {
	n, _, err := s.core.Node(ctx, id)
	return n, err
}

// Edge reads an edge. The caller must not change it.
func (s *Snapshot) Edge(ctx context.Context, id graph.ID) (*graph.Edge, error) {
	e, _, err := s.core.Edge(ctx, id)
	return e, err
}

// Nodes yields all nodes after an id, in the order of ids; the zero id begins at the first.
func (s *Snapshot) Nodes(ctx context.Context, after graph.ID) iter.Seq2[*graph.Node, error] {
	return seq(s.core.Nodes(ctx, after), func(e state.NodeEntry) *graph.Node { return e.Node })
}

// Edges yields all edges after an id, in the order of ids; the zero id begins at the first.
func (s *Snapshot) Edges(ctx context.Context, after graph.ID) iter.Seq2[*graph.Edge, error] {
	return seq(s.core.Edges(ctx, after), func(e state.EdgeEntry) *graph.Edge { return e.Edge })
}

// FieldDiff is a field or property that differs.
type FieldDiff struct {
	Field    string      // such as "summary" or "props.team"
	Old, New *ipld.Value // nil if absent
}

// NodeDiff is a node that differs between two snapshots.
type NodeDiff struct {
	ID       graph.ID
	Old, New *graph.Node // nil if the node was added or removed
	Fields   []FieldDiff // that differ, the node's mark among them, in order
}

// EdgeDiff is an edge that differs between two snapshots.
type EdgeDiff struct {
	ID       graph.ID
	Old, New *graph.Edge // nil if the edge was added or removed
	Fields   []FieldDiff // that differ, in order
}

// DiffNodes yields the nodes that differ from s to other, in the order of ids. It reads what differs.
func (s *Snapshot) DiffNodes(ctx context.Context, other *Snapshot) iter.Seq2[NodeDiff, error] {
	return seq(s.core.Diff(other.core).Nodes(ctx), func(d state.NodeDiff) NodeDiff {
		return NodeDiff{d.ID, d.Old, d.New, fields(d.Fields)}
	})
}

// DiffEdges yields the edges that differ from s to other, in the order of ids. It reads what differs.
func (s *Snapshot) DiffEdges(ctx context.Context, other *Snapshot) iter.Seq2[EdgeDiff, error] {
	return seq(s.core.Diff(other.core).Edges(ctx), func(d state.EdgeDiff) EdgeDiff {
		return EdgeDiff{d.ID, d.Old, d.New, fields(d.Fields)}
	})
}

func fields(list []state.FieldDiff) []FieldDiff {
	out := make([]FieldDiff, len(list))
	for i, f := range list {
		out[i] = FieldDiff{f.Field, f.Old, f.New}
	}
	return out
}

// FieldText is a value of a FieldDiff as text, "" if absent.
func FieldText(v *ipld.Value) string { return state.FieldText(v) }
