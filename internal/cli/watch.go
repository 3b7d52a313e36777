package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/repo"
)

// watchOptions say what is watched, and what is told of it.
type watchOptions struct {
	since string
	ref   string
	limit int
	diff  bool
}

func (c *cli) watchCommand() *cobra.Command {
	var opt watchOptions
	cmd := &cobra.Command{
		Use:     "watch [flags]",
		GroupID: groupHistory,
		Short:   "Tell each operation as it is committed",
		Long: "Print the operations after one that is named, by default the newest, and then each one as it\n" +
			"is committed, by whatever process: number, time, actor, command, the refs that moved, and how\n" +
			"many nodes and edges that changed. With --json, one object a line. It ends when interrupted.\n\n" +
			"Nothing is left out, however slowly the lines are read. Who stops goes on with --since and the\n" +
			"last operation seen; where the operations after that were collected meanwhile, the error names\n" +
			"the oldest one to go on from.",
		Example: "  mnem watch\n  mnem watch --ref main --diff\n  mnem watch --since @~10 -n 10 --json",
		Args:    cobra.NoArgs,
	}
	f := cmd.Flags()
	f.StringVar(&opt.since, "since", "", "begin after this `OP`eration, 0 for the first one; "+
		"see 'mnem op' (default: now)")
	f.StringVar(&opt.ref, "ref", "", "only operations that moved this `REF`: a branch, a tag or refs/…")
	f.IntVarP(&opt.limit, "limit", "n", 0, "end after `N` operations; 0 for no end")
	f.BoolVar(&opt.diff, "diff", false, "the nodes and edges that changed, not only how many")
	c.complete(cmd, "ref", completeBranches)
	return c.command(cmd, func(cmd *cobra.Command, _ []string) error {
		if opt.limit < 0 {
			return usagef("--limit: %d is below 0", opt.limit)
		}
		err := c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			return c.watchHere(ctx, r, opt, c.printWatched)
		})
		if cmd.Context().Err() != nil && errors.Is(err, context.Canceled) {
			return nil // to be told to stop is how it ends
		}
		return watchHint(err)
	})
}

// watchHint says how to go on where operations are not kept any more.
func watchHint(err error) error {
	var lost *repo.HorizonError
	if !errors.As(err, &lost) {
		return err
	}
	return hint(err, "'mnem watch --since %d' goes on from there; compare commits with 'mnem diff' "+
		"for what was missed", lost.Seq)
}

// watchHere tells the operations of an open repository, one by one, until ctx or the limit ends it.
func (c *cli) watchHere(
	ctx context.Context, r *repo.Repo, opt watchOptions, tell func(*watchJSON) error,
) error {
	n := 0
	for op, err := range r.Watch(ctx, repo.WatchOptions{Since: opt.since, Ref: opt.ref}) {
		if err != nil {
			return err
		}
		v, err := jsonWatched(ctx, op, opt.diff)
		if err != nil {
			return err
		}
		if err := tell(v); err != nil {
			return err
		}
		if n++; n == opt.limit {
			break
		}
	}
	return nil
}
