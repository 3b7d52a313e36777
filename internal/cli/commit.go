package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

// commitStamp says who commits, and signs what will be kept.
func (c *cli) commitStamp(cmd *cobra.Command, dryRun bool) (repo.Stamp, error) {
	if _, err := c.dir(); err != nil { // who writes where there is no repository has no other worry
		return repo.Stamp{}, err
	}
	if dryRun {
		return c.stamp(cmd)
	}
	return c.signedStamp(cmd)
}

// count shows the number of changes read.
func (p *progress) count(changes repo.Changes) repo.Changes {
	return func(yield func(graph.Change, error) bool) {
		n := 0
		for change, err := range changes {
			if !yield(change, err) {
				return
			}
			n++
			p.set("changes read:", n, 0)
		}
		p.say("writing")
	}
}

// printCommitted prints what commit or restore did.
func (c *cli) printCommitted(answer any) error {
	switch a := answer.(type) {
	case *ops.Committed:
		return c.printCommit(a)
	case *ops.KeptCommit:
		return c.printConflicts(a.Conflicts)
	case *ops.Marked:
		return c.printMarked(a)
	}
	return c.printJSON(answer)
}

func (c *cli) printCommit(a *ops.Committed) error {
	c.warnSecrets(a.Warnings)
	more := repeats(a.Duplicates, a.Unchanged)
	switch {
	case a.NoChange:
		return c.printf("nothing to commit%s\n", more)
	case a.DryRun:
		if err := c.printShort(a.Short, a.Nodes, a.Edges); err != nil {
			return err
		}
		return c.printf("would commit %s, %s%s\n", c.countsLine(a.Nodes, "nodes"),
			c.countsLine(a.Edges, "edges"), more)
	}
	return c.printf("[%s %s] %s, %s%s\n", c.paint(styleCyan, line(a.Branch)),
		c.paint(styleYellow, shortCID(a.Commit)), c.countsLine(a.Nodes, "nodes"),
		c.countsLine(a.Edges, "edges"), more)
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
