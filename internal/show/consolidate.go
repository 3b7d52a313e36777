package show

import (
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/memory"
	"github.com/mnem-project/mnem/ops"
)

func (c *Console) Consolidate(res any) error {
	switch r := res.(type) {
	case *ops.Proposals:
		return c.printProposals(r)
	case *ops.Consolidated:
		return c.printConsolidated(r)
	}
	return nil
}

func (c *Console) printProposals(r *ops.Proposals) error {
	for i := range r.Proposals {
		if err := c.proposalText(&r.Proposals[i]); err != nil {
			return err
		}
	}
	if len(r.Proposals) == 0 {
		c.put("nothing to propose\n")
	}
	rest := ""
	if r.Declined > 0 {
		rest += fmt.Sprintf(", %d declined", r.Declined)
	}
	if r.More > 0 {
		rest += fmt.Sprintf(", %d more (--limit 0 prints all)", r.More)
	}
	c.Remark("%s about %s%s", plural(len(r.Proposals)+r.More, "proposal"), memoriesText(r.Memories), rest)
	return nil
}

func memoriesText(n int) string {
	if n == 1 {
		return "1 memory"
	}
	return fmt.Sprintf("%d memories", n)
}

// proposalText prints a proposal with what speaks for it.
func (c *Console) proposalText(p *ops.Proposal) error {
	why := p.Why
	if p.Kind == memory.ProposeTag {
		why = fmt.Sprintf("%s <- %s, of %s", line(p.Tag), line(strings.Join(p.Spellings, ", ")),
			memoriesText(len(p.Nodes)))
	}
	err := c.Printf("%s  %s  %s\n", c.Paint(Yellow, p.ID), c.Paint(Bold, string(p.Kind)),
		line(why))
	if err != nil || p.Kind == memory.ProposeTag {
		return err
	}
	for i, name := range p.Names {
		mark := " "
		if p.Kind == memory.ProposeDuplicate {
			mark = "-"
			if i == 0 {
				mark = "+"
			}
		}
		c.put("  %s %s  %s\n", mark, p.Nodes[i].String()[:8], brief(name, SummaryWidth))
	}
	for _, d := range p.Differs {
		c.put("    %s: %q or %q\n", d.Kind, line(d.A), line(d.B))
	}
	if p.Importance != nil {
		return c.Printf("    %s\n", importanceText(p.Importance))
	}
	return nil
}

func (c *Console) printConsolidated(r *ops.Consolidated) error {
	for i := range r.Picked {
		if err := c.proposalText(&r.Picked[i]); err != nil {
			return err
		}
	}
	what := plural(len(r.Marked)+len(r.Unmarked), "mark")
	if n := len(r.Retagged); n > 0 {
		what += ", tags of " + memoriesText(n)
	}
	switch {
	case r.NoChange:
		return c.Printf("nothing to commit\n")
	case r.DryRun:
		return c.Printf("would commit %s\n", what)
	}
	return c.Printf("%s %s\n", c.at(r.Branch, r.Commit), what)
}
