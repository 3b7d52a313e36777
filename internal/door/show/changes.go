package show

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/verb/editing"
	"github.com/mnem-project/mnem/internal/verb/reading"
	"github.com/mnem-project/mnem/internal/verb/remembering"
	"github.com/mnem-project/mnem/ipld"
)

// Committed prints what commit or restore did.
func (c *Console) Committed(answer any) error {
	switch a := answer.(type) {
	case *editing.Committed:
		return c.printCommit(a)
	case *editing.KeptCommit:
		c.printConflicts(a.Conflicts)
		return c.failed()
	case *editing.Marked:
		return c.Marked(a)
	}
	return c.PrintJSON(answer)
}

func (c *Console) printCommit(a *editing.Committed) error {
	c.warnSecrets(a.Warnings)
	more := repeats(a.Duplicates, a.Unchanged)
	switch {
	case a.NoChange:
		return c.Printf("nothing to commit%s\n", more)
	case a.DryRun:
		if err := c.printShort(a.Short, a.Nodes, a.Edges); err != nil {
			return err
		}
		return c.Printf("would commit %s%s\n", c.changes(a.Nodes, a.Edges), more)
	}
	return c.Printf("%s %s%s\n", c.at(a.Branch, a.Commit), c.changes(a.Nodes, a.Edges), more)
}

// repeats tells how many lines said what was known already.
func repeats(duplicates, unchanged int) string {
	text := ""
	if duplicates > 0 {
		text += fmt.Sprintf(", %s", plural(duplicates, "duplicate"))
	}
	if unchanged > 0 {
		text += fmt.Sprintf(", %d unchanged", unchanged)
	}
	return text
}

// Stage prints what is staged after a change of it.
func (c *Console) Stage(s *editing.StageEdited) error {
	for _, name := range s.Missing {
		c.Remark("note: there is no node %s yet; committing needs one", line(name))
	}
	c.warnSecrets(s.Warnings)
	more := repeats(s.Duplicates, s.Unchanged)
	if s.Nodes.Zero() && s.Edges.Zero() {
		return c.Printf("nothing staged in %s%s\n", line(s.Stage), more)
	}
	return c.Printf("staged in %s: %s%s\n", line(s.Stage), c.changes(s.Nodes, s.Edges), more)
}

// maxWarned is how many warnings people are shown.
const maxWarned = 10

// warnSecrets tells people what looks like credentials in what was written.
func (c *Console) warnSecrets(list editing.Warnings) {
	for _, w := range list[:min(len(list), maxWarned)] {
		c.Remark("warning: %s", line(w.Message))
	}
	if n := len(list) - maxWarned; n > 0 {
		c.Remark("warning: %d more; --json lists them", n)
	}
	if slices.ContainsFunc(list, func(w editing.Warning) bool { return w.Code == editing.CodeSecret }) {
		c.Remark("hint: %s", editing.SecretRemedy)
	}
}

// changedPart are nodes of which an answer says the same.
type changedPart struct {
	ids  []graph.ID
	what string
}

// Marked prints what a verb that marks nodes did.
func (c *Console) Marked(m *editing.Marked) error {
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
func (c *Console) Pinned(p *editing.PinChanged) error {
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
func (c *Console) printParts(labels map[string]reading.NodeName, parts ...changedPart) error {
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

// Reviewed prints what is to be reviewed, or what was decided.
func (c *Console) Reviewed(q *remembering.ReviewRequest, r *remembering.Reviewed) error {
	c.warnSecrets(r.Warnings)
	changed := len(r.Dropped) + len(r.Pinned) + len(r.Edited)
	switch {
	case len(r.Items) == 0 && changed+len(r.Kept)+len(r.Already) == 0 && !q.Rest:
		return c.Printf("nothing to review\n")
	case len(r.Items) > 0:
		rows := [][]Cell{}
		for _, it := range r.Items {
			rows = append(rows, []Cell{
				{nodeLabel(it.Key, it.ID), Bold}, {word(it.Type), ""},
				{it.Created.String(), Dim}, {brief(it.Text, SummaryWidth), ""},
			})
		}
		c.Remark("%d to review; --keep, --drop, --pin, --edit and --rest decide", r.Left)
		return c.Table(rows)
	}
	err := c.printParts(r.Labels, changedPart{r.Dropped, "forgotten"}, changedPart{r.Pinned, "pinned"},
		changedPart{r.Edited, "edited"}, changedPart{r.Already, "as it was"})
	if err == nil && len(r.Kept) > 0 {
		err = c.Printf("%d kept\n", len(r.Kept))
	}
	if err == nil && changed > 0 {
		err = c.printCommitOf(plural(changed, "change"), false, r.DryRun, r.Branch, r.Commit)
	}
	if err != nil {
		return err
	}
	return c.Printf("%d left to review\n", r.Left)
}

func (c *Console) HalfLives(h *remembering.HalfLives) error {
	var rows [][]Cell
	for _, typ := range slices.Sorted(maps.Keys(h.HalfLives)) {
		from := "built in"
		if slices.Contains(h.Own, typ) {
			from = "own"
		}
		rows = append(rows, []Cell{
			{line(typ), Bold}, {plural(h.HalfLives[typ], "day"), ""}, {from, Dim},
		})
	}
	rows = append(rows, []Cell{{"*", Bold}, {plural(h.Other, "day"), ""}, {"built in", Dim}})
	if err := c.Table(rows); err != nil || h.Branch == "" {
		return err // nothing was asked to be written
	}
	switch {
	case h.NoChange:
		return c.Printf("nothing to commit\n")
	case h.DryRun:
		return c.Printf("would commit half-lives\n")
	}
	return c.Printf("%s half-lives\n", c.at(h.Branch, h.Commit))
}
