package reading

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
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

// NamesRequest asks what a word of a command line may be.
type NamesRequest struct {
	Kind   string `op:",arg,required" enum:"rev branch stage session tag profile" doc:"what the word is, as the tag complete of a field says"`
	Prefix string `op:",arg" doc:"how the word begins"`
}

// NamesAnswer are the words, in no order.
type NamesAnswer struct {
	Names []string `json:"names"`
}

// Names completes command lines. It is no command of its own.
var Names = verb.Define(verb.Spec{
	Command: "names", Right: verb.NoRight, Usage: "KIND [PREFIX]", Effect: verb.Reads, Local: true,
	Title: "List what completes a word of a command line",
}, names)

func names(ctx context.Context, s *verb.Service, q *NamesRequest) (*NamesAnswer, error) {
	all, err := namesOf(ctx, s.Repo, q.Kind)
	if err != nil {
		return nil, err
	}
	out := &NamesAnswer{Names: []string{}}
	for _, name := range all {
		if strings.HasPrefix(name, q.Prefix) {
			out.Names = append(out.Names, name)
		}
	}
	return out, nil
}

func namesOf(ctx context.Context, r *core.Repo, kind string) ([]string, error) {
	switch kind {
	case "branch":
		return refNames(ctx, r, graph.Heads)
	case "stage":
		return refNames(ctx, r, graph.Stages)
	case "session":
		return refNames(ctx, r, graph.Sessions)
	case "tag":
		return refNames(ctx, r, graph.Tags)
	case "rev":
		names, err := refNames(ctx, r, graph.Heads, graph.Tags)
		if err != nil {
			return nil, err
		}
		brought, err := refNames(ctx, r, graph.Imported)
		for _, name := range brought {
			names = append(names, strings.TrimPrefix(graph.Imported, "refs/")+name)
		}
		return append([]string{string(graph.Head)}, names...), err
	case "profile":
		at, err := r.Snapshot(ctx, string(graph.Head))
		if err != nil {
			return retrieve.BuiltinProfiles(), nil
		}
		p, err := rank.Profiles(ctx, at)
		return p.Names(), err
	}
	return nil, verb.Bad("kind", "%q is none of rev, branch, stage, session, tag, profile", kind)
}

func refNames(ctx context.Context, r *core.Repo, namespaces ...string) ([]string, error) {
	refs, err := r.Refs(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, ref := range refs {
		for _, ns := range namespaces {
			if name, ok := strings.CutPrefix(string(ref.Name), ns); ok {
				names = append(names, name)
			}
		}
	}
	return names, nil
}
