package show

import (
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ops"
)

// changedPart are nodes of which an answer says the same.
type changedPart struct {
	ids  []graph.ID
	what string
}

// Marked prints what a verb that marks nodes did.
func (c *Console) Marked(m *ops.Marked) error {
	c.warnSecrets(m.Warnings)
	state, already := "", "no mark"
	if m.State != nil {
		state = string(*m.State)
		already = state + " already"
	}
	err := c.printParts(m.Labels, changedPart{m.Marked, state}, changedPart{m.Unmarked, "unmarked"},
		changedPart{m.Already, already})
	if err != nil {
		return err
	}
	what := plural(len(m.Marked)+len(m.Unmarked), "mark")
	return c.printCommitOf(what, m.NoChange, m.DryRun, m.Branch, m.Commit)
}

// Pinned prints what pin or unpin did.
func (c *Console) Pinned(p *ops.PinChanged) error {
	c.warnSecrets(p.Warnings)
	what, already := "pinned", "pinned already"
	if !p.Pinned {
		what, already = "unpinned", "not pinned"
	}
	if err := c.printParts(p.Labels, changedPart{p.Changed, what}, changedPart{p.Already, already}); err != nil {
		return err
	}
	return c.printCommitOf(plural(len(p.Changed), "node"), p.NoChange, p.DryRun, p.Branch, p.Commit)
}

// printParts prints each node with what became of it.
func (c *Console) printParts(labels map[string]ops.NodeName, parts ...changedPart) error {
	for _, part := range parts {
		for _, id := range part.ids {
			about := ""
			if n, ok := labels[id.String()]; ok {
				about = nodeLabel(n.Key, n.ID) + "  " + c.Paint(Dim, brief(string(n.Summary), SummaryWidth))
			}
			c.put("%s  %s\n", part.what, strings.TrimRight(about, " "))
		}
	}
	return nil
}

// printCommitOf prints the commit of what was changed, if there is one.
func (c *Console) printCommitOf(what string, noChange, dryRun bool, branch string, commit ipld.CID) error {
	switch {
	case noChange:
		return c.Printf("nothing to commit\n")
	case dryRun:
		return c.Printf("would commit %s\n", what)
	}
	return c.Printf("%s %s\n", c.at(branch, commit), what)
}
