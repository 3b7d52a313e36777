package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ops"
)

// markFlags are the flags of verbs that mark.
type markFlags struct {
	commitFlags
	reason string
}

func (f *markFlags) add(c *cli, cmd *cobra.Command) {
	c.writeFlags(cmd)
	c.branchFlag(cmd)
	c.signFlags(cmd)
	c.secretFlag(cmd)
	cmd.Flags().StringVar(&f.reason, "reason", "", "why, `TEXT`: it is kept with the mark")
	cmd.Flags().StringVarP(&f.message, "message", "m", "", "what the commit is about; default: what "+
		"was done")
	cmd.Flags().StringVar(&f.expect, "expect", "", "the `CID` of the commit that the branch must be "+
		"at; else exit code 5")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "print what would change and write nothing")
}

func idTexts(ids []graph.ID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = id.String()
	}
	return out
}

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

// nowFlag reads the value of --now, the time of the change where it was not given.
func (c *cli) nowFlag(s string) (graph.Time, error) {
	if s == "" {
		return c.now()
	}
	t, err := graph.ParseTime(s)
	if err != nil {
		return 0, usagef("--now: %w", err)
	}
	return t, nil
}
