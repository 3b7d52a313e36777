package show

import (
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/internal/verb/reading"
)

func (c *Console) Status(st *branching.Status) error {
	head := "no commit yet"
	if st.Head.Defined() {
		head = "at " + c.commit(st.Head)
	}
	where := "on branch " + c.Paint(Cyan, line(string(st.Branch))) + ", " + head
	if st.Branch == "" {
		where = "HEAD is " + head + " and on no branch"
	}
	c.put("%s\n", where)
	if st.Client != "" {
		c.put("as client %s\n", line(st.Client))
	}
	if f := st.Following; f != nil {
		if err := c.Followed(f); err != nil {
			return err
		}
	}
	c.printUnmerged(st)
	if !st.Staged {
		return c.Printf("nothing staged\n")
	}
	c.put("staged in %s: %s\n", line(st.Stage), c.changes(st.Nodes, st.Edges))
	if st.Base != st.Head {
		c.put("the branch has moved since: the stage began at %s and will be merged\n",
			c.commit(st.Base))
	}
	return c.printShort(st.Short, st.Nodes, st.Edges)
}

// printUnmerged prints what waits for someone to decide about it.
func (c *Console) printUnmerged(st *branching.Status) {
	if m := st.Merge; m != nil {
		next := "'mnem merge --list' shows them"
		if m.Open == 0 {
			next = "end it with 'mnem merge --continue'"
		}
		c.put("%s in progress: %s, %d open; %s\n", m.Verb,
			plural(m.Conflicts, "conflict"), m.Open, next)
	}
	for _, k := range st.Kept {
		c.put("kept, as it did not merge: %s; 'mnem merge' it to resolve what conflicts\n",
			line(k.Ref))
	}
}

// printShort prints the first items that differ, one a line: nodes by type and name, edges by
// their ends.
func (c *Console) printShort(list []reading.ShortChange, nodes, edges state.Counts) error {
	var rows [][]Cell
	for _, one := range list {
		letter, style := changeLetter(one.Change)
		about := brief(one.About, SummaryWidth)
		if one.Item == graph.KindEdge {
			about = "-> " + brief(line(one.About), nameWidth)
		}
		rows = append(rows, []Cell{{letter, style}, {one.Item, ""}, {brief(one.Type, typeWidth), Cyan},
			{brief(line(one.Name), nameWidth), Bold}, {about, ""}})
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
		return "A", Green
	case state.Removed:
		return "D", Red
	}
	return "M", Yellow
}
