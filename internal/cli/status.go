package cli

import (
	"context"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

// shortLimit is how many items a short list shows.
const shortLimit = 40

func (c *cli) printStatus(st *ops.Status) error {
	head := "no commit yet"
	if st.Head.Defined() {
		head = "at " + c.paint(styleYellow, shortCID(st.Head))
	}
	where := "on branch " + c.paint(styleCyan, line(string(st.Branch))) + ", " + head
	if st.Branch == "" {
		where = "HEAD is " + head + " and on no branch"
	}
	if err := firstError(c.printf("%s\n", where), c.printUnmerged(st)); err != nil {
		return err
	}
	if !st.Staged {
		return c.printf("nothing staged\n")
	}
	if err := c.printf("staged in %s: %s, %s\n", line(st.Stage), c.countsLine(st.Nodes, "nodes"),
		c.countsLine(st.Edges, "edges")); err != nil {
		return err
	}
	if st.Base != st.Head {
		if err := c.printf("the branch has moved since: the stage began at %s and will be merged\n",
			c.paint(styleYellow, shortCID(st.Base))); err != nil {
			return err
		}
	}
	return c.printShort(c.doing.ctx, *st.Diff, st.Nodes, st.Edges, st.Before)
}

// printUnmerged prints what waits for someone to decide about it.
func (c *cli) printUnmerged(st *ops.Status) error {
	if m := st.Merge; m != nil {
		next := "'mnem merge --list' shows them"
		if m.Open == 0 {
			next = "end it with 'mnem merge --continue'"
		}
		if err := c.printf("%s in progress: %s, %d open; %s\n", m.Verb,
			plural(m.Conflicts, "conflict"), m.Open, next); err != nil {
			return err
		}
	}
	for _, k := range st.Kept {
		if err := c.printf("kept, as it did not merge: %s; 'mnem merge' it to resolve what conflicts\n",
			line(k.Ref)); err != nil {
			return err
		}
	}
	return nil
}

// printShort prints the first items that differ, one a line: nodes by type and name, edges by
// their ends, which before names where the difference does not.
func (c *cli) printShort(
	ctx context.Context, d repo.Diff, nodes, edges repo.Counts, before *repo.Snapshot,
) error {
	names := newLabels(before)
	var rows [][]cell
	row := func(kind repo.ChangeKind, cells ...cell) (more bool) {
		letter, style := changeLetter(kind)
		rows = append(rows, append([]cell{{letter, style}}, cells...))
		return len(rows) < shortLimit
	}
	for n, err := range d.Nodes(ctx) {
		if err != nil {
			return err
		}
		node := n.Node()
		names.Remember(node)
		if !row(n.Kind, cell{"node", ""}, cell{brief(node.Type, typeWidth), styleCyan},
			cell{brief(label(node), nameWidth), styleBold},
			cell{brief(node.Summary, summaryWidth), ""}) {
			break
		}
	}
	for e, err := range d.Edges(ctx) {
		if err != nil {
			return err
		}
		if len(rows) == shortLimit {
			break
		}
		src, dst, err := edgeEnds(ctx, names, e.Edge())
		if err != nil {
			return err
		}
		row(e.Kind, cell{"edge", ""}, cell{brief(e.Edge().Type, typeWidth), styleCyan},
			cell{brief(src, nameWidth), styleBold}, cell{"-> " + brief(dst, nameWidth), ""})
	}
	all := nodes.Added + nodes.Changed + nodes.Removed + edges.Added + edges.Changed + edges.Removed
	if err := c.table(rows); err != nil || all == len(rows) {
		return err
	}
	return c.printf("… and %d more\n", all-len(rows))
}

func edgeEnds(ctx context.Context, names *labels, e *graph.Edge) (src, dst string, err error) {
	if src, err = names.label(ctx, e.Src); err != nil {
		return "", "", err
	}
	dst, err = names.label(ctx, e.Dst)
	return src, dst, err
}

// typeWidth and nameWidth are how many characters of a type and of a key a list shows.
const (
	typeWidth = 24
	nameWidth = 40
)

func changeLetter(kind repo.ChangeKind) (letter, style string) {
	switch kind {
	case repo.Added:
		return "A", styleGreen
	case repo.Removed:
		return "D", styleRed
	}
	return "M", styleYellow
}
