package state

import (
	"context"
	"fmt"
	"iter"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// ChangeKind tells how an item differs between two states.
type ChangeKind string

const (
	Added   ChangeKind = "added"
	Changed ChangeKind = "changed"
	Removed ChangeKind = "removed"
)

// FieldDiff is one field that differs. Properties are named props.NAME. Times are RFC 3339 strings and ids UUIDs.
type FieldDiff struct {
	Field string      `json:"field"`
	Old   *ipld.Value `json:"old" shape:"json"` // nil if absent
	New   *ipld.Value `json:"new" shape:"json"` // nil if absent
}

// NodeDiff is one node that differs.
type NodeDiff struct {
	ID     graph.ID    `json:"id"`
	Key    string      `json:"key" shape:"null"` // of Node, "" for none
	Type   string      `json:"type"`             // likewise
	Kind   ChangeKind  `json:"change" shape:"added|changed|removed"`
	Fields []FieldDiff `json:"fields"`
	Mark   bool        `json:"-"` // whether the node's mark is among the fields
	Old    *graph.Node `json:"-"` // nil if added
	New    *graph.Node `json:"-"` // nil if removed
}

// Node returns the node after the change, or before it if it was removed.
func (d *NodeDiff) Node() *graph.Node {
	if d.New != nil {
		return d.New
	}
	return d.Old
}

// EdgeDiff is one edge that differs.
type EdgeDiff struct {
	ID     graph.ID    `json:"id"`
	Type   string      `json:"type"` // of Edge
	Src    graph.ID    `json:"src"`  // likewise
	Dst    graph.ID    `json:"dst"`  // likewise
	Kind   ChangeKind  `json:"change" shape:"added|changed|removed"`
	Fields []FieldDiff `json:"fields"`
	Key    string      `json:"key" shape:"null"` // of Edge, "" for none
	Old    *graph.Edge `json:"-"`                // nil if added
	New    *graph.Edge `json:"-"`                // nil if removed
}

// Edge returns the edge after the change, or before it if it was removed.
func (d *EdgeDiff) Edge() *graph.Edge {
	if d.New != nil {
		return d.New
	}
	return d.Old
}

// Counts are numbers of items that differ.
type Counts struct {
	Added   int `json:"added"`
	Changed int `json:"changed"`
	Removed int `json:"removed"`
}

// Count counts one difference.
func (c *Counts) Count(kind ChangeKind) {
	switch kind {
	case Added:
		c.Added++
	case Removed:
		c.Removed++
	case Changed:
		c.Changed++
	}
}

// Add adds counts.
func (c *Counts) Add(n Counts) {
	c.Added, c.Changed, c.Removed = c.Added+n.Added, c.Changed+n.Changed, c.Removed+n.Removed
}

// Zero reports whether nothing differs.
func (c Counts) Zero() bool { return c == Counts{} }

// Diff compares two snapshots.
type Diff struct{ From, To *State }

// Nodes yields the nodes that differ, in id order. It includes nodes whose mark differs, with the field "mark".
func (d Diff) Nodes(ctx context.Context) iter.Seq2[NodeDiff, error] {
	return eachDiff(ctx, d.Ids(ctx, graph.OnNode), d.node)
}

// Edges yields the edges that differ, in id order, including those whose mark differs.
func (d Diff) Edges(ctx context.Context) iter.Seq2[EdgeDiff, error] {
	return eachDiff(ctx, d.Ids(ctx, graph.OnEdge), d.edge)
}

func eachDiff[T any](
	ctx context.Context, ids iter.Seq2[graph.ID, error], of func(context.Context, graph.ID) (T, error),
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for id, err := range ids {
			var one T
			if err == nil {
				one, err = of(ctx, id)
			}
			if !yield(one, err) || err != nil {
				return
			}
		}
	}
}

// Count counts the nodes and edges that differ, marks included. It does not read subtrees that only one state has.
func (d Diff) Count(ctx context.Context) (nodes, edges Counts, err error) {
	if nodes, err = d.count(ctx, graph.OnNode); err == nil {
		edges, err = d.count(ctx, graph.OnEdge)
	}
	return nodes, edges, err
}

func (d Diff) count(ctx context.Context, on graph.Target) (Counts, error) {
	from, to := d.Trees(on)
	n, err := prolly.CountDiff(ctx, from, to)
	out := Counts{int(n.Added), int(n.Changed), int(n.Removed)}
	if err != nil {
		return out, fmt.Errorf("diff: %w", err)
	}
	marks, err := d.MarkIDs(ctx, on)
	if err != nil {
		return out, err
	}
	for _, id := range marks {
		before, err := Lookup(ctx, from, id[:])
		if err != nil {
			return out, err
		}
		after, err := Lookup(ctx, to, id[:])
		if err != nil {
			return out, err
		}
		if before == after { // otherwise it is counted already
			out.Changed++
		}
	}
	return out, nil
}

// Trees returns the trees of nodes, or those of edges.
func (d Diff) Trees(on graph.Target) (from, to *prolly.Map) {
	if on == graph.OnEdge {
		return d.From.Edges, d.To.Edges
	}
	return d.From.Nodes, d.To.Nodes
}

// Ids yields, in order, the ids of the nodes or edges that differ themselves or in their marks. It reads no records.
func (d Diff) Ids(ctx context.Context, on graph.Target) iter.Seq2[graph.ID, error] {
	return func(yield func(graph.ID, error) bool) {
		marks, err := d.MarkIDs(ctx, on)
		if err != nil {
			yield(graph.ID{}, err)
			return
		}
		from, to := d.Trees(on)
		MergeIDs(prolly.Diff(ctx, from, to), marks)(yield)
	}
}

// MarkIDs returns the ids, in order, of the nodes or edges whose mark differs.
func (d Diff) MarkIDs(ctx context.Context, on graph.Target) ([]graph.ID, error) {
	var ids []graph.ID
	for c, err := range prolly.Diff(ctx, d.From.Marks, d.To.Marks) {
		if err != nil {
			return nil, fmt.Errorf("diff marks: %w", err)
		}
		target, id, err := graph.ParseMarkKey(c.Key)
		if err != nil {
			return nil, fmt.Errorf("diff marks: %w: %w", store.ErrCorrupt, err)
		}
		if target == on {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// MergeIDs yields the ids of changes, which are in id order, and of marks, each once, in order.
func MergeIDs(changes iter.Seq2[prolly.Change, error], marks []graph.ID) iter.Seq2[graph.ID, error] {
	return func(yield func(graph.ID, error) bool) {
		for c, err := range changes {
			if err == nil && len(c.Key) != graph.IDLen {
				err = fmt.Errorf("%w tree key of %d bytes", store.ErrCorrupt, len(c.Key))
			}
			if err != nil {
				yield(graph.ID{}, fmt.Errorf("diff: %w", err))
				return
			}
			id := graph.ID(c.Key)
			for ; len(marks) > 0 && marks[0].Compare(id) < 0; marks = marks[1:] {
				if !yield(marks[0], nil) {
					return
				}
			}
			if len(marks) > 0 && marks[0] == id {
				marks = marks[1:]
			}
			if !yield(id, nil) {
				return
			}
		}
		for _, id := range marks {
			if !yield(id, nil) {
				return
			}
		}
	}
}

func (d Diff) node(ctx context.Context, id graph.ID) (NodeDiff, error) {
	nd := NodeDiff{ID: id}
	var before, after ipld.CID
	var err error
	if nd.Old, before, err = d.From.Shown(ctx, id); err != nil {
		return nd, err
	}
	if nd.New, after, err = d.To.Shown(ctx, id); err != nil {
		return nd, err
	}
	if n := nd.Node(); n != nil {
		nd.Key, nd.Type = n.Key, n.Type
	}
	if before != after {
		nd.Fields, err = fieldDiffs(nd.Old, nd.New)
	}
	nd.Kind = kindOf(nd.Old, nd.New)
	if err == nil {
		nd.Fields, nd.Mark, err = d.markDiff(ctx, nd.Fields, graph.OnNode, id)
	}
	return nd, err
}

func (d Diff) edge(ctx context.Context, id graph.ID) (EdgeDiff, error) {
	ed := EdgeDiff{ID: id}
	var before, after ipld.CID
	var err error
	if ed.Old, before, err = d.From.Edge(ctx, id); err != nil {
		return ed, err
	}
	if ed.New, after, err = d.To.Edge(ctx, id); err != nil {
		return ed, err
	}
	if e := ed.Edge(); e != nil {
		ed.Type, ed.Src, ed.Dst, ed.Key = e.Type, e.Src, e.Dst, e.Key
	}
	if before != after {
		ed.Fields, err = fieldDiffs(ed.Old, ed.New)
	}
	ed.Kind = kindOf(ed.Old, ed.New)
	if err == nil {
		ed.Fields, _, err = d.markDiff(ctx, ed.Fields, graph.OnEdge, id)
	}
	return ed, err
}

func kindOf[T any](before, after *T) ChangeKind {
	switch {
	case before == nil:
		return Added
	case after == nil:
		return Removed
	}
	return Changed
}

// markDiff appends the field "mark" if the mark of an item differs.
func (d Diff) markDiff(
	ctx context.Context, to []FieldDiff, on graph.Target, id graph.ID,
) (list []FieldDiff, differs bool, err error) {
	before, err := d.From.Mark(ctx, on, id)
	if err != nil {
		return to, false, err
	}
	after, err := d.To.Mark(ctx, on, id)
	if err != nil {
		return to, false, err
	}
	o, n := markValue(before), markValue(after)
	if o == nil && n == nil || o != nil && n != nil && o.Equal(*n) {
		return to, false, nil
	}
	return append(to, FieldDiff{Field: "mark", Old: o, New: n}), true, nil
}
