package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

func (c *cli) restoreCommand() *cobra.Command {
	var f markFlags
	cmd := &cobra.Command{
		Use:     "restore [REV] NODE…",
		GroupID: groupChange,
		Short:   "Take marks off nodes, or bring nodes back as they were",
		Long: "Without REV, take the marks off nodes, in one commit: what was forgotten, retired, superseded,\n" +
			"expired or called stale is as it was. Of two that contradict each other both marks go.\n\n" +
			"With REV, make a commit in which nodes are what they were at that revision, with the mark they\n" +
			"had then, or none, and with those of their edges that are missing now and whose other ends\n" +
			"exist. Nodes are named as at that revision, so that a removed one is found by its key.\n\n" +
			"Of several arguments the first is REV where it is one, and refused where it is a node too:\n" +
			"key:NAME and id:ID are always nodes, REV~0 always a revision.",
		Example: "  mnem restore bob --reason 'it is true after all'\n  mnem restore HEAD~1 alice\n" +
			"  mnem restore HEAD~1 alice svc/billing -m 'they were right' --dry-run",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: c.completeArg(completeRevs),
	}
	f.add(c, cmd)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		return c.runRestore(cmd, args, &f)
	})
}

func (c *cli) runRestore(cmd *cobra.Command, args []string, f *markFlags) error {
	marks := false
	err := c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) (err error) {
		marks, err = restoreKind(ctx, r, args, c.branch())
		return err
	})
	switch {
	case err != nil:
		return err
	case marks:
		return c.restoreMarks(cmd, args, f)
	case f.reason != "":
		return usagef("--reason is for taking marks off: with a revision say why with -m")
	}
	by, err := c.commitStamp(cmd, f.dryRun)
	if err != nil {
		return err
	}
	opt := repo.CommitOptions{Stamp: by, Message: f.message, Branch: c.branch()}
	if opt.Expect, err = ops.ParseExpect(f.expect); err != nil {
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
