package answers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/memory/remember"
	"github.com/mnem-project/mnem/internal/memory/review"
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

func Remembered(c *show.Console, res any) error {
	switch r := res.(type) {
	case *remembering.Remembered:
		return c.Printf("%s", rememberedText(c, r))
	case *remembering.RememberSettings:
		return c.Printf("duplicateAbove %s, similarFrom %s, keep %t\n", share(r.DuplicateAbove),
			share(r.SimilarFrom), r.Keep)
	case *remembering.RememberedAll:
		return printCommitOf(c, actionsText(r.Actions), r.NoChange, r.DryRun, r.Branch, r.Commit)
	}
	return nil
}

func actionsText(times map[remember.Action]int) string {
	var parts []string
	for _, a := range []remember.Action{
		remember.Added, remember.Superseded, remember.Conflict, remember.Updated, remember.Duplicate,
	} {
		if times[a] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", times[a], a))
		}
	}
	return strings.Join(parts, ", ")
}

// share writes units of 2^-16 with two digits.
func share(n int64) string {
	hundredths := (n*100 + 1<<15) >> 16
	return fmt.Sprintf("%d.%02d", hundredths/100, hundredths%100)
}

func rememberedText(c *show.Console, r *remembering.Remembered) string {
	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	program := "mnem"
	put("%s  %s  %s", r.Action, r.ID, c.Paint(show.Dim, show.Brief(strings.TrimSpace(r.Text), show.SummaryWidth)))
	if r.Repository != "" {
		program = "mnem -G"
		put("  kept in your own memory, which has the type %s ('mnem config get global.types')", show.Line(r.Type))
	}
	for _, id := range r.Superseded {
		put("  superseded  %s", id)
	}
	for _, s := range r.Similar {
		like := s.Text
		if s.Cosine != nil {
			like = max(like, *s.Cosine)
		}
		put("  similar %s  %s  %s", share(like), s.ID, show.Brief(s.Summary, show.SummaryWidth))
		if differs := differsText(s.Differs); differs != "" {
			put("    differs: %s", differs)
		}
		if slices.Contains(r.Superseded, s.ID) {
			continue
		}
		switch s.Suggest {
		case remember.SuggestSupersede:
			put("    if it is no longer so: %s mark superseded %s --by %s", program, shortID(s.ID), shortID(r.ID))
		case remember.SuggestContradict:
			put("    says the contrary: %s mark contradicted %s --by %s, or superseded", program, shortID(s.ID),
				shortID(r.ID))
		}
	}
	for _, n := range r.Nearest {
		put("  near %s  %s  %s", n.Date, n.ID, show.Brief(n.Text, show.SummaryWidth))
	}
	if r.Settle != "" {
		put("  if it replaces the first: %s", strings.Replace(r.Settle, "mnem", program, 1))
	}
	if len(r.Edges) > 0 && len(r.Links) == 0 {
		put("  edges: %s", strings.Join(countsByName(r.Edges), ", "))
	}
	for _, l := range r.Links {
		put("  edge %s -> %s: %s", show.Word(l.Type), show.Line(l.Dst), show.Line(l.Why))
	}
	for _, d := range r.Candidates {
		put("  may be linked: %s %s %s", d.Kind, share(d.Score), d.ID)
	}
	for _, w := range r.Warnings {
		put("  warning: %s: %s", w.Code, show.Line(w.Message))
	}
	return b.String()
}

// shortID is enough of an id to name a node by in all but the largest memories.
func shortID(id graph.ID) string { return id.String()[:13] }

// differsText lists differences, what is new first.
func differsText(list []remember.Difference) string {
	var parts []string
	for _, d := range list {
		switch {
		case d.A == "" && d.B == "":
			parts = append(parts, string(d.Kind))
		case d.A == "":
			parts = append(parts, fmt.Sprintf("%s: no %q", d.Kind, show.Line(d.B)))
		case d.B == "":
			parts = append(parts, fmt.Sprintf("%s: %q", d.Kind, show.Line(d.A)))
		default:
			parts = append(parts, fmt.Sprintf("%s: %q, was %q", d.Kind, show.Line(d.A), show.Line(d.B)))
		}
	}
	return strings.Join(parts, "; ")
}

func Consolidate(c *show.Console, res any) error {
	switch r := res.(type) {
	case *remembering.Proposals:
		return printProposals(c, r)
	case *remembering.Consolidated:
		return printConsolidated(c, r)
	}
	return nil
}

func printProposals(c *show.Console, r *remembering.Proposals) error {
	for i := range r.Proposals {
		printProposal(c, &r.Proposals[i])
	}
	if len(r.Proposals) == 0 {
		c.Put("nothing to propose\n")
	}
	rest := ""
	if r.Declined > 0 {
		rest += fmt.Sprintf(", %d declined", r.Declined)
	}
	if r.More > 0 {
		rest += fmt.Sprintf(", %d more (--limit 0 prints all)", r.More)
	}
	c.Remark("%s about %s%s", show.Plural(len(r.Proposals)+r.More, "proposal"), memoriesText(r.Memories), rest)
	return c.Failed()
}

func memoriesText(n int) string {
	if n == 1 {
		return "1 memory"
	}
	return fmt.Sprintf("%d memories", n)
}

func printProposal(c *show.Console, p *review.Proposal) {
	why := p.Why
	if p.Kind == review.ProposeTag {
		why = fmt.Sprintf("%s <- %s, of %s", show.Line(p.Tag), show.Line(strings.Join(p.Spellings, ", ")),
			memoriesText(len(p.Nodes)))
	}
	c.Put("%s  %s  %s\n", c.Paint(show.Yellow, p.ID), c.Paint(show.Bold, string(p.Kind)), show.Line(why))
	if p.Kind == review.ProposeTag {
		return
	}
	for i, name := range p.Names {
		mark := " "
		if p.Kind == review.ProposeDuplicate {
			mark = "-"
			if i == 0 {
				mark = "+"
			}
		}
		c.Put("  %s %s  %s\n", mark, p.Nodes[i].String()[:8], show.Brief(name, show.SummaryWidth))
	}
	if p.Settle != "" {
		c.Put("    it does: %s\n    it does not: %s\n", p.Settle, p.Differ)
	}
	for _, d := range p.Differs {
		c.Put("    %s: %q or %q\n", d.Kind, show.Line(d.A), show.Line(d.B))
	}
	if p.Importance != nil {
		c.Put("    %s\n", importanceText(p.Importance))
	}
}

func printConsolidated(c *show.Console, r *remembering.Consolidated) error {
	for i := range r.Picked {
		printProposal(c, &r.Picked[i])
	}
	what := show.Plural(len(r.Marked)+len(r.Unmarked), "mark")
	if n := len(r.Retagged); n > 0 {
		what += ", tags of " + memoriesText(n)
	}
	return printCommitOf(c, what, r.NoChange, r.DryRun, r.Branch, r.Commit)
}
