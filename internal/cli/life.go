package cli

import (
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ops"
)

// printMarked prints what a verb that marks nodes did.
func (c *cli) printMarked(m *ops.Marked) error {
	c.warnSecrets(m.Warnings)
	state, already := "", "no mark"
	if m.State != nil {
		state = string(*m.State)
		already = state + " already"
	}
	for _, part := range []struct {
		ids  []graph.ID
		what string
	}{{m.Marked, state}, {m.Unmarked, "unmarked"}, {m.Already, already}} {
		for _, id := range part.ids {
			about := ""
			if n, ok := m.Labels[id.String()]; ok {
				about = nodeLabel(n.Key, n.ID) + "  " + c.paint(styleDim, brief(string(n.Summary), summaryWidth))
			}
			if err := c.printf("%s  %s\n", part.what, strings.TrimRight(about, " ")); err != nil {
				return err
			}
		}
	}
	switch n := len(m.Marked) + len(m.Unmarked); {
	case m.NoChange:
		return c.printf("nothing to commit\n")
	case m.DryRun:
		return c.printf("would commit %s\n", plural(n, "mark"))
	default:
		return c.printf("[%s %s] %s\n", c.paint(styleCyan, line(m.Branch)),
			c.paint(styleYellow, shortCID(m.Commit)), plural(n, "mark"))
	}
}
