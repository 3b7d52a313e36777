package repo

import (
	"context"
	"fmt"
	"iter"
	"runtime"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/store"
)

// NodeEntry is one node of a snapshot and the CID of its record.
type NodeEntry struct {
	CID  ipld.CID
	Node *graph.Node
}

// EdgeEntry is one edge of a snapshot and the CID of its record.
type EdgeEntry struct {
	CID  ipld.CID
	Edge *graph.Edge
}

// Nodes yields the nodes whose id is greater than after in id order, so that the zero ID gives all
// of them, hidden ones included; for purged ones a stand-in comes (see Node). It holds one node at a
// time. After an error, which comes with the zero NodeEntry, it ends.
func (s *Snapshot) Nodes(ctx context.Context, after graph.ID) iter.Seq2[NodeEntry, error] {
	return func(yield func(NodeEntry, error) bool) {
		defer runtime.KeepAlive(s.state) // and with it its lease
		records(ctx, s.state.nodes, s.state.get, after, readShown)(
			func(c ipld.CID, n *graph.Node, err error) bool { return yield(NodeEntry{c, n}, err) })
	}
}

// Edges yields the edges whose id is greater than after in id order, as Nodes does nodes.
func (s *Snapshot) Edges(ctx context.Context, after graph.ID) iter.Seq2[EdgeEntry, error] {
	return func(yield func(EdgeEntry, error) bool) {
		defer runtime.KeepAlive(s.state)
		records(ctx, s.state.edges, s.state.get, after, readListed)(
			func(c ipld.CID, e *graph.Edge, err error) bool { return yield(EdgeEntry{c, e}, err) })
	}
}

// Marks yields the marks on nodes or edges in the order of their ids. It holds one mark at a time. After
// an error, which comes with nil, it ends.
func (s *Snapshot) Marks(ctx context.Context, on graph.Target) iter.Seq2[*graph.Mark, error] {
	return func(yield func(*graph.Mark, error) bool) {
		defer runtime.KeepAlive(s.state)
		from := graph.MarkKey(on, graph.ID{})
		to := []byte{from[0] + 1}
		for kv, err := range s.state.marks.Scan(ctx, from, to) {
			var m *graph.Mark
			if err == nil {
				var c ipld.CID
				if c, err = linkItem(kv.Value); err == nil {
					m, err = commit.ReadMark(ctx, s.state.get, c)
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

func readListed(
	ctx context.Context, get store.Getter, _ graph.ID, c ipld.CID,
) (*graph.Edge, error) {
	return commit.ReadEdge(ctx, get, c)
}

// readShown reads a node, and stands in for one that was erased.
func readShown(
	ctx context.Context, get store.Getter, id graph.ID, c ipld.CID,
) (*graph.Node, error) {
	n, err := commit.ReadNode(ctx, get, c)
	if err != nil {
		return standIn(id, err)
	}
	return n, nil
}

// records returns a walk over the records that a tree links to under the keys after an id.
func records[T any](
	ctx context.Context, m *prolly.Map, get store.Getter, after graph.ID,
	read func(context.Context, store.Getter, graph.ID, ipld.CID) (*T, error),
) func(yield func(ipld.CID, *T, error) bool) {
	from := after[:]
	if !after.IsZero() {
		from = append(from, 0) // the least key above the id
	}
	return func(yield func(ipld.CID, *T, error) bool) {
		for kv, err := range m.Scan(ctx, from, nil) {
			if err != nil {
				yield(ipld.CID{}, nil, fmt.Errorf("list: %w", err))
				return
			}
			c, err := linkItem(kv.Value)
			var rec *T
			if err == nil {
				rec, err = read(ctx, get, graph.ID(kv.Key), c)
			}
			if err != nil {
				yield(ipld.CID{}, nil, fmt.Errorf("list: %w", err))
				return
			}
			if !yield(c, rec, nil) {
				return
			}
		}
	}
}
