package answers

import (
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/internal/verb/reading"
)

func Status(c *show.Console, st *branching.Status) error {
	head := "no commit yet"
	if st.Head.Defined() {
		head = "at " + c.Commit(st.Head)
	}
	where := "on branch " + c.Paint(show.Cyan, show.Line(string(st.Branch))) + ", " + head
	if st.Branch == "" {
		where = "HEAD is " + head + " and on no branch"
	}
	c.Put("%s\n", where)
	if st.Client != "" {
		c.Put("as client %s\n", show.Line(st.Client))
	}
	if f := st.Following; f != nil {
		if err := Followed(c, f); err != nil {
			return err
		}
	}
	printUnmerged(c, st)
	printSynced(c, st)
	if !st.Staged {
		return c.Printf("nothing staged\n")
	}
	c.Put("staged in %s: %s\n", show.Line(st.Stage), c.Changes(st.Nodes, st.Edges))
	if st.Base != st.Head {
		c.Put("the branch has moved since: the stage began at %s and will be merged\n",
			c.Commit(st.Base))
	}
	return printShort(c, st.Short, st.Nodes, st.Edges)
}

// printSynced prints when remotes were last synced automatically.
func printSynced(c *show.Console, st *branching.Status) {
	for _, s := range st.Synced {
		worked := "not yet synced"
		if s.Worked.Given {
			worked = "synced " + s.Worked.String()
		}
		if s.Failed != "" {
			worked += "; failed " + s.Tried.String() + " (" + show.Word(string(s.Failed)) + "), 'mnem doctor' says why"
		}
		c.Put("%s: %s\n", show.Line(s.Remote), worked)
	}
}

// printUnmerged prints what waits for someone to decide about it.
func printUnmerged(c *show.Console, st *branching.Status) {
	if m := st.Merge; m != nil {
		next := "'mnem merge --list' shows them"
		if m.Open == 0 {
			next = "end it with 'mnem merge --continue'"
		}
		c.Put("%s in progress: %s, %d open; %s\n", m.Verb,
			show.Plural(m.Conflicts, "conflict"), m.Open, next)
	}
	for _, k := range st.Kept {
		c.Put("kept, as it did not merge: %s; 'mnem merge' it to resolve what conflicts\n",
			show.Line(string(k.Ref)))
	}
}

// printShort prints the first items that differ, one a line: nodes by type and name, edges by
// their ends.
func printShort(c *show.Console, list []reading.ShortChange, nodes, edges state.Counts) error {
	var rows [][]show.Cell
	for _, one := range list {
		letter, style := changeLetter(one.Change)
		about := show.Brief(one.About, show.SummaryWidth)
		if one.Item == graph.KindEdge {
			about = "-> " + show.Brief(show.Line(one.About), nameWidth)
		}
		rows = append(rows, []show.Cell{{Text: letter, Style: style}, {Text: one.Item, Style: ""}, {Text: show.Brief(one.Type, typeWidth), Style: show.Cyan},
			{Text: show.Brief(show.Line(one.Name), nameWidth), Style: show.Bold}, {Text: about, Style: ""}})
	}
	all := nodes.Added + nodes.Changed + nodes.Removed + edges.Added + edges.Changed + edges.Removed
	if err := c.Table(rows); err != nil || all == len(rows) {
		return err
	}
	return c.Printf("… and %d more\n", all-len(rows))
}

const typeWidth = 24

const nameWidth = 40

func changeLetter(kind state.ChangeKind) (letter, style string) {
	switch kind {
	case state.Added:
		return "A", show.Green
	case state.Removed:
		return "D", show.Red
	}
	return "M", show.Yellow
}
