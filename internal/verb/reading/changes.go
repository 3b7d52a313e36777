package reading

import (
	"context"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/ipld"
)

// Change is a node or an edge that differs.
type Change struct {
	Item   string               `json:"item" shape:"node|edge"`
	ID     graph.ID             `json:"id"`
	Key    *verb.Text           `json:"key,omitempty"` // of a node
	Type   string               `json:"type"`
	Src    graph.ID             `json:"src,omitzero"` // of an edge
	Dst    graph.ID             `json:"dst,omitzero"`
	Change state.ChangeKind     `json:"change" shape:"added|changed|removed"`
	Fields verb.List[FieldDiff] `json:"fields"`
}

// FieldDiff is one field that differs; null where it is absent.
type FieldDiff struct {
	Field string   `json:"field"`
	Old   verb.Raw `json:"old"`
	New   verb.Raw `json:"new"`
}

// FieldDiffs returns the form of fields that differ.
func FieldDiffs(fields []state.FieldDiff) verb.List[FieldDiff] {
	var out verb.List[FieldDiff]
	for _, f := range fields {
		out = append(out, FieldDiff{f.Field, verb.Value(f.Old), verb.Value(f.New)})
	}
	return out
}

// ChangesOf reads a whole difference into one list, nodes before edges, and counts it.
func ChangesOf(
	ctx context.Context, d state.Diff,
) (list verb.List[Change], nodes, edges state.Counts, err error) {
	for n, err := range d.Nodes(ctx) {
		if err != nil {
			return nil, nodes, edges, err
		}
		nodes.Count(n.Kind)
		list = append(list, Change{Item: graph.KindNode, ID: n.ID, Key: new(verb.Text(n.Node().Key)),
			Type: n.Node().Type, Change: n.Kind, Fields: FieldDiffs(n.Fields)})
	}
	for e, err := range d.Edges(ctx) {
		if err != nil {
			return nil, nodes, edges, err
		}
		edges.Count(e.Kind)
		edge := e.Edge()
		list = append(list, Change{Item: graph.KindEdge, ID: e.ID, Type: edge.Type, Src: edge.Src,
			Dst: edge.Dst, Change: e.Kind, Fields: FieldDiffs(e.Fields)})
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

// shortLimit is how many items a short list has.
const shortLimit = 40

// ShortOf returns the first items of a difference, nodes before edges. The ends of edges are named by
// the difference, and from before.
func ShortOf(ctx context.Context, d state.Diff, before *core.Snapshot) (list verb.List[ShortChange], err error) {
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

// nameOrID is the key of a node, its id where it has none or there is no such node.
func nameOrID(n *graph.Node, id graph.ID) string {
	if n == nil || n.Key == "" {
		return id.String()
	}
	return n.Key
}

// Conflict is one item that does not merge; records are named by their CIDs.
type Conflict struct {
	Item       string                   `json:"item"`
	Kind       graph.ConflictKind       `json:"kind" shape:"edit_edit|add_add|delete_modify|end_removed|circle"`
	Label      string                   `json:"label"`
	Base       ipld.CID                 `json:"base" shape:"null"`
	Ours       ipld.CID                 `json:"ours" shape:"null"`
	Theirs     ipld.CID                 `json:"theirs" shape:"null"`
	Fields     verb.List[FieldConflict] `json:"fields"`
	Resolution verb.Text                `json:"resolution" shape:"ours|theirs|base|lines|null"`
}

// FieldConflict is one field with its three values; null where it is absent.
type FieldConflict struct {
	Field  string   `json:"field"`
	Base   verb.Raw `json:"base"`
	Ours   verb.Raw `json:"ours"`
	Theirs verb.Raw `json:"theirs"`
}

// ConflictsOf returns the form of conflicts.
func ConflictsOf(list []core.Conflict) verb.List[Conflict] {
	var out verb.List[Conflict]
	for _, c := range list {
		one := Conflict{Item: c.Item.String(), Kind: c.Kind, Label: c.Label, Base: c.Base, Ours: c.Ours,
			Theirs: c.Theirs, Resolution: verb.Text(c.Resolution)}
		for _, f := range c.Fields {
			one.Fields = append(one.Fields, FieldConflict{f.Field, verb.Value(f.Base), verb.Value(f.Ours), verb.Value(f.Theirs)})
		}
		out = append(out, one)
	}
	return out
}
