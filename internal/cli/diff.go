package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

// diffOptions say what of a difference is printed.
type diffOptions struct {
	staged bool
	stat   bool
	types  []string // of nodes and edges, any of which; empty for all
}

func (o *diffOptions) wants(typ string) bool {
	return len(o.types) == 0 || slices.Contains(o.types, typ)
}

// comparison is a difference and what it is between.
type comparison struct {
	repo.Diff
	from, to *repo.Snapshot // to is nil for a stage
	stage    string         // "" for none
}

func (c *cli) diffCommand() *cobra.Command {
	var opt diffOptions
	cmd := &cobra.Command{
		Use:     "diff [A [B]] [flags]",
		GroupID: groupRead,
		Short:   "Show what differs between two commits, or what is staged",
		Long: "Show the nodes and edges that were added (+), changed (~) or removed (-), with their fields\n" +
			"and properties.\n\n" +
			"  mnem diff A B      from A to B (also A..B)\n" +
			"  mnem diff A        from A to HEAD\n" +
			"  mnem diff          what is staged, or else from HEAD~1 to HEAD\n" +
			"  mnem diff --staged from the commit that the stage builds on to the stage",
		Example: "  mnem diff\n  mnem diff HEAD~1 HEAD --type Person\n  mnem diff HEAD~1 --stat\n" +
			"  mnem diff --staged --json",
		Args:              cobra.MaximumNArgs(2),
		ValidArgsFunction: c.completeArg(completeRevs),
	}
	c.stageFlag(cmd)
	f := cmd.Flags()
	f.BoolVar(&opt.staged, "staged", false, "show what is staged")
	f.BoolVar(&opt.stat, "stat", false, "numbers for each type instead of items")
	f.StringArrayVar(&opt.types, "type", nil, "only nodes and edges of this `TYPE` (repeatable)")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("stage") {
			opt.staged = true
		}
		if opt.staged && len(args) > 0 {
			return usagef("--staged and --stage compare with the stage's own base: give no revisions")
		}
		return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			d, err := c.compare(ctx, r, opt, args)
			if err != nil {
				return ops.CommitHint(err)
			}
			return c.diff(ctx, d, opt)
		})
	})
}

func (c *cli) diff(ctx context.Context, d comparison, opt diffOptions) error {
	if c.global.json {
		out := &jsonStream{c: c}
		if err := c.streamDiff(ctx, out, d, opt); err != nil {
			return err
		}
		out.write("\n")
		return out.err
	}
	if opt.stat {
		return c.printStat(ctx, d, opt)
	}
	t, err := c.printDiff(ctx, d, opt)
	if err != nil {
		return err
	}
	p, err := opt.profileDiff(ctx, d.Diff)
	if err != nil {
		return err
	}
	if t.nodes.Zero() && t.edges.Zero() && p.Zero() {
		c.remark("no differences")
		return nil
	}
	n, e := t.nodes, t.edges
	c.remark("nodes +%d ~%d -%d, edges +%d ~%d -%d", n.Added, n.Changed, n.Removed, e.Added,
		e.Changed, e.Removed)
	return nil
}

// compare finds out what the arguments mean.
func (c *cli) compare(
	ctx context.Context, r *repo.Repo, opt diffOptions, args []string,
) (comparison, error) {
	if len(args) == 1 {
		if a, b, ok := strings.Cut(args[0], ".."); ok {
			args = []string{orHead(a), orHead(b)}
		}
	}
	switch len(args) {
	case 2:
		return compareRevs(ctx, r, args[0], args[1])
	case 1:
		return compareRevs(ctx, r, args[0], string(graph.Head))
	}
	status, err := r.Status(ctx, c.stage())
	if err != nil {
		return comparison{}, err
	}
	if status.Staged || opt.staged {
		from, err := r.At(ctx, status.Base)
		return comparison{Diff: status.Diff, from: from, stage: firstOf(c.stage(), repo.DefaultStage)},
			err
	}
	to, err := r.Snapshot(ctx, string(graph.Head))
	if err != nil {
		return comparison{}, err
	}
	from, err := parentOf(ctx, r, to)
	if err != nil {
		return comparison{}, err
	}
	return comparison{Diff: from.Diff(to), from: from, to: to}, nil
}

func orHead(rev string) string { return firstOf(rev, string(graph.Head)) }

func compareRevs(ctx context.Context, r *repo.Repo, a, b string) (comparison, error) {
	from, err := r.Snapshot(ctx, a)
	if err != nil {
		return comparison{}, err
	}
	to, err := r.Snapshot(ctx, b)
	if err != nil {
		return comparison{}, err
	}
	return comparison{Diff: from.Diff(to), from: from, to: to}, nil
}

// labels names the ends of edges. The stage's own nodes have no snapshot: those it adds are named
// from the difference.
func (d *comparison) labels() *labels {
	if d.to == nil {
		return newLabels(d.from)
	}
	return newLabels(d.to, d.from)
}

// tally counts what differs, in all and of each type.
type tally struct {
	nodes, edges         repo.Counts
	nodeTypes, edgeTypes map[string]*repo.Counts
}

func newTally() *tally {
	return &tally{nodeTypes: map[string]*repo.Counts{}, edgeTypes: map[string]*repo.Counts{}}
}

func (t *tally) add(total *repo.Counts, of map[string]*repo.Counts, typ string, k repo.ChangeKind) {
	if of[typ] == nil {
		of[typ] = &repo.Counts{}
	}
	total.Count(k)
	of[typ].Count(k)
}

// eachDiff calls node and edge for what differs and is wanted, and counts it.
func eachDiff(
	ctx context.Context, d comparison, opt diffOptions, node func(*repo.NodeDiff) error,
	edge func(*repo.EdgeDiff) error,
) (*tally, error) {
	t := newTally()
	for n, err := range d.Nodes(ctx) {
		if err != nil {
			return nil, err
		}
		if typ := n.Node().Type; opt.wants(typ) {
			t.add(&t.nodes, t.nodeTypes, typ, n.Kind)
			if err := node(&n); err != nil {
				return nil, err
			}
		}
	}
	for e, err := range d.Edges(ctx) {
		if err != nil {
			return nil, err
		}
		if typ := e.Edge().Type; opt.wants(typ) {
			t.add(&t.edges, t.edgeTypes, typ, e.Kind)
			if err := edge(&e); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

// streamedEdgeJSON adds the names of its ends to an edge that differs.
type streamedEdgeJSON struct {
	edgeDiffJSON
	Key    *string `json:"key"`
	SrcKey *string `json:"src_key"`
	DstKey *string `json:"dst_key"`
}

// streamDiff prints a difference as one JSON object, item by item.
func (c *cli) streamDiff(
	ctx context.Context, out *jsonStream, d comparison, opt diffOptions,
) error {
	out.open("{")
	out.field("from", jsonCID(d.from.CID()))
	var to *string
	if d.to != nil {
		to = jsonCID(d.to.CID())
	}
	out.field("to", to)
	if d.stage != "" {
		out.field("stage", d.stage)
	}
	if opt.stat {
		return c.streamStat(ctx, out, d, opt)
	}
	names := d.labels()
	out.list("nodes")
	inNodes := true
	edge := func(e *repo.EdgeDiff) error {
		if inNodes {
			out.endList()
			out.list("edges")
			inNodes = false
		}
		v, err := jsonEdgeDiff(ctx, names, e)
		if err != nil {
			return err
		}
		return out.item(v)
	}
	t, err := eachDiff(ctx, d, opt, func(n *repo.NodeDiff) error {
		names.Remember(n.Node())
		return out.item(nodeDiffJSON{
			n.ID.String(), orNull(n.Node().Key), n.Node().Type, n.Kind, jsonFields(n.Fields),
		})
	}, edge)
	if err != nil {
		return err
	}
	out.endList()
	if inNodes {
		out.field("edges", []struct{}{})
	}
	out.field("counts", itemCountsJSON{t.nodes, t.edges})
	p, err := opt.profileDiff(ctx, d.Diff)
	if err != nil {
		return err
	}
	if profiles := jsonProfiles(p); profiles != nil {
		out.field("profiles", profiles)
	}
	out.close("}")
	return out.err
}

func jsonEdgeDiff(
	ctx context.Context, names *labels, e *repo.EdgeDiff,
) (*streamedEdgeJSON, error) {
	edge := e.Edge()
	v := &streamedEdgeJSON{edgeDiffJSON: edgeDiffJSON{
		e.ID.String(), edge.Type, edge.Src.String(), edge.Dst.String(), e.Kind,
		jsonFields(edgeFields(e.Fields)),
	}, Key: orNull(edge.Key)}
	var err error
	if v.SrcKey, err = names.key(ctx, edge.Src); err != nil {
		return nil, err
	}
	v.DstKey, err = names.key(ctx, edge.Dst)
	return v, err
}

// edgeFields turns weights into the numbers that change lines have.
func edgeFields(fields []repo.FieldDiff) []repo.FieldDiff {
	for i, f := range fields {
		if f.Field == "weight" {
			fields[i].Old, fields[i].New = weightValue(f.Old), weightValue(f.New)
		}
	}
	return fields
}

func weightValue(v *ipld.Value) *ipld.Value {
	if v == nil || v.Kind() != ipld.Int {
		return v
	}
	number, err := ipld.ParseJSON([]byte(ops.Weight(v.Int()).String()))
	if err != nil {
		return v
	}
	return &number
}

// typeCountsJSON are the counts of one type.
type typeCountsJSON struct {
	Type string `json:"type"`
	repo.Counts
}

func jsonTypes(of map[string]*repo.Counts) []typeCountsJSON {
	out := make([]typeCountsJSON, 0, len(of))
	for _, typ := range sortedKeys(of) {
		out = append(out, typeCountsJSON{typ, *of[typ]})
	}
	return out
}

func (c *cli) streamStat(
	ctx context.Context, out *jsonStream, d comparison, opt diffOptions,
) error {
	t, err := countDiff(ctx, d, opt)
	if err != nil {
		return err
	}
	out.field("node_types", jsonTypes(t.nodeTypes))
	out.field("edge_types", jsonTypes(t.edgeTypes))
	out.field("counts", itemCountsJSON{t.nodes, t.edges})
	out.close("}")
	return out.err
}

func countDiff(ctx context.Context, d comparison, opt diffOptions) (*tally, error) {
	return eachDiff(ctx, d, opt, func(*repo.NodeDiff) error { return nil },
		func(*repo.EdgeDiff) error { return nil })
}

// printDiff prints a difference as text, and counts it.
func (c *cli) printDiff(ctx context.Context, d comparison, opt diffOptions) (*tally, error) {
	names := d.labels()
	t, err := eachDiff(ctx, d, opt, func(n *repo.NodeDiff) error {
		names.Remember(n.Node())
		return c.printItemDiff(n.Kind, "node "+label(n.Node())+" "+line(n.Node().Type), n.Fields)
	}, func(e *repo.EdgeDiff) error {
		src, err := names.label(ctx, e.Edge().Src)
		if err != nil {
			return err
		}
		dst, err := names.label(ctx, e.Edge().Dst)
		if err != nil {
			return err
		}
		text := "edge " + edgeText(e.Edge(), src, dst)
		return c.printItemDiff(e.Kind, text, edgeFields(e.Fields))
	})
	if err != nil {
		return nil, err
	}
	p, err := opt.profileDiff(ctx, d.Diff)
	if err != nil {
		return nil, err
	}
	return t, c.printProfilesDiff(p)
}

// edgeText is what people read of an edge; src and dst are the labels of its ends.
func edgeText(e *graph.Edge, src, dst string) string {
	text := line(e.Type) + " " + src + " -> " + dst
	if e.Key != "" {
		text += " (" + line(e.Key) + ")"
	}
	return text
}

// headFields are in the line of an item already.
var headFields = []string{"key", "type", "src", "dst"}

// changeSign is how people read that an item was added, changed or removed.
func changeSign(k repo.ChangeKind) (sign, style string) {
	switch k {
	case repo.Added:
		return "+", styleGreen
	case repo.Removed:
		return "-", styleRed
	}
	return "~", styleYellow
}

func (c *cli) printItemDiff(k repo.ChangeKind, title string, fields []repo.FieldDiff) error {
	sign, style := changeSign(k)
	if err := c.printf("%s\n", c.paint(style, sign+" "+title)); err != nil {
		return err
	}
	for _, f := range fields {
		if k != repo.Changed && slices.Contains(headFields, f.Field) {
			continue
		}
		var values string
		switch {
		case k == repo.Added:
			values = diffValue(f.New)
		case k == repo.Removed:
			values = diffValue(f.Old)
		default:
			values = c.paint(styleRed, diffValue(f.Old)) + " -> " + c.paint(styleGreen, diffValue(f.New))
		}
		if err := c.printf("  %s: %s\n", line(f.Field), values); err != nil {
			return err
		}
	}
	return nil
}

// diffValue is a value as JSON in one safe line.
func diffValue(v *ipld.Value) string {
	if v == nil {
		return "(none)"
	}
	return line(string(ipld.AppendJSON(nil, *v)))
}

func (c *cli) printStat(ctx context.Context, d comparison, opt diffOptions) error {
	t, err := countDiff(ctx, d, opt)
	if err != nil {
		return err
	}
	for _, part := range []struct {
		what  string
		of    map[string]*repo.Counts
		total repo.Counts
	}{{"node", t.nodeTypes, t.nodes}, {"edge", t.edgeTypes, t.edges}} {
		for _, typ := range sortedKeys(part.of) {
			if err := c.printf("%s\n", c.countsLine(*part.of[typ], part.what+" "+line(typ))); err != nil {
				return err
			}
		}
		if err := c.printf("%s\n", c.countsLine(part.total, part.what+"s in all")); err != nil {
			return err
		}
	}
	return nil
}
