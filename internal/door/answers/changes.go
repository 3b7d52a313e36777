package answers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/verb/editing"
	"github.com/mnem-project/mnem/internal/verb/reading"
	"github.com/mnem-project/mnem/internal/verb/remembering"
	"github.com/mnem-project/mnem/ipld"
)

// Committed prints what commit or restore did.
func Committed(c *show.Console, answer any) error {
	switch a := answer.(type) {
	case *editing.Committed:
		return printCommit(c, a)
	case *editing.KeptCommit:
		PrintConflicts(c, a.Conflicts)
		return c.Failed()
	case *editing.Marked:
		return Marked(c, a)
	}
	return c.PrintJSON(answer)
}

func printCommit(c *show.Console, a *editing.Committed) error {
	warnSecrets(c, a.Warnings)
	more := repeats(a.Duplicates, a.Unchanged)
	switch {
	case a.NoChange:
		return c.Printf("nothing to commit%s\n", more)
	case a.DryRun:
		printShort(c, a.Short, a.Nodes, a.Edges)
		return c.Printf("would commit %s%s\n", c.Changes(a.Nodes, a.Edges), more)
	}
	c.Put("%s %s%s\n", c.At(a.Branch, a.Commit), c.Changes(a.Nodes, a.Edges), more)
	if a.Unembedded > core.LeftNodes { // fewer get theirs in a moment
		c.Put("%d nodes have no vectors yet: questions find these by their words, until 'mnem embed' or a server "+
			"('mnem serve', 'mnem mcp') has made them\n", a.Unembedded)
	}
	return c.Failed()
}

// repeats tells how many lines said what was known already.
func repeats(duplicates, unchanged int) string {
	text := ""
	if duplicates > 0 {
		text += ", " + show.Plural(duplicates, "duplicate")
	}
	if unchanged > 0 {
		text += fmt.Sprintf(", %d unchanged", unchanged)
	}
	return text
}

type count struct {
	n    int
	what string
}

// counts names what there is, as "2 added".
func counts(list ...count) (parts []string) {
	for _, one := range list {
		if one.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", one.n, one.what))
		}
	}
	return parts
}

// countsByName names what there is by kind, in the order of the kinds.
func countsByName(kinds map[string]int) (parts []string) {
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		parts = append(parts, fmt.Sprintf("%d %s", kinds[kind], show.Line(kind)))
	}
	return parts
}

// Stage prints what is staged after a change of it.
func Stage(c *show.Console, s *editing.StageEdited) error {
	for _, name := range s.Missing {
		c.Remark("note: there is no node %s yet; committing needs one", show.Line(name))
	}
	warnSecrets(c, s.Warnings)
	more := repeats(s.Duplicates, s.Unchanged)
	if s.Nodes.Zero() && s.Edges.Zero() {
		return c.Printf("nothing staged in %s%s\n", show.Line(s.Stage), more)
	}
	return c.Printf("staged in %s: %s%s\n", show.Line(s.Stage), c.Changes(s.Nodes, s.Edges), more)
}

const maxWarned = 10

// warnSecrets tells people what looks like credentials in what was written.
func warnSecrets(c *show.Console, list editing.Warnings) {
	for _, w := range list[:min(len(list), maxWarned)] {
		c.Remark("warning: %s", show.Line(w.Message))
	}
	if n := len(list) - maxWarned; n > 0 {
		c.Remark("warning: %d more; --json lists them", n)
	}
	if slices.ContainsFunc(list, func(w editing.Warning) bool { return w.Code == editing.CodeSecret }) {
		c.Remark("hint: %s", editing.SecretRemedy)
	}
}

// changedPart holds nodes about which an answer says the same.
type changedPart struct {
	ids  []graph.ID
	what string
}

// Marked prints what a verb that marks nodes did.
func Marked(c *show.Console, m *editing.Marked) error {
	warnSecrets(c, m.Warnings)
	state, already := "", "no mark"
	if m.State != nil {
		state = string(*m.State)
		already = state + " already"
	}
	printParts(c, m.Labels, changedPart{m.Marked, state}, changedPart{m.Unmarked, "unmarked"},
		changedPart{m.Already, already})
	what := show.Plural(len(m.Marked)+len(m.Unmarked), "mark")
	return printCommitOf(c, what, m.NoChange, m.DryRun, m.Branch, m.Commit)
}

// Pinned prints which nodes were pinned or unpinned.
func Pinned(c *show.Console, p *editing.PinChanged) error {
	warnSecrets(c, p.Warnings)
	what, already := "pinned", "pinned already"
	if !p.Pinned {
		what, already = "unpinned", "not pinned"
	}
	printParts(c, p.Labels, changedPart{p.Changed, what}, changedPart{p.Already, already})
	return printCommitOf(c, show.Plural(len(p.Changed), "node"), p.NoChange, p.DryRun, p.Branch, p.Commit)
}

func printParts(c *show.Console, labels map[string]reading.NodeName, parts ...changedPart) {
	for _, part := range parts {
		for _, id := range part.ids {
			about := ""
			if n, ok := labels[id.String()]; ok {
				about = nodeLabel(n.Key, n.ID) + "  " + c.Paint(show.Dim, show.Brief(string(n.Summary), show.SummaryWidth))
			}
			c.Put("%s  %s\n", part.what, strings.TrimRight(about, " "))
		}
	}
}

// printCommitOf prints the commit of what was changed, if there is one.
func printCommitOf(c *show.Console, what string, noChange, dryRun bool, branch string, commit ipld.CID) error {
	switch {
	case noChange:
		return c.Printf("nothing to commit\n")
	case dryRun:
		return c.Printf("would commit %s\n", what)
	}
	return c.Printf("%s %s\n", c.At(branch, commit), what)
}

func printUndecided(c *show.Console, pairs []remembering.UndecidedPair) error {
	for _, p := range pairs {
		c.Put("\n%s  %s\n  may replace %s  %s\n  it does: %s\n  it does not: %s\n", p.Later.ID.String()[:8],
			show.Brief(p.Later.Text, show.SummaryWidth), p.Earlier.ID.String()[:8],
			show.Brief(p.Earlier.Text, show.SummaryWidth), p.Settle, p.Differ)
	}
	return c.Failed()
}

// Reviewed prints the memories to review, or what was decided.
func Reviewed(c *show.Console, q *remembering.ReviewRequest, r *remembering.Reviewed) error {
	warnSecrets(c, r.Warnings)
	changed := len(r.Dropped) + len(r.Pinned) + len(r.Edited)
	switch nothing := len(r.Items)+changed+len(r.Kept)+len(r.Already) == 0 && !q.Rest; {
	case nothing && len(r.Undecided) == 0:
		return c.Printf("nothing to review\n")
	case nothing:
		return printUndecided(c, r.Undecided)
	case len(r.Items) > 0:
		var rows [][]show.Cell
		for _, it := range r.Items {
			rows = append(rows, show.Row(nodeLabel(it.Key, it.ID), show.Bold, show.Word(it.Type), "",
				it.Created.String(), show.Dim, show.Brief(it.Text, show.SummaryWidth), ""))
		}
		c.Remark("%d to review; --keep, --drop, --pin, --set and --all decide", r.Left)
		c.PutTable(rows)
		return printUndecided(c, r.Undecided)
	}
	printParts(c, r.Labels, changedPart{r.Dropped, "forgotten"}, changedPart{r.Pinned, "pinned"},
		changedPart{r.Edited, "edited"}, changedPart{r.Already, "as it was"})
	if len(r.Kept) > 0 {
		c.Put("%d kept\n", len(r.Kept))
	}
	if changed > 0 {
		_ = printCommitOf(c, show.Plural(changed, "change"), false, r.DryRun, r.Branch, r.Commit)
	}
	return c.Printf("%d left to review\n", r.Left)
}

func HalfLives(c *show.Console, h *remembering.HalfLives) error {
	var rows [][]show.Cell
	for _, typ := range slices.Sorted(maps.Keys(h.HalfLives)) {
		from := "built in"
		if slices.Contains(h.Own, typ) {
			from = "own"
		}
		rows = append(rows, show.Row(show.Line(typ), show.Bold, show.Plural(h.HalfLives[typ], "day"), "",
			from, show.Dim))
	}
	rows = append(rows, show.Row("*", show.Bold, show.Plural(h.Other, "day"), "", "built in", show.Dim))
	if c.PutTable(rows); h.Branch == "" {
		return c.Failed() // nothing was asked to be written
	}
	return printCommitOf(c, "half-lives", h.NoChange, h.DryRun, h.Branch, h.Commit)
}
