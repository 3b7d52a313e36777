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
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

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
