// Package reading has the verbs that read nodes and edges, and the forms in which answers tell of them.
package reading

import (
	"cmp"
	"context"
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
