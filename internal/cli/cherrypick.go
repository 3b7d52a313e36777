package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/repo"
)

func (c *cli) cherryPickCommand() *cobra.Command {
	var f mergeFlags
	cmd := &cobra.Command{
		Use:     "cherry-pick REV|FROM..TO",
		GroupID: groupChange,
		Short:   "Do again here what a commit elsewhere changed",
		Long: "Apply what a commit changed against its first parent, or all commits after FROM up to TO,\n" +
			"to the branch, as one new commit with the message of the last one. What the branch\n" +
			"changed differently is a conflict, as in 'mnem merge', which also lists, resolves and\n" +
			"continues.",
		Example: "  mnem cherry-pick draft\n" +
			"  mnem cherry-pick main~1..main -b draft\n" +
			"  mnem cherry-pick draft --dry-run",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.completeArg(completeRevs),
	}
	c.integrateFlags(cmd, &f)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		opt, err := c.mergeOptions(cmd, f)
		if err != nil {
			return err
		}
		return c.integrate(cmd, f, func(ctx context.Context, r *repo.Repo) (*repo.MergeResult, error) {
			return r.CherryPick(ctx, args[0], opt)
		})
	})
}
