package ops

import (
	"context"
	"encoding/json"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
)

// LinesSpec says what the lines are that a verb reads.
type LinesSpec struct {
	Doc      string
	Flag     string // that names their file on the command line, "" for positional arguments
	Required bool
}

// Reader is embedded in requests of verbs that read change lines.
type Reader struct {
	read func(ctx context.Context) (repo.Changes, error)
}

// SetChanges tells where change lines are read. It is called when the repository is open, once.
func (q *Reader) SetChanges(read func(ctx context.Context) (repo.Changes, error)) { q.read = read }

// HasChanges reports whether there are change lines.
func (q *Reader) HasChanges() bool { return q.read != nil }

// Change is a node or an edge that differs.
type Change struct {
	Item   string          `json:"item" shape:"node|edge"`
	ID     graph.ID        `json:"id"`
	Key    *Text           `json:"key,omitempty"` // of a node
	Type   string          `json:"type"`
	Src    graph.ID        `json:"src,omitzero"` // of an edge
	Dst    graph.ID        `json:"dst,omitzero"`
	Change repo.ChangeKind `json:"change" shape:"added|changed|removed"`
	Fields List[FieldDiff] `json:"fields"`
}

// FieldDiff is one field that differs; null where it is absent.
type FieldDiff struct {
	Field string          `json:"field"`
	Old   json.RawMessage `json:"old"`
	New   json.RawMessage `json:"new"`
}

// FieldDiffs returns the form of fields that differ.
func FieldDiffs(fields []repo.FieldDiff) List[FieldDiff] {
	var out List[FieldDiff]
	for _, f := range fields {
		out = append(out, FieldDiff{f.Field, Value(f.Old), Value(f.New)})
	}
	return out
}

// ChangesOf reads a whole difference into one list, nodes before edges, and counts it.
func ChangesOf(
	ctx context.Context, d repo.Diff,
) (list List[Change], nodes, edges repo.Counts, err error) {
	for n, err := range d.Nodes(ctx) {
		if err != nil {
			return nil, nodes, edges, err
		}
		nodes.Count(n.Kind)
		list = append(list, Change{Item: graph.KindNode, ID: n.ID, Key: new(Text(n.Node().Key)),
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

// Conflict is one item that does not merge; records are named by their CIDs.
type Conflict struct {
	Item       string              `json:"item"`
	Kind       graph.ConflictKind  `json:"kind" shape:"edit_edit|add_add|delete_modify|end_removed|circle"`
	Label      string              `json:"label"`
	Base       ipld.CID            `json:"base" shape:"null"`
	Ours       ipld.CID            `json:"ours" shape:"null"`
	Theirs     ipld.CID            `json:"theirs" shape:"null"`
	Fields     List[FieldConflict] `json:"fields"`
	Resolution Text                `json:"resolution" shape:"ours|theirs|base|lines|null"`
}

// FieldConflict is one field with its three values; null where it is absent.
type FieldConflict struct {
	Field  string          `json:"field"`
	Base   json.RawMessage `json:"base"`
	Ours   json.RawMessage `json:"ours"`
	Theirs json.RawMessage `json:"theirs"`
}

// ConflictsOf returns the form of conflicts.
func ConflictsOf(list []repo.Conflict) List[Conflict] {
	var out List[Conflict]
	for _, c := range list {
		one := Conflict{Item: c.Item.String(), Kind: c.Kind, Label: c.Label, Base: c.Base, Ours: c.Ours,
			Theirs: c.Theirs, Resolution: Text(c.Resolution)}
		for _, f := range c.Fields {
			one.Fields = append(one.Fields, FieldConflict{f.Field, Value(f.Base), Value(f.Ours), Value(f.Theirs)})
		}
		out = append(out, one)
	}
	return out
}
