package answers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/memory/remember"
	"github.com/mnem-project/mnem/internal/memory/review"
	"github.com/mnem-project/mnem/internal/verb/remembering"
)

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
