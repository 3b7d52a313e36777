package state

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/ipld"
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

// ReadListed is commit.ReadEdge with the parameters that Records asks for; the id is not used.
func ReadListed(ctx context.Context, get store.Getter, _ graph.ID, c ipld.CID) (*graph.Edge, error) {
	return commit.ReadEdge(ctx, get, c)
}

// ReadShown reads a node, or returns a stand-in for an erased one.
func ReadShown(ctx context.Context, get store.Getter, id graph.ID, c ipld.CID) (*graph.Node, error) {
	n, err := commit.ReadNode(ctx, get, c)
	if err != nil {
		return standIn(id, err)
	}
	return n, nil
}

// Records returns a walk over the records that a tree links to under the keys after an id.
func Records[T any](
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
			c, err := LinkItem(kv.Value)
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

// KindCounts counts the items of each kind in a commit.
type KindCounts struct {
	Nodes map[string]int      // by type
	Edges map[string]int      // by type
	Marks map[graph.State]int // by state, including those of edges
}

// ReadText reads the text of a digest; item is its entry in the tree of digests. The error wraps store.ErrCorrupt
// if the record does not decode.
func ReadText(ctx context.Context, get store.Getter, item []byte) (*distill.Written, error) {
	c, err := LinkItem(item)
	if err != nil {
		return nil, err
	}
	block, err := get.Get(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", distill.KindWritten, c, err)
	}
	w, err := distill.DecodeWritten(block)
	if err != nil {
		err = fmt.Errorf("read %s %s: %w: %w", distill.KindWritten, c, store.ErrCorrupt, err)
	}
	return w, err
}
