package reading

import (
	"cmp"
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/ipld"
)

// NodeHead and NodeTail are a node without its content, in two parts so that each answer has its
// members in their order.
type NodeHead struct {
	ID      graph.ID   `json:"id"`
	Key     verb.Text  `json:"key"`
	Type    string     `json:"type"`
	Summary verb.Text  `json:"summary"`
	Context verb.Text  `json:"context"`
	Props   verb.Props `json:"props"`
	Cues    []string   `json:"cues,omitempty"`
}

// NodeTail is described at NodeHead.
type NodeTail struct {
	Created   graph.Time    `json:"created"`
	Updated   graph.OptTime `json:"updated"`
	ValidFrom graph.OptTime `json:"validFrom"`
	ValidTo   graph.OptTime `json:"validTo"`
	Sources   []string      `json:"sources"`
	Mark      *graph.Mark   `json:"mark"`
	CID       ipld.CID      `json:"cid"`
}

// Node is a node as ls prints it.
type Node struct {
	NodeHead
	NodeTail
}

// NodeOf returns the form of a node, which has a mark, nil for none.
func NodeOf(n *graph.Node, id ipld.CID, m *graph.Mark) Node {
	return Node{
		NodeHead{n.ID, verb.Text(n.Key), n.Type, verb.Text(n.Summary), verb.Text(n.Context), n.Props, n.Cues},
		NodeTail{n.Created, n.Updated, n.ValidFrom, n.ValidTo, n.Sources, m, id},
	}
}

// WholeNode is everything there is about one node.
type WholeNode struct {
	NodeHead
	Content *string `json:"content"`
	NodeTail
	Media  verb.Text `json:"media"`
	Commit ipld.CID  `json:"commit" shape:"null"`
}

// Parts returns the parts of the node for rendering.
func (w *WholeNode) Parts() (n *graph.Node, mark *graph.Mark, content string) {
	n = &graph.Node{
		ID: w.ID, Key: string(w.Key), Type: w.Type, Summary: string(w.Summary), Context: string(w.Context),
		Props: w.Props, Cues: w.Cues, Created: w.Created, Updated: w.Updated, ValidFrom: w.ValidFrom, ValidTo: w.ValidTo,
		Sources: w.Sources,
	}
	if w.Content != nil {
		content = *w.Content
	}
	return n, w.Mark, content
}

// ReadNode reads the node that a name means, among those that are seen if it is a text. A forgotten node is not found
// unless it is let through.
func ReadNode(ctx context.Context, see Visible, name string) (*WholeNode, error) {
	s := see.Snapshot
	id, err := see.Find(ctx, name)
	if err != nil {
		return nil, err
	}
	n, at, err := s.Node(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := Redacted(ctx, s, at); err != nil {
		return nil, err
	}
	m, err := s.Mark(ctx, graph.OnNode, id)
	if err != nil {
		return nil, err
	}
	if m != nil && m.State == graph.Forgotten && !see.Shows(m) {
		return nil, verb.NodeHint(&state.NotFoundError{What: "node", Name: name, Hidden: graph.Forgotten, ID: id})
	}
	content, err := s.Content(ctx, n.Content)
	if err != nil {
		return nil, err
	}
	parts := NodeOf(n, at, m)
	w := &WholeNode{NodeHead: parts.NodeHead, NodeTail: parts.NodeTail, Commit: s.CID()}
	if n.Content != nil {
		w.Content, w.Media = &content, verb.Text(n.Content.Media)
	}
	return w, nil
}

// Redacted returns an error if the requested record was purged.
func Redacted(ctx context.Context, s *core.Snapshot, id ipld.CID) error {
	red, err := s.Redaction(ctx, id)
	if err == nil && red != nil {
		err = redactedError{red}
	}
	return err
}

// redactedError says why, when and by whom a requested record was purged.
type redactedError struct{ red *commit.Redaction }

func (e redactedError) Error() string { return e.red.String() }

func (e redactedError) Is(target error) bool { return target == store.ErrRedacted }

// PropPrefix begins the name of a field that is a property.
const PropPrefix = "props."

// CheckField refuses the name of a field that no node has.
func CheckField(name string) error {
	if prop, ok := strings.CutPrefix(name, PropPrefix); ok && prop != "" || slices.Contains(fieldNames(), name) {
		return nil
	}
	return verb.Bad("field", "no field %q: want one of %s or props.NAME", name, strings.Join(fieldNames(), ", "))
}

func fieldNames() []string {
	return []string{
		"id", "key", "type", "summary", "context", "props", "cues", "content", "media", "created",
		"updated", "validFrom", "validTo", "sources", "mark", "cid", "commit",
	}
}

// Field returns the value of one field. name is how the node was named. A field that the node lacks is not found.
func (w *WholeNode) Field(field, name string) (*verb.FieldValue, error) {
	missing := &state.NotFoundError{What: "field", Name: field + " of " + name}
	if prop, ok := strings.CutPrefix(field, PropPrefix); ok {
		value, ok := ipld.FindEntry(w.Props, prop)
		switch {
		case !ok:
			return nil, missing
		case value.Kind() == ipld.String:
			return &verb.FieldValue{Value: value.Text()}, nil
		}
		return &verb.FieldValue{Value: verb.Value(&value)}, nil
	}
	var member any
	for _, f := range reflect.VisibleFields(reflect.TypeOf(*w)) {
		if !f.Anonymous && f.Tag.Get("json") == field {
			member = reflect.ValueOf(*w).FieldByIndex(f.Index).Interface()
		}
	}
	data, err := verb.JSON(member)
	if err != nil || string(data) == "null" {
		return nil, cmp.Or[error](err, missing)
	}
	var text string
	if json.Unmarshal(data, &text) == nil {
		return &verb.FieldValue{Value: text}, nil
	}
	return &verb.FieldValue{Value: json.RawMessage(data)}, nil
}

// Buckets are the edges of a node.
type Buckets struct {
	Out     []Neighbor `json:"out"`
	In      []Neighbor `json:"in"`
	MoreOut uint64     `json:"more_out"` // edges that follow, hidden ones included
	MoreIn  uint64     `json:"more_in"`
}

// Neighbor is one edge of a node and the node at its other end.
type Neighbor struct {
	Type     string      `json:"type"`
	Edge     graph.ID    `json:"edge"`
	ID       graph.ID    `json:"id"`
	Key      verb.Text   `json:"key"`
	NodeType verb.Text   `json:"node_type"`
	Summary  verb.Text   `json:"summary"`
	Weight   verb.Weight `json:"weight"`
}

// Buckets reads the edges of a node, at most limit in each direction.
func (v Visible) Buckets(ctx context.Context, id graph.ID, limit int) (all Buckets, err error) {
	names := NewLabels(v.Snapshot)
	if all.Out, all.MoreOut, err = v.bucket(ctx, names, id, adjacency.Out, limit); err == nil {
		all.In, all.MoreIn, err = v.bucket(ctx, names, id, adjacency.In, limit)
	}
	return all, err
}

func (v Visible) bucket(
	ctx context.Context, names *Labels, id graph.ID, side adjacency.Direction, limit int,
) (list []Neighbor, more uint64, err error) {
	trees := v.Snapshot.Adjacency()
	if more, err = trees.Degree(ctx, id, side, ""); err != nil {
		return nil, 0, err
	}
	for e, err := range trees.Bucket(ctx, id, side, "", nil) {
		if err != nil {
			return nil, 0, err
		}
		if len(list) == limit {
			break
		}
		more--
		ok, err := v.Edge(ctx, e.Edge, e.Other)
		if err != nil {
			return nil, 0, err
		}
		if !ok {
			continue
		}
		row := Neighbor{Type: e.Type, Edge: e.Edge, ID: e.Other, Weight: verb.Weight(e.Weight)}
		n, err := names.Node(ctx, e.Other)
		if err != nil {
			return nil, 0, err
		}
		if n != nil {
			row.Key, row.NodeType, row.Summary = verb.Text(n.Key), verb.Text(n.Type), verb.Text(n.Summary)
		}
		list = append(list, row)
	}
	return list, more, nil
}
