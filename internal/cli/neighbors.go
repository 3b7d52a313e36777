package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

const (
	defaultNeighbors = 100
	maxNeighbors     = 100_000
)

// neighborOptions say which edges of a node are wanted.
type neighborOptions struct {
	out, in bool
	types   []string // any of which; empty for all
	limit   int      // in each direction, 0 for all up to maxNeighbors
	let     []graph.State
	derived bool // mentions too
}

// neighbor is one edge of a node and the node at its other end.
type neighbor struct {
	entry adjacency.Entry
	node  *graph.Node // only what labels keep
}

// neighborhood is what is next to a node.
type neighborhood struct {
	out, in         []neighbor
	moreOut, moreIn uint64 // edges that follow, hidden ones included

	derived      bool // whether these were asked for
	mentions, by []*graph.Node
}

func (c *cli) neighborsCommand() *cobra.Command {
	var opt neighborOptions
	var both bool
	var marks []string
	cmd := &cobra.Command{
		Use:     "neighbors NODE [flags]",
		GroupID: groupRead,
		Short:   "List the edges of a node and the nodes next to it",
		Long: "List the edges of a node in order of type and other end: outgoing ones (->), then incoming\n" +
			"ones (<-). NODE is a key, an id, or at least 4 digits of an id.\n\n" +
			"With --derived the links that texts make follow: nodes whose titles (short summaries) stand\n" +
			"in the node's content, and nodes whose contents have its title. 'mnem retrieve' follows them\n" +
			"like edges; they are not stored.",
		Example: "  mnem neighbors alice\n  mnem neighbors svc/billing --in --type owns\n" +
			"  mnem neighbors alice --out --limit 5 --json\n  mnem neighbors alice --derived",
		Args: cobra.ExactArgs(1),
	}
	c.atFlag(cmd)
	f := cmd.Flags()
	f.BoolVar(&opt.out, "out", false, "edges from the node only")
	f.BoolVar(&opt.in, "in", false, "edges to the node only")
	f.BoolVar(&both, "both", false, "edges in both directions (the default)")
	f.StringArrayVar(&opt.types, "type", nil, "only edges of this `TYPE` (repeatable)")
	f.IntVar(&opt.limit, "limit", defaultNeighbors, "at most `N` edges in each direction; 0 for all")
	f.BoolVar(&opt.derived, "derived", false, "nodes linked by mentions of titles too")
	marksFlag(cmd, &marks)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		if err := needOne(cmd, "out", "in", "both"); err != nil {
			return err
		}
		if opt.derived && len(opt.types) > 0 {
			return usagef("--type is about edges, which mentions are not: leave out --type or --derived")
		}
		if err := checkRange("limit", opt.limit, 0, maxNeighbors); err != nil {
			return err
		}
		if !opt.out && !opt.in {
			opt.out, opt.in = true, true
		}
		var err error
		if opt.let, err = parseMarks(marks); err != nil {
			return err
		}
		return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			return c.neighbors(ctx, r, args[0], opt)
		})
	})
}

func (c *cli) neighbors(
	ctx context.Context, r *repo.Repo, name string, opt neighborOptions,
) error {
	s, err := c.snapshot(ctx, r)
	if err != nil {
		return err
	}
	id, err := s.Name(ctx, name)
	if err != nil {
		return ops.NodeHint(err)
	}
	near, err := readNeighbors(ctx, s, id, opt)
	if err != nil {
		return err
	}
	n, _, err := s.Node(ctx, id)
	if err == nil && opt.derived {
		err = near.readDerived(ctx, s, n, opt)
	}
	if err != nil {
		return err
	}
	if !c.global.json {
		return c.printNeighbors(near)
	}
	return c.printJSON(struct {
		Commit *string `json:"commit"`
		ID     string  `json:"id"`
		Key    *string `json:"key"`
		neighborsJSON
	}{jsonCID(s.CID()), id.String(), orNull(n.Key), near.json()})
}

// readNeighbors reads what is next to a node, in the order of its buckets.
func readNeighbors(
	ctx context.Context, s *repo.Snapshot, id graph.ID, opt neighborOptions,
) (*neighborhood, error) {
	near := &neighborhood{}
	names := newLabels(s)
	var err error
	if opt.out {
		near.out, near.moreOut, err = readBucket(ctx, s, names, id, adjacency.Out, opt)
	}
	if opt.in && err == nil {
		near.in, near.moreIn, err = readBucket(ctx, s, names, id, adjacency.In, opt)
	}
	return near, err
}

func readBucket(
	ctx context.Context, s *repo.Snapshot, names *labels, id graph.ID, side adjacency.Direction,
	opt neighborOptions,
) (list []neighbor, more uint64, err error) {
	types, limit := sortedNames(opt.types), opt.limit
	if len(types) == 0 {
		types = []string{""}
	}
	if limit == 0 {
		limit = maxNeighbors
	}
	trees, see := s.Adjacency(), visible{s, opt.let}
	for _, typ := range types {
		total, err := trees.Degree(ctx, id, side, typ)
		if err != nil {
			return nil, 0, err
		}
		more += total
		for e, err := range trees.Bucket(ctx, id, side, typ, nil) {
			if err != nil {
				return nil, 0, err
			}
			if len(list) == limit {
				break
			}
			more--
			ok, err := see.edge(ctx, e.Edge, e.Other)
			if err != nil {
				return nil, 0, err
			}
			if !ok {
				continue
			}
			n, err := names.node(ctx, e.Other)
			if err != nil {
				return nil, 0, err
			}
			list = append(list, neighbor{e, n})
		}
	}
	return list, more, nil
}

// readDerived reads the nodes that mentions link to n.
func (near *neighborhood) readDerived(
	ctx context.Context, s *repo.Snapshot, n *graph.Node, opt neighborOptions,
) error {
	see := visible{s, opt.let}
	mentioned, by, err := s.Mentions(ctx, n, see.node)
	if err != nil {
		return err
	}
	near.derived = true
	for _, list := range []struct {
		want bool
		ids  []graph.ID
		to   *[]*graph.Node
	}{{opt.out, mentioned, &near.mentions}, {opt.in, by, &near.by}} {
		if !list.want {
			continue
		}
		for _, id := range list.ids {
			other, _, err := s.Node(ctx, id)
			if err != nil {
				return err
			}
			*list.to = append(*list.to, other)
		}
	}
	return nil
}

// neighborsJSON is the JSON form of a neighborhood.
type neighborsJSON struct {
	Out     []neighborJSON `json:"out"`
	In      []neighborJSON `json:"in"`
	MoreOut uint64         `json:"more_out"`
	MoreIn  uint64         `json:"more_in"`

	Mentions *[]mentionJSON `json:"mentions,omitempty"` // where --derived asks for them
	By       *[]mentionJSON `json:"mentioned_by,omitempty"`
}

// mentionJSON is a node that a mention links to another.
type mentionJSON struct {
	ID       string  `json:"id"`
	Key      *string `json:"key"`
	NodeType string  `json:"node_type"`
	Summary  *string `json:"summary"`
}

func jsonMentions(list []*graph.Node) *[]mentionJSON {
	out := make([]mentionJSON, len(list))
	for i, n := range list {
		out[i] = mentionJSON{n.ID.String(), orNull(n.Key), n.Type, orNull(n.Summary)}
	}
	return &out
}

type neighborJSON struct {
	Type     string     `json:"type"`
	Edge     string     `json:"edge"`
	ID       string     `json:"id"`
	Key      *string    `json:"key"`
	NodeType *string    `json:"node_type"`
	Summary  *string    `json:"summary"`
	Weight   ops.Weight `json:"weight"`
}

func (n *neighborhood) json() neighborsJSON {
	out := neighborsJSON{
		Out: jsonNeighbors(n.out), In: jsonNeighbors(n.in), MoreOut: n.moreOut, MoreIn: n.moreIn,
	}
	if n.derived {
		out.Mentions, out.By = jsonMentions(n.mentions), jsonMentions(n.by)
	}
	return out
}

func jsonNeighbors(list []neighbor) []neighborJSON {
	out := make([]neighborJSON, len(list))
	for i, n := range list {
		out[i] = neighborJSON{
			Type: n.entry.Type, Edge: n.entry.Edge.String(), ID: n.entry.Other.String(),
			Weight: ops.Weight(n.entry.Weight),
		}
		if n.node != nil {
			out[i].Key, out[i].NodeType = orNull(n.node.Key), orNull(n.node.Type)
			out[i].Summary = orNull(n.node.Summary)
		}
	}
	return out
}

func (c *cli) printNeighbors(near *neighborhood) error {
	var rows [][]cell
	rows = appendNeighbors(rows, "->", near.out)
	rows = appendNeighbors(rows, "<-", near.in)
	rows = appendMentions(rows, "~>", near.mentions)
	rows = appendMentions(rows, "<~", near.by)
	if err := c.table(rows); err != nil {
		return err
	}
	if near.moreOut > 0 {
		if err := c.printf("->  ... (+%d more)\n", near.moreOut); err != nil {
			return err
		}
	}
	if near.moreIn > 0 {
		return c.printf("<-  ... (+%d more)\n", near.moreIn)
	}
	return nil
}

func appendNeighbors(rows [][]cell, arrow string, list []neighbor) [][]cell {
	for _, n := range list {
		row := []cell{{arrow, styleDim}, {line(n.entry.Type), styleCyan}}
		if n.node == nil {
			rows = append(rows, append(row, cell{n.entry.Other.String(), ""}))
			continue
		}
		rows = append(rows, append(row, cell{label(n.node), styleBold}, cell{line(n.node.Type), ""},
			cell{brief(n.node.Summary, summaryWidth), styleDim}))
	}
	return rows
}

func appendMentions(rows [][]cell, arrow string, list []*graph.Node) [][]cell {
	for _, n := range list {
		rows = append(rows, []cell{{arrow, styleDim}, {"mentions", styleDim}, {label(n), styleBold},
			{line(n.Type), ""}, {brief(n.Summary, summaryWidth), styleDim}})
	}
	return rows
}
