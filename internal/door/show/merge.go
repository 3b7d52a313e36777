package show

import (
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/internal/verb/reading"
)

// MergeAnswer prints what merge did, or what is in progress.
func (c *Console) MergeAnswer(answer any) error {
	switch a := answer.(type) {
	case *branching.Merged:
		return c.Merged(a)
	case *branching.Pending:
		return c.printPending(a)
	}
	return c.PrintJSON(answer)
}

// Merged prints what a merge, a revert or a cherry-pick did.
func (c *Console) Merged(m *branching.Merged) error {
	c.warnSecrets(m.Warnings)
	c.printConflicts(m.Conflicts)
	if m.VectorsDropped > 0 {
		c.Remark("note: %s of changed text dropped: embed again", plural(m.VectorsDropped, "vector"))
	}
	would := ""
	if m.DryRun {
		would = "would be "
	}
	branch, at := c.Paint(Cyan, line(m.Branch)), c.commit(m.Commit)
	counts := c.changes(m.Nodes, m.Edges)
	switch {
	case m.NoChange:
		return c.Printf("nothing to do: %s has all of it\n", branch)
	case !m.Commit.Defined():
		return nil
	case m.FastForward:
		return c.Printf("[%s %s] %sfast-forward: %s\n", branch, at, would, counts)
	case m.DryRun:
		return c.Printf("[%s] would be %s\n", branch, counts)
	}
	return c.Printf("[%s %s] %s\n", branch, at, counts)
}

// printConflicts prints conflicts for people: an item a line, then its fields.
func (c *Console) printConflicts(list []reading.Conflict) {
	for _, con := range list {
		state := c.Paint(Red, string(con.Kind))
		if con.Resolution != "" {
			state = c.Paint(Green, "resolved: "+string(con.Resolution))
		}
		c.put("%s  %s  %s\n", state, con.Item, line(con.Label))
		for _, f := range con.Fields {
			c.put("  %s: ours %s, theirs %s, base %s\n", line(f.Field), shownField(f.Ours),
				shownField(f.Theirs), shownField(f.Base))
		}
	}
}

// printPending prints a merge in progress and what was kept.
func (c *Console) printPending(p *branching.Pending) error {
	switch {
	case p.Aborted != "":
		return c.Printf("forgot the merge into %s\n", line(p.Aborted))
	case p.Forgot != "":
		return c.Printf("forgot %s\n", line(p.Forgot))
	case p.Verb == "" && len(p.Kept) == 0:
		return c.Printf("no merge in progress\n")
	}
	if p.Verb != "" {
		c.put("%s into %s: %s, %d open\n", p.Verb, line(string(p.Branch)), plural(len(p.Conflicts), "conflict"), p.Open)
		c.printConflicts(p.Conflicts)
	}
	for _, k := range p.Kept {
		c.put("kept for %s: %s\n", line(k.Branch), line(k.Ref))
	}
	return c.failed()
}

// shownField is one value of a field for people, nil for none.
func shownField(v verb.Raw) string {
	if v == nil {
		return "none"
	}
	return brief(string(v), SummaryWidth)
}
