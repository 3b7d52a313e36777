package cli

import (
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

func (c *cli) printStatus(st *ops.Status) error {
	head := "no commit yet"
	if st.Head.Defined() {
		head = "at " + c.paint(styleYellow, shortCID(st.Head))
	}
	where := "on branch " + c.paint(styleCyan, line(string(st.Branch))) + ", " + head
	if st.Branch == "" {
		where = "HEAD is " + head + " and on no branch"
	}
	if err := c.printf("%s\n", where); err != nil {
		return err
	}
	if f := st.Following; f != nil {
		if err := c.printFollowed(f); err != nil {
			return err
		}
	}
	if err := c.printUnmerged(st); err != nil {
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
	return c.printShort(st.Short, st.Nodes, st.Edges)
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
// their ends.
func (c *cli) printShort(list []ops.ShortChange, nodes, edges repo.Counts) error {
	var rows [][]cell
	for _, one := range list {
		letter, style := changeLetter(one.Change)
		about := brief(one.About, summaryWidth)
		if one.Item == graph.KindEdge {
			about = "-> " + brief(line(one.About), nameWidth)
		}
		rows = append(rows, []cell{{letter, style}, {one.Item, ""}, {brief(one.Type, typeWidth), styleCyan},
			{brief(line(one.Name), nameWidth), styleBold}, {about, ""}})
	}
	all := nodes.Added + nodes.Changed + nodes.Removed + edges.Added + edges.Changed + edges.Removed
	if err := c.table(rows); err != nil || all == len(rows) {
		return err
	}
	return c.printf("… and %d more\n", all-len(rows))
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
