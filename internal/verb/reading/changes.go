package reading

import (
	"context"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
)

// ChangedItem is a node or an edge that differs.
type ChangedItem struct {
	Item   string            `json:"item" shape:"node|edge"`
	ID     graph.ID          `json:"id"`
	Key    *verb.Text        `json:"key,omitempty"` // of a node
	Type   string            `json:"type"`
	Src    graph.ID          `json:"src,omitzero"` // of an edge
	Dst    graph.ID          `json:"dst,omitzero"`
	Change state.ChangeKind  `json:"change" shape:"added|changed|removed"`
	Fields []state.FieldDiff `json:"fields"`
}

// ChangesOf reads a whole difference into one list, nodes before edges, and counts it.
func ChangesOf(ctx context.Context, d state.Diff) (list []ChangedItem, nodes, edges state.Counts, err error) {
	for n, err := range d.Nodes(ctx) {
		if err != nil {
			return nil, nodes, edges, err
		}
		nodes.Count(n.Kind)
		list = append(list, ChangedItem{Item: graph.KindNode, ID: n.ID, Key: new(verb.Text(n.Key)),
			Type: n.Node().Type, Change: n.Kind, Fields: n.Fields})
	}
	for e, err := range d.Edges(ctx) {
		if err != nil {
			return nil, nodes, edges, err
		}
		edges.Count(e.Kind)
		edge := e.Edge()
		list = append(list, ChangedItem{Item: graph.KindEdge, ID: e.ID, Type: edge.Type, Src: edge.Src,
			Dst: edge.Dst, Change: e.Kind, Fields: e.Fields})
	}
	return list, nodes, edges, nil
}

// ShortChange is a node or an edge that differs, as people are shown it in a line.
type ShortChange struct {
	Change state.ChangeKind `json:"change"`
	Item   string           `json:"item"`
	Type   string           `json:"type"`
	Name   string           `json:"name"`  // of a node, or of the node that an edge comes from
	About  string           `json:"about"` // the summary of a node, or the node that an edge leads to
}

const shortLimit = 40

// ShortOf returns the first items of a difference, nodes before edges. The ends of edges are named by
// the difference, and from before.
func ShortOf(ctx context.Context, d state.Diff, before *core.Snapshot) (list []ShortChange, err error) {
	names := NewLabels(before)
	for n, err := range d.Nodes(ctx) {
		if err != nil || len(list) == shortLimit {
			return list, err
		}
		node := n.Node()
		names.Remember(node)
		list = append(list, ShortChange{n.Kind, graph.KindNode, node.Type, nameOrID(node, n.ID), node.Summary})
	}
	for e, err := range d.Edges(ctx) {
		if err != nil || len(list) == shortLimit {
			return list, err
		}
		edge := e.Edge()
		one := ShortChange{Change: e.Kind, Item: graph.KindEdge, Type: edge.Type}
		src, err := names.Node(ctx, edge.Src)
		if err != nil {
			return nil, err
		}
		dst, err := names.Node(ctx, edge.Dst)
		if err != nil {
			return nil, err
		}
		one.Name, one.About = nameOrID(src, edge.Src), nameOrID(dst, edge.Dst)
		list = append(list, one)
	}
	return list, nil
}

// nameOrID is the key of a node, its id if it has none or there is no such node.
func nameOrID(n *graph.Node, id graph.ID) string {
	if n == nil || n.Key == "" {
		return id.String()
	}
	return n.Key
}
