package cli

import (
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/memory"
	"github.com/mnem-project/mnem/ops"
)

func (c *cli) printConsolidate(res any) error {
	switch r := res.(type) {
	case *ops.Proposals:
		return c.printProposals(r)
	case *ops.Consolidated:
		return c.printConsolidated(r)
	}
	return nil
}

func (c *cli) printProposals(r *ops.Proposals) error {
	for i := range r.Proposals {
		if err := c.proposalText(&r.Proposals[i]); err != nil {
			return err
		}
	}
	if len(r.Proposals) == 0 {
		if err := c.printf("nothing to propose\n"); err != nil {
			return err
		}
	}
	rest := ""
	if r.Declined > 0 {
		rest += fmt.Sprintf(", %d declined", r.Declined)
	}
	if r.More > 0 {
		rest += fmt.Sprintf(", %d more (--limit 0 prints all)", r.More)
	}
	c.remark("%s about %s%s", plural(len(r.Proposals)+r.More, "proposal"), memoriesText(r.Memories), rest)
	return nil
}

func memoriesText(n int) string {
	if n == 1 {
		return "1 memory"
	}
	return fmt.Sprintf("%d memories", n)
}

// proposalText prints a proposal with what speaks for it.
func (c *cli) proposalText(p *ops.Proposal) error {
	why := p.Why
	if p.Kind == memory.ProposeTag {
		why = fmt.Sprintf("%s <- %s, of %s", line(p.Tag), line(strings.Join(p.Spellings, ", ")),
			memoriesText(len(p.Nodes)))
	}
	err := c.printf("%s  %s  %s\n", c.paint(styleYellow, p.ID), c.paint(styleBold, string(p.Kind)),
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
		if err := c.printf("  %s %s  %s\n", mark, p.Nodes[i].String()[:8], brief(name, summaryWidth)); err != nil {
			return err
		}
	}
	for _, d := range p.Differs {
		if err := c.printf("    %s: %q or %q\n", d.Kind, line(d.A), line(d.B)); err != nil {
			return err
		}
	}
	if p.Importance != nil {
		return c.printf("    %s\n", importanceText(p.Importance))
	}
	return nil
}

func (c *cli) printConsolidated(r *ops.Consolidated) error {
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
		return c.printf("nothing to commit\n")
	case r.DryRun:
		return c.printf("would commit %s\n", what)
	}
	return c.printf("[%s %s] %s\n", c.paint(styleCyan, line(r.Branch)),
		c.paint(styleYellow, shortCID(r.Commit)), what)
}
