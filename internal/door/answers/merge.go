package answers

import (
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/ipld"
)

// MergeAnswer prints what merge did, or what is in progress.
func MergeAnswer(c *show.Console, answer any) error {
	switch a := answer.(type) {
	case *branching.Merged:
		return Merged(c, a)
	case *branching.Pending:
		return printPending(c, a)
	}
	return c.PrintJSON(answer)
}

// Merged prints what a merge, a revert or a cherry-pick did.
func Merged(c *show.Console, m *branching.Merged) error {
	warnSecrets(c, m.Warnings)
	PrintConflicts(c, m.Conflicts)
	if m.VectorsDropped > 0 {
		c.Remark("note: %s of changed text dropped: embed again", show.Plural(m.VectorsDropped, "vector"))
	}
	would := ""
	if m.DryRun {
		would = "would be "
	}
	branch, at := c.Paint(show.Cyan, show.Line(m.Branch)), c.Commit(m.Commit)
	counts := c.Changes(m.Nodes, m.Edges)
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

// PrintConflicts prints conflicts for people: an item a line, then its fields.
func PrintConflicts(c *show.Console, list []core.Conflict) {
	for _, con := range list {
		state := c.Paint(show.Red, string(con.Kind))
		if con.Resolution != "" {
			state = c.Paint(show.Green, "resolved: "+con.Resolution)
		}
		c.Put("%s  %s  %s\n", state, con.Item, show.Line(con.Label))
		for _, f := range con.Fields {
			c.Put("  %s: ours %s, theirs %s, base %s\n", show.Line(f.Field), shownField(f.Ours),
				shownField(f.Theirs), shownField(f.Base))
		}
	}
}

// printPending prints a merge in progress and what was kept.
func printPending(c *show.Console, p *branching.Pending) error {
	switch {
	case p.Aborted != "":
		return c.Printf("forgot the merge into %s\n", show.Line(p.Aborted))
	case p.Forgot != "":
		return c.Printf("forgot %s\n", show.Line(p.Forgot))
	case p.Verb == "" && len(p.Kept) == 0:
		return c.Printf("no merge in progress\n")
	}
	if p.Verb != "" {
		c.Put("%s into %s: %s, %d open\n", p.Verb, show.Line(p.Branch), show.Plural(len(p.Conflicts), "conflict"), p.Open)
		PrintConflicts(c, p.Conflicts)
	}
	for _, k := range p.Kept {
		c.Put("kept for %s: %s\n", show.Line(k.Branch), show.Line(string(k.Ref)))
	}
	return c.Failed()
}

// shownField is one value of a field for people, nil for none.
func shownField(v *ipld.Value) string {
	if v == nil {
		return "none"
	}
	return show.Brief(string(ipld.AppendJSON(nil, *v)), show.SummaryWidth)
}
