package show

import (
	"fmt"

	"github.com/mnem-project/mnem/ops"
)

// Committed prints what commit or restore did.
func (c *Console) Committed(answer any) error {
	switch a := answer.(type) {
	case *ops.Committed:
		return c.printCommit(a)
	case *ops.KeptCommit:
		return c.printConflicts(a.Conflicts)
	case *ops.Marked:
		return c.Marked(a)
	}
	return c.PrintJSON(answer)
}

func (c *Console) printCommit(a *ops.Committed) error {
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
