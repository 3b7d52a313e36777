package cli

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/memory"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
)

// defaultList is how many rows ls prints unless told.
const defaultList = 100

// listOptions say what ls lists, and in which order.
type listOptions struct {
	edges bool
	req   retrieve.Request // types, predicates and marks
	sort  sortSpec
	limit int // 0 for all
	after string
	now   graph.Time // of importance
}

func (c *cli) lsCommand() *cobra.Command {
	var opt listOptions
	var where, marks []string
	var order, now string
	cmd := &cobra.Command{
		Use:     "ls [flags]",
		GroupID: groupRead,
		Short:   "List nodes or edges",
		Long: "List the nodes, or with --edges the edges, that pass the filters. Predicates are those of\n" +
			"'mnem retrieve --where'. --sort orders by id (the default), key, created, updated, importance\n" +
			"or props.NAME, descending with - in front; what has no such value comes last, and what is equal\n" +
			"is in order of id. Property values of different kinds sort as numbers, strings, booleans, rest.\n" +
			"importance is the effective importance at --now, which 'mnem get --importance' explains.\n\n" +
			"A list that is cut at --limit ends with a cursor. --after CURSOR goes on behind it, at the\n" +
			"cursor's commit unless --at says another, so that pages fit together whatever is committed\n" +
			"meanwhile.",
		Example: "  mnem ls --type Person\n  mnem ls --type Task --where 'status = \"open\"' --sort -updated\n" +
			"  mnem ls --sort key --limit 20 --json\n  mnem ls --edges --type owns",
		Args: cobra.NoArgs,
	}
	c.atFlag(cmd)
	f := cmd.Flags()
	f.BoolVar(&opt.edges, "edges", false, "list edges")
	f.StringArrayVar(&opt.req.Types, "type", nil, "only this `TYPE` (repeatable)")
	f.StringArrayVar(&where, "where", nil, "only where this `PREDICATE` holds (repeatable)")
	f.StringVar(&order, "sort", "id", "`ORDER`: id, key, created, updated, importance or "+
		"props.NAME")
	f.StringVar(&now, "now", "", "`TIME` that importance is of, RFC 3339 or YYYY-MM-DD (default: now)")
	f.IntVar(&opt.limit, "limit", defaultList, "at most `N` rows; 0 for all")
	f.StringVar(&opt.after, "after", "", "go on after this `CURSOR` or id")
	marksFlag(cmd, &marks)
	return c.command(cmd, func(cmd *cobra.Command, _ []string) error {
		if opt.limit < 0 {
			return usagef("--limit: %d is below 0", opt.limit)
		}
		var err error
		if opt.req.Where, err = parseWhere(where); err != nil {
			return err
		}
		if opt.req.Marks, err = parseMarks(marks); err != nil {
			return err
		}
		if err := opt.req.Validate(); err != nil {
			return err
		}
		if opt.sort, err = parseSort(order, opt.edges); err != nil {
			return err
		}
		if now != "" && opt.sort.field != sortImportance {
			return usagef("--now is for --sort importance")
		}
		if opt.now, err = c.nowFlag(now); err != nil {
			return err
		}
		return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			return c.ls(ctx, r, cmd.Flags().Changed("at"), opt)
		})
	})
}

func parseWhere(list []string) ([]retrieve.Predicate, error) {
	var out []retrieve.Predicate
	for _, s := range list {
		p, err := retrieve.ParsePredicate(s)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// ls prints one page of a list.
func (c *cli) ls(ctx context.Context, r *repo.Repo, atGiven bool, opt listOptions) error {
	s, from, err := c.listStart(ctx, r, atGiven, opt)
	if err != nil {
		return err
	}
	l, err := c.lister(ctx, s, opt)
	if err != nil {
		return err
	}
	out := c.listPrinter(l)
	n, more, last := 0, false, graph.ID{}
	for id, err := range l.ids(ctx, from, opt.limit) {
		if err != nil {
			return err
		}
		if more = opt.limit > 0 && n == opt.limit; more {
			break
		}
		if err := out.row(ctx, id); err != nil {
			return err
		}
		n, last = n+1, id
	}
	next := ""
	if more {
		next = cursorText(last, s.CID())
	}
	return out.end(next)
}

// lister finds the rows of a list of a snapshot.
func (c *cli) lister(
	ctx context.Context, s *repo.Snapshot, opt listOptions,
) (*lister, error) {
	l := &lister{s: s, opt: opt, see: ops.Visible{Snapshot: s, Let: opt.req.Marks}}
	if opt.sort.field != sortImportance {
		return l, nil
	}
	of, err := c.importanceOptions(ctx, s)
	l.weigh = func(ctx context.Context, n *graph.Node) (int64, error) {
		e, err := memory.Importance(ctx, s, n.ID, opt.now, of)
		return e.Value, err
	}
	return l, err
}

// cursorText names a place in a list: an item, at the commit that says where in the order it is.
func cursorText(id graph.ID, at ipld.CID) string { return id.String() + "@" + at.String() }

// listStart returns what is listed, and after which place.
func (c *cli) listStart(
	ctx context.Context, r *repo.Repo, atGiven bool, opt listOptions,
) (*repo.Snapshot, *place, error) {
	if opt.after == "" {
		s, err := c.snapshot(ctx, r)
		return s, nil, err
	}
	idText, rev, pinned := strings.Cut(opt.after, "@")
	id, err := graph.ParseID(idText)
	if err != nil {
		return nil, nil, usagef("--after: %q is neither a cursor nor an id", opt.after)
	}
	var s, marked *repo.Snapshot
	if pinned {
		if marked, err = r.Snapshot(ctx, rev); err != nil {
			return nil, nil, err
		}
		s = marked
	}
	if atGiven || !pinned {
		if s, err = c.snapshot(ctx, r); err != nil {
			return nil, nil, err
		}
	}
	if !pinned {
		marked = s
	}
	if opt.sort.field == sortID {
		return s, &place{id: id}, nil
	}
	l, err := c.lister(ctx, marked, opt)
	if err != nil {
		return nil, nil, err
	}
	row, err := l.read(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	at := opt.sort.place(row)
	return s, &at, nil
}

// listPrinter prints rows as text or JSON.
type listPrinter struct {
	c     *cli
	l     *lister
	names *labels
	out   *jsonStream // nil for text
}

func (c *cli) listPrinter(l *lister) *listPrinter {
	p := &listPrinter{c: c, l: l, names: newLabels(l.s)}
	if c.global.json {
		p.out = c.stream()
		p.out.field("commit", jsonCID(l.s.CID()))
		if l.opt.edges {
			p.out.list("edges")
		} else {
			p.out.list("nodes")
		}
	}
	return p
}

// edgeJSON is an edge as ls prints it.
type edgeJSON struct {
	ID        string          `json:"id"`
	Key       *string         `json:"key"`
	Type      string          `json:"type"`
	Src       string          `json:"src"`
	SrcKey    *string         `json:"src_key"`
	Dst       string          `json:"dst"`
	DstKey    *string         `json:"dst_key"`
	Weight    ops.Weight      `json:"weight"`
	Props     json.RawMessage `json:"props"`
	Created   string          `json:"created"`
	ValidFrom *string         `json:"validFrom"`
	ValidTo   *string         `json:"validTo"`
	Sources   []string        `json:"sources"`
	Mark      *ops.Mark       `json:"mark"`
	CID       string          `json:"cid"`
}

func (p *listPrinter) row(ctx context.Context, id graph.ID) error {
	row, err := p.l.read(ctx, id)
	if err != nil {
		return err
	}
	if row.edge != nil {
		return p.edge(ctx, row)
	}
	if p.out != nil {
		return p.out.item(ops.NodeOf(row.node, row.cid, row.mark))
	}
	n, c := row.node, p.c
	return c.printf("%s\n", joinText(c.paint(styleBold, label(n)), line(n.Type), stateText(row.mark),
		c.paint(styleDim, brief(n.Summary, summaryWidth))))
}

func (p *listPrinter) edge(ctx context.Context, row *listRow) error {
	e := row.edge
	if p.out == nil {
		src, err := p.names.label(ctx, e.Src)
		if err != nil {
			return err
		}
		dst, err := p.names.label(ctx, e.Dst)
		if err != nil {
			return err
		}
		return p.c.printf("%s\n", joinText(edgeText(e, src, dst), stateText(row.mark)))
	}
	v := edgeJSON{
		ID: e.ID.String(), Key: orNull(e.Key), Type: e.Type, Src: e.Src.String(),
		Dst: e.Dst.String(), Weight: ops.Weight(e.Weight), Props: jsonProps(e.Props),
		Created: e.Created.String(), ValidFrom: jsonTime(e.ValidFrom),
		ValidTo: jsonTime(e.ValidTo), Sources: append([]string{}, e.Sources...),
		Mark: ops.MarkOf(row.mark), CID: row.cid.String(),
	}
	var err error
	if v.SrcKey, err = p.names.key(ctx, e.Src); err != nil {
		return err
	}
	if v.DstKey, err = p.names.key(ctx, e.Dst); err != nil {
		return err
	}
	return p.out.item(v)
}

// end ends the list; next is the cursor of what follows, "" for nothing.
func (p *listPrinter) end(next string) error {
	if p.out != nil {
		p.out.endList()
		p.out.field("next", orNull(next))
		return p.out.end()
	}
	if next != "" {
		p.c.remark("more follows: --after %s", next)
	}
	return nil
}

// stateText is a mark's state in brackets, "" for none.
func stateText(m *graph.Mark) string {
	if m == nil {
		return ""
	}
	return "[" + string(m.State) + "]"
}

// joinText joins what is not empty.
func joinText(parts ...string) string {
	var given []string
	for _, p := range parts {
		if p != "" {
			given = append(given, p)
		}
	}
	return strings.Join(given, "  ")
}
