package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/repo"
)

func (c *cli) restoreCommand() *cobra.Command {
	var f commitFlags
	cmd := &cobra.Command{
		Use:     "restore REV NODE…",
		GroupID: groupChange,
		Short:   "Bring nodes back as they were",
		Long: "Make a commit in which nodes are what they were at a revision, with the mark they had then,\n" +
			"or none, and with those of their edges that are missing now and whose other ends exist.\n" +
			"Nodes are named as at that revision, so that a removed one is found by its key.",
		Example: "  mnem restore HEAD~1 alice\n" +
			"  mnem restore HEAD~1 alice svc/billing -m 'they were right' --dry-run",
		Args:              cobra.MinimumNArgs(2),
		ValidArgsFunction: c.completeArg(completeRevs),
	}
	c.writeFlags(cmd)
	c.branchFlag(cmd)
	c.signFlags(cmd)
	cmd.Flags().StringVarP(&f.message, "message", "m", "", "what the commit is about; default: what "+
		"was done")
	cmd.Flags().StringVar(&f.expect, "expect", "", "the `CID` of the commit that the branch must be "+
		"at; else exit code 5")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "print what would change and write nothing")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		return c.runRestore(cmd, args, f)
	})
}

func (c *cli) runRestore(cmd *cobra.Command, args []string, f commitFlags) error {
	by, err := c.commitStamp(cmd, f.dryRun)
	if err != nil {
		return err
	}
	opt := repo.CommitOptions{Stamp: by, Message: f.message, Branch: c.branch()}
	if opt.Expect, err = parseExpect(f.expect); err != nil {
		return err
	}
	return c.writeOrTry(cmd, f.dryRun, func(ctx context.Context, _, to *repo.Repo) error {
		res, err := to.Restore(ctx, args[0], args[1:], opt)
		if err != nil {
			return err
		}
		return c.printCommit(ctx, to, res, f.dryRun)
	})
}
