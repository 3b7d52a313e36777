package reading

import (
	"context"
	"errors"
	"slices"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/retrieve"
)

// maxLabels bounds the labels cached for one answer, in bytes: those of some 300,000 nodes. Edges name nodes in no
// order, so with a smaller cache most labels would be read again for each edge.
const (
	maxLabels = 64 << 20
	labelSize = 192 // of one without its texts, as measured: the id, the node, and its map entry
)

// Labels names nodes by id, looking into several snapshots in turn. The labels used last are
// remembered, the newer half of them in known.
type Labels struct {
	from         []*core.Snapshot
	known, older map[graph.ID]*graph.Node
	most, size   int // bytes of known
}

// NewLabels returns the names of nodes of snapshots.
func NewLabels(from ...*core.Snapshot) *Labels {
	return &Labels{from: from, known: make(map[graph.ID]*graph.Node), most: maxLabels / 2}
}

// Snapshots returns the snapshots in which nodes are looked up.
func (l *Labels) Snapshots() []*core.Snapshot { return l.from }

// Also looks into one more snapshot, after the others.
func (l *Labels) Also(s *core.Snapshot) { l.from = append(l.from, s) }

// Remember lets a node be named without being read, also one that no snapshot has, as one that is only staged.
func (l *Labels) Remember(n *graph.Node) { l.keep(n.ID, &graph.Node{ID: n.ID, Key: n.Key}) }

// keep remembers a label, nil for a node that there is not.
func (l *Labels) keep(id graph.ID, n *graph.Node) {
	l.size += labelSize
	if n != nil {
		l.size += len(n.Key) + len(n.Type) + len(n.Summary)
	}
	if l.size > l.most {
		l.older, l.known, l.size = l.known, make(map[graph.ID]*graph.Node), 0
	}
	l.known[id] = n
}

// Seen returns a node that is remembered, and whether it is.
func (l *Labels) Seen(id graph.ID) (*graph.Node, bool) {
	n, ok := l.known[id]
	if ok {
		return n, true
	}
	if n, ok = l.older[id]; ok {
		l.keep(id, n)
	}
	return n, ok
}

// Node returns a node's id, key, type and summary, nil if no snapshot has it.
func (l *Labels) Node(ctx context.Context, id graph.ID) (*graph.Node, error) {
	if n, ok := l.Seen(id); ok {
		return n, nil
	}
	var found *graph.Node
	for _, s := range l.from {
		n, _, err := s.Node(ctx, id)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
		if err == nil {
			found = &graph.Node{ID: n.ID, Key: n.Key, Type: n.Type, Summary: n.Summary}
			break
		}
	}
	l.keep(id, found)
	return found, nil
}

// Key returns a node's key, "" for none.
func (l *Labels) Key(ctx context.Context, id graph.ID) (verb.Text, error) {
	n, err := l.Node(ctx, id)
	if n == nil {
		return "", err
	}
	return verb.Text(n.Key), nil
}

// Visible decides which marked nodes and edges of a snapshot are shown.
type Visible struct {
	Snapshot *core.Snapshot
	Let      []graph.State // hidden states to let through
}

// Shows reports whether a node or edge with a mark, nil for none, is visible.
func (v Visible) Shows(m *graph.Mark) bool {
	return m == nil || !m.State.Hides() || slices.Contains(v.Let, m.State)
}

// Edge reports whether an edge and the node it leads to are seen.
func (v Visible) Edge(ctx context.Context, edge, other graph.ID) (bool, error) {
	m, err := v.Snapshot.Mark(ctx, graph.OnEdge, edge)
	if err != nil || !v.Shows(m) {
		return false, err
	}
	return v.Node(ctx, other)
}

// Find returns the node that a name means: see rank.Find.
func (v Visible) Find(ctx context.Context, name string) (graph.ID, error) {
	id, err := rank.Find(ctx, v.Snapshot, name, v.Shows)
	return id, verb.NodeHint(err)
}

// Edges counts the edges of a node that a predicate is on, at most those that are enough.
func (v Visible) Edges(ctx context.Context, id graph.ID, p retrieve.Predicate) (n int, err error) {
	side := adjacency.Out
	if p.Edges == retrieve.In {
		side = adjacency.In
	}
	for e, err := range v.Snapshot.Adjacency().Bucket(ctx, id, side, p.Name, nil) {
		if err != nil {
			return 0, err
		}
		switch ok, err := v.Edge(ctx, e.Edge, e.Other); {
		case err != nil:
			return 0, err
		case ok:
			n++
		}
		if n == p.Enough() {
			break
		}
	}
	return n, nil
}

// Node reports whether a node is seen.
func (v Visible) Node(ctx context.Context, id graph.ID) (bool, error) {
	m, err := v.Snapshot.Mark(ctx, graph.OnNode, id)
	return v.Shows(m), err
}
