// Package reading has the verbs that read nodes and edges, and the forms in which answers tell of them.
package reading

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// ListRequest asks for a list of nodes or edges.
type ListRequest struct {
	After   string   `op:",remote" doc:"go on after this {CURSOR} or id"`
	All     bool     `op:"all,remote" doc:"list nodes of every type, also documents, their parts, conversations and names"`
	Edges   bool     `op:",remote" doc:"list edges"`
	Limit   int      `op:",remote" default:"100" doc:"at most {N} rows; 0 for all"`
	Now     string   `op:",remote" doc:"{TIME} that importance is of, RFC 3339 or YYYY-MM-DD (default: now)"`
	Sort    string   `op:",remote,varies" doc:"{ORDER}: id, key, created, updated, importance or props.NAME (default: -created; of edges id)"`
	Sources bool     `op:",remote" not:"edges" doc:"list nodes that have a source, with their sources"`
	Type    []string `op:",remote" doc:"only this {TYPE}" note:" (repeatable)"`
	Where   []string `op:",remote" doc:"only where this {PREDICATE} holds" note:" (repeatable)"`
	verb.AtRevision
	verb.Marks
	verb.Params
}

// NodeList is one page of nodes.
type NodeList struct {
	Commit ipld.CID        `json:"commit" shape:"null"`
	Nodes  verb.Each[Node] `json:"nodes"`
	Next   verb.Text       `json:"next"`   // the cursor of what follows, once the nodes were given
	Others bool            `json:"others"` // whether nodes of other types were left out so far
}

// EdgeList is one page of edges.
type EdgeList struct {
	Commit ipld.CID        `json:"commit" shape:"null"`
	Edges  verb.Each[Edge] `json:"edges"`
	Next   verb.Text       `json:"next"`
}

// Edge is an edge with the names of its ends.
type Edge struct {
	ID        graph.ID      `json:"id"`
	Key       verb.Text     `json:"key"`
	Type      string        `json:"type"`
	Src       graph.ID      `json:"src"`
	SrcKey    verb.Text     `json:"src_key"`
	Dst       graph.ID      `json:"dst"`
	DstKey    verb.Text     `json:"dst_key"`
	Weight    verb.Weight   `json:"weight"`
	Props     verb.Props    `json:"props"`
	Created   graph.Time    `json:"created"`
	ValidFrom graph.OptTime `json:"validFrom"`
	ValidTo   graph.OptTime `json:"validTo"`
	Sources   []string      `json:"sources"`
	Mark      *graph.Mark   `json:"mark"`
	CID       ipld.CID      `json:"cid"`
}

// Ls lists nodes or edges.
var Ls = verb.Define(verb.Spec{
	Command: "ls", Right: verb.NoRight, Confined: true, Usage: "[flags]", Group: "read", Effect: verb.Reads, Pure: true,
	Title: "List memories or edges, the newest first",
	Doc: "List the memories, or with --edges the edges, that pass the filters. Files, their parts,\n" +
		"conversations and mere names are listed with --all, or with --type if it names them.\n\n" +
		"Predicates are those of 'mnem retrieve --where'. --sort orders by id, key, created, updated,\n" +
		"importance or props.NAME, descending with - in front; the default is -created. What has no such\n" +
		"value comes last, and what is equal is in order of id. Property values of different kinds sort\n" +
		"as numbers, strings, booleans, rest.\n" +
		"importance is the effective importance at --now, which 'mnem show --importance' explains.\n\n" +
		"A list that is cut at --limit ends with a cursor. --after CURSOR goes on behind it, at the\n" +
		"cursor's commit unless --at says another, so that pages fit together whatever is committed\n" +
		"in between.",
	Example: "  mnem ls\n  mnem ls --type Person\n  mnem ls --type Task --where 'status = \"open\"' --sort -updated\n" +
		"  mnem ls --sort key --limit 20 --json\n  mnem ls --edges --type owns",
	Answers: []any{NodeList{}, EdgeList{}},
}, ls)

func (q *ListRequest) Check() error {
	if err := verb.CheckLimit(q.Limit); err != nil {
		return err
	}
	if q.All && (q.Edges || len(q.Type) > 0) {
		return verb.Between("%s lists nodes of every type: leave out %s and %s", "all", "edges", "type")
	}
	l, err := q.listing()
	if err == nil && q.Now != "" && l.order.field != sortImportance {
		return verb.Between("%s is for %s importance", "now", "sort")
	}
	return err
}

func (q *ListRequest) listing() (*listing, error) {
	l := &listing{edges: q.Edges, types: q.Type, sourced: q.Sources}
	if !q.All && !q.Edges && len(q.Type) == 0 {
		l.only = memory.IsMemory
	}
	for _, s := range q.Where {
		p, err := retrieve.ParsePredicate(s)
		if err != nil {
			return nil, err
		}
		if p.Edges != "" && q.Edges {
			return nil, verb.Between("%s on edges (out.TYPE, in.TYPE) is of nodes, not for %s", "where", "edges")
		}
		l.where = append(l.where, p)
	}
	let, err := q.States()
	if err != nil {
		return nil, err
	}
	l.see.Let = let
	if err := (retrieve.Request{Types: l.types, Where: l.where}).Validate(); err != nil {
		return nil, err
	}
	order := cmp.Or(q.Sort, "-"+sortCreated)
	if q.Edges {
		order = cmp.Or(q.Sort, sortID)
	}
	l.order, err = parseSort(order, q.Edges)
	return l, err
}

func ls(ctx context.Context, s *verb.Service, q *ListRequest) (any, error) {
	l, from, err := q.start(ctx, s)
	if err != nil {
		return nil, err
	}
	names := NewLabels(l.s)
	if q.Edges {
		out := &EdgeList{Commit: l.s.CID()}
		out.Edges = func(yield func(Edge) error) (err error) {
			out.Next, err = l.page(ctx, from, q.Limit, func(row *listRow) error {
				e, err := edgeOf(ctx, names, row)
				if err != nil {
					return err
				}
				return yield(e)
			})
			return err
		}
		return out, nil
	}
	out := &NodeList{Commit: l.s.CID()}
	out.Nodes = func(yield func(Node) error) (err error) {
		out.Next, err = l.page(ctx, from, q.Limit, func(row *listRow) error {
			return yield(NodeOf(row.node, row.cid, row.mark))
		})
		out.Others = l.others
		return err
	}
	return out, nil
}

func edgeOf(ctx context.Context, names *Labels, row *listRow) (out Edge, err error) {
	e := row.edge
	out = Edge{
		ID: e.ID, Key: verb.Text(e.Key), Type: e.Type, Src: e.Src, Dst: e.Dst, Weight: verb.Weight(e.Weight),
		Props: e.Props, Created: e.Created, ValidFrom: e.ValidFrom, ValidTo: e.ValidTo,
		Sources: e.Sources, Mark: row.mark, CID: row.cid,
	}
	if out.SrcKey, err = names.Key(ctx, e.Src); err == nil {
		out.DstKey, err = names.Key(ctx, e.Dst)
	}
	return out, err
}

// ReadEdge reads the edge with an id, or the only one whose id begins so. An edge that a mark hides is not found.
func ReadEdge(ctx context.Context, see Visible, name string) (*Edge, error) {
	s := see.Snapshot
	id, err := s.EdgeName(ctx, name)
	if err != nil {
		return nil, err
	}
	row, err := (&listing{s: s, edges: true}).read(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case !see.Shows(row.mark):
		return nil, &state.NotFoundError{What: "edge", Name: name}
	}
	e, err := edgeOf(ctx, NewLabels(s), row)
	return &e, err
}

// page gives the rows of one page, and returns the cursor of what follows, "" for nothing.
func (l *listing) page(
	ctx context.Context, from *sortedRow, limit int, yield func(*listRow) error,
) (next verb.Text, err error) {
	n, last := 0, graph.ID{}
	for id, err := range l.ids(ctx, from, limit) {
		if err != nil {
			return "", err
		}
		if limit > 0 && n == limit {
			return verb.Text(last.String() + "@" + l.s.CID().String()), nil
		}
		row, err := l.read(ctx, id)
		if err == nil {
			err = yield(row)
		}
		if err != nil {
			return "", err
		}
		n, last = n+1, id
	}
	return "", nil
}

// on makes the listing one of a snapshot.
func (l *listing) on(ctx context.Context, s *verb.Service, snap *core.Snapshot, now string) error {
	l.s, l.see.Snapshot = snap, snap
	if l.order.field != sortImportance {
		return nil
	}
	at, err := s.Now(now)
	if err != nil {
		return err
	}
	lives, err := memory.HalfLivesAt(ctx, snap)
	l.weigh = func(ctx context.Context, n *graph.Node) (int64, error) {
		e, err := memory.ImportanceOf(ctx, snap, n, at, memory.ImportanceOptions{HalfLives: lives})
		return e.Value, err
	}
	return err
}

// Nodes lists nodes by id, of those that the request names the ones that only says: at is the commit that has them,
// and page gives one page of them to a function and returns where the next begins.
func (q *ListRequest) Nodes(ctx context.Context, s *verb.Service, only func(n *graph.Node) bool) (
	at ipld.CID, page func(yield func(n *graph.Node) error) (next verb.Text, err error), err error,
) {
	q.Sort, q.All = sortID, len(q.Type) == 0
	l, from, err := q.start(ctx, s)
	if err != nil {
		return at, nil, err
	}
	l.only = only
	return l.s.CID(), func(yield func(n *graph.Node) error) (verb.Text, error) {
		return l.page(ctx, from, q.Limit, func(row *listRow) error { return yield(row.node) })
	}, nil
}

// start returns what lists, and after which place. A cursor names an item, at the commit that says where
// in the order it is.
func (q *ListRequest) start(ctx context.Context, s *verb.Service) (*listing, *sortedRow, error) {
	l, err := q.listing()
	if err != nil {
		return nil, nil, err
	}
	idText, rev, pinned := strings.Cut(q.After, "@")
	id, err := graph.ParseID(idText)
	if q.After != "" && err != nil {
		return nil, nil, verb.Bad("after", "%q is neither a cursor nor an id", q.After)
	}
	var snap, marked *core.Snapshot
	if pinned {
		if marked, err = s.Repo.Snapshot(ctx, rev); err != nil {
			return nil, nil, err
		}
		snap = marked
	}
	if q.Given("at") || !pinned {
		if snap, err = s.At(ctx, q.At); err != nil {
			return nil, nil, err
		}
	}
	var from *sortedRow
	switch {
	case q.After == "":
	case l.order.field == sortID:
		from = &sortedRow{id: id}
	default:
		if marked == nil {
			marked = snap
		}
		if err := l.on(ctx, s, marked, q.Now); err != nil {
			return nil, nil, err
		}
		row, err := l.read(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		at := l.order.place(row)
		from = &at
	}
	return l, from, l.on(ctx, s, snap, q.Now)
}

// The keys by which a list may be sorted, besides properties.
const (
	sortID      = "id"
	sortKey     = "key"
	sortCreated = "created"
	sortUpdated = "updated"
	// sortImportance is by effective importance, which is worked out for each row.
	sortImportance = "importance"
)

type sortSpec struct {
	field string // one of the constants or props.NAME
	desc  bool
}

func parseSort(s string, edges bool) (sortSpec, error) {
	field, desc := strings.CutPrefix(s, "-")
	spec := sortSpec{field, desc}
	prop, isProp := strings.CutPrefix(field, PropPrefix)
	switch {
	case field == sortUpdated && edges:
		return spec, verb.Bad("sort", "edges have no time of update")
	case field == sortImportance && edges:
		return spec, verb.Bad("sort", "edges have no importance")
	case field == sortID, field == sortKey, field == sortCreated, field == sortUpdated,
		field == sortImportance:
	case isProp && prop != "":
	default:
		return spec, verb.Bad("sort", "no order %q: want id, key, created, updated, importance or props.NAME", s)
	}
	return spec, nil
}

type sortedRow struct {
	id    graph.ID
	value *ipld.Value // the sort key, nil if the row has none
}

// place returns the sort key of a row.
func (o sortSpec) place(row *listRow) sortedRow {
	p := sortedRow{id: row.id}
	set := func(v ipld.Value) { p.value = &v }
	switch o.field {
	case sortID:
	case sortKey:
		if row.key != "" {
			set(ipld.StringValue(row.key))
		}
	case sortCreated:
		set(ipld.IntValue(int64(row.created)))
	case sortUpdated:
		set(ipld.IntValue(int64(row.updated)))
	case sortImportance:
		set(ipld.IntValue(row.importance))
	default:
		if v, ok := ipld.FindEntry(row.props, strings.TrimPrefix(o.field, PropPrefix)); ok {
			set(v)
		}
	}
	return p
}

// compare orders rows: those without a value last, equal values by id.
func (o sortSpec) compare(a, b sortedRow) int {
	if o.field == sortID {
		return o.turn(a.id.Compare(b.id))
	}
	switch {
	case a.value == nil && b.value != nil:
		return 1
	case a.value != nil && b.value == nil:
		return -1
	case a.value != nil:
		if c := o.turn(compareValues(*a.value, *b.value)); c != 0 {
			return c
		}
	}
	return a.id.Compare(b.id)
}

func (o sortSpec) turn(c int) int {
	if o.desc {
		return -c
	}
	return c
}

// compareValues orders any two values: numbers, strings, booleans, then the rest by encoding.
func compareValues(v, w ipld.Value) int {
	if c := cmp.Compare(valueClass(v), valueClass(w)); c != 0 {
		return c
	}
	// As predicates do, so that integers and floats compare exactly.
	if (retrieve.Predicate{Op: retrieve.Less, Value: w}).Holds(v, true) {
		return -1
	}
	if (retrieve.Predicate{Op: retrieve.Greater, Value: w}).Holds(v, true) {
		return 1
	}
	if valueClass(v) < classBool {
		return 0
	}
	return bytes.Compare(ipld.AppendValue(nil, v), ipld.AppendValue(nil, w))
}

const (
	classNumber = iota
	classString
	classBool
	classRest
)

func valueClass(v ipld.Value) int {
	switch v.Kind() {
	case ipld.Int, ipld.Float:
		return classNumber
	case ipld.String:
		return classString
	case ipld.Bool:
		return classBool
	}
	return classRest
}

type listRow struct {
	id      graph.ID
	key     string
	typ     string
	created graph.Time
	updated graph.Time // created if it was never updated
	props   []ipld.Entry
	node    *graph.Node // nil for an edge
	edge    *graph.Edge // nil for a node
	cid     ipld.CID
	mark    *graph.Mark // only read by read

	importance int64 // effective, in units of 2^-16; only if the order is by it
}

func nodeRow(n *graph.Node, c ipld.CID) *listRow {
	row := &listRow{
		id: n.ID, key: n.Key, typ: n.Type, created: n.Created, updated: n.Created, props: n.Props,
		node: n, cid: c,
	}
	if n.Updated.Given {
		row.updated = n.Updated.Time
	}
	return row
}

func edgeRow(e *graph.Edge, c ipld.CID) *listRow {
	return &listRow{id: e.ID, key: e.Key, typ: e.Type, created: e.Created, props: e.Props, edge: e, cid: c}
}

type listing struct {
	s       *core.Snapshot
	edges   bool
	order   sortSpec
	types   []string
	where   []retrieve.Predicate
	only    func(*graph.Node) bool // nil for all
	sourced bool                   // only nodes with a source
	others  bool                   // whether only left any out
	see     Visible
	// weigh returns a node's effective importance; nil if the order is not by it.
	weigh func(ctx context.Context, n *graph.Node) (int64, error)
}

func (l *listing) weighRow(ctx context.Context, row *listRow) (err error) {
	if l.weigh != nil && row.node != nil {
		row.importance, err = l.weigh(ctx, row.node)
	}
	return err
}

func (l *listing) read(ctx context.Context, id graph.ID) (*listRow, error) {
	var row *listRow
	on := graph.OnNode
	if l.edges {
		on = graph.OnEdge
		e, c, err := l.s.Edge(ctx, id)
		if err != nil {
			return nil, err
		}
		row = edgeRow(e, c)
	} else {
		n, c, err := l.s.Node(ctx, id)
		if err != nil {
			return nil, err
		}
		row = nodeRow(n, c)
	}
	var err error
	if row.mark, err = l.s.Mark(ctx, on, id); err == nil {
		err = l.weighRow(ctx, row)
	}
	return row, err
}

// rows yields the rows that pass the filters, in id order, from behind an id.
func (l *listing) rows(ctx context.Context, after graph.ID) iter.Seq2[*listRow, error] {
	return func(yield func(*listRow, error) bool) {
		for row, err := range l.all(ctx, after) {
			ok := false
			if err == nil {
				ok, err = l.passes(ctx, row)
			}
			if ok && err == nil {
				err = l.weighRow(ctx, row)
			}
			if err != nil || ok {
				if !yield(row, err) || err != nil {
					return
				}
			}
		}
	}
}

func (l *listing) all(ctx context.Context, after graph.ID) iter.Seq2[*listRow, error] {
	return func(yield func(*listRow, error) bool) {
		if l.edges {
			for e, err := range l.s.Edges(ctx, after) {
				if err != nil {
					yield(nil, err)
					return
				}
				if !yield(edgeRow(e.Edge, e.CID), nil) {
					return
				}
			}
			return
		}
		for n, err := range l.s.Nodes(ctx, after) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(nodeRow(n.Node, n.CID), nil) {
				return
			}
		}
	}
}

func (l *listing) passes(ctx context.Context, row *listRow) (bool, error) {
	if len(l.types) > 0 && !slices.Contains(l.types, row.typ) {
		return false, nil
	}
	if l.sourced && len(row.node.Sources) == 0 {
		return false, nil
	}
	if l.only != nil && !l.only(row.node) {
		l.others = true
		return false, nil
	}
	for _, p := range l.where {
		if ok, err := l.holds(ctx, p, row); err != nil || !ok {
			return false, err
		}
	}
	on := graph.OnNode
	if l.edges {
		on = graph.OnEdge
	}
	m, err := l.s.Mark(ctx, on, row.id)
	return l.see.Shows(m), err
}

// holds reports whether a predicate holds for a row.
func (l *listing) holds(ctx context.Context, p retrieve.Predicate, row *listRow) (bool, error) {
	if p.Edges != "" {
		n, err := l.see.Edges(ctx, row.id, p)
		return p.HoldsFor(n), err
	}
	v, ok := ipld.FindEntry(row.props, p.Name)
	return p.Holds(v, ok), nil
}

// ids yields the ids of rows in the list's order, those after a position, nil for all. If limit is above 0, the caller
// needs only limit and one more.
func (l *listing) ids(ctx context.Context, from *sortedRow, limit int) iter.Seq2[graph.ID, error] {
	if l.order == (sortSpec{field: sortID}) { // in which trees are read
		return l.idsInTree(ctx, from)
	}
	room := maxPageRows
	if limit > 0 {
		room = min(room, limit+1)
	}
	return l.idsSorted(ctx, from, room)
}

func (l *listing) idsInTree(ctx context.Context, from *sortedRow) iter.Seq2[graph.ID, error] {
	return func(yield func(graph.ID, error) bool) {
		var after graph.ID
		if from != nil {
			after = from.id
		}
		for row, err := range l.rows(ctx, after) {
			var id graph.ID
			if err == nil {
				id = row.id
			}
			if !yield(id, err) {
				return
			}
		}
	}
}

// idsSorted reads the tree once for every page of room rows.
func (l *listing) idsSorted(ctx context.Context, from *sortedRow, room int) iter.Seq2[graph.ID, error] {
	return func(yield func(graph.ID, error) bool) {
		for {
			page := newPage(l.order, from, room)
			for row, err := range l.rows(ctx, graph.ID{}) {
				if err != nil {
					yield(graph.ID{}, err)
					return
				}
				page.add(l.order.place(row))
			}
			places := page.places()
			for _, p := range places {
				if !yield(p.id, nil) {
					return
				}
			}
			if !page.cut {
				return
			}
			from = &places[len(places)-1]
		}
	}
}

// Bounds of a page: a sorted list of any length is read page by page, once through the tree for
// each, so that memory stays bounded.
const (
	maxPageRows  = 1 << 16
	maxPageBytes = 16 << 20 // of the values that it is sorted by
)

// page gathers the first places of an order after one place. Whenever it has twice its room, it drops those that
// cannot be among them.
type page struct {
	order sortSpec
	after *sortedRow
	room  int
	list  []sortedRow
	bytes int
	cut   bool       // whether places were left out
	end   *sortedRow // the first of those: what is not before it is left out too
}

func newPage(order sortSpec, after *sortedRow, room int) *page {
	return &page{order: order, after: after, room: room}
}

// add takes a place in if it may belong to the page.
func (p *page) add(at sortedRow) {
	if p.after != nil && p.order.compare(at, *p.after) <= 0 || p.end != nil && p.order.compare(at, *p.end) >= 0 {
		return
	}
	p.list = append(p.list, at)
	if p.bytes += valueSize(at.value); len(p.list) > 2*p.room || p.bytes > 2*maxPageBytes {
		p.places()
	}
}

// places returns the page in order.
func (p *page) places() []sortedRow {
	slices.SortFunc(p.list, p.order.compare)
	n, size := 0, 0
	for n < min(len(p.list), p.room) && (n == 0 || size+valueSize(p.list[n].value) <= maxPageBytes) {
		size += valueSize(p.list[n].value)
		n++
	}
	if n < len(p.list) {
		end := p.list[n]
		p.end, p.cut = &end, true
		clear(p.list[n:])
	}
	p.list, p.bytes = p.list[:n], size
	return p.list
}

func valueSize(v *ipld.Value) int {
	const fixed = 64
	if v == nil {
		return fixed
	}
	switch v.Kind() {
	case ipld.String, ipld.Bytes:
		return fixed + len(v.Text())
	case ipld.List, ipld.Map:
		return fixed + 8*len(ipld.AppendValue(nil, *v))
	}
	return fixed
}
