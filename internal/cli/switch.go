package cli

import (
	"context"
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

// switchJSON is where HEAD is.
type switchJSON struct {
	Branch *string `json:"branch"` // null where it is on none
	Commit *string `json:"commit"` // null before the first
}

func (c *cli) switchCommand() *cobra.Command {
	var create, detach, force bool
	cmd := &cobra.Command{
		Use:     "switch NAME | switch -c NAME [REV] | switch --detach [REV]",
		GroupID: groupHistory,
		Short:   "Put HEAD on another branch",
		Long: "Put HEAD on another branch: commands read from it and commits go to it, unless they name\n" +
			"another one. -c makes the branch first, at a revision or where HEAD is. --detach puts HEAD at\n" +
			"a commit and on no branch: everything can be read there, and a write that names no branch is\n" +
			"refused. What is staged stays staged for the branch it was made for.\n\n" +
			"HEAD is shared by all who use the repository. A program of its own had better name the branch\n" +
			"it works on, with --branch or MNEM_BRANCH.",
		Example: "  mnem switch -c draft\n  mnem switch main\n  mnem switch --detach HEAD~1\n" +
			"  mnem switch -c before main~1",
		Args:              cobra.MaximumNArgs(2),
		ValidArgsFunction: c.completeArg(completeBranches),
	}
	c.writeFlags(cmd)
	c.headFlag(cmd)
	cmd.Flags().BoolVarP(&create, "create", "c", false, "make the branch")
	cmd.Flags().BoolVar(&detach, "detach", false, "be at a commit and on no branch")
	cmd.Flags().BoolVarP(&force, "force", "f", false, "with -c: move the branch if there is one already")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		if err := needOne(cmd, "create", "detach"); err != nil {
			return err
		}
		if err := checkSwitch(create, detach, force, len(args)); err != nil {
			return err
		}
		return c.write(cmd, func(ctx context.Context, r *repo.Repo, by repo.Stamp) error {
			if detach {
				rev := firstOf(append(args, string(graph.Head))...)
				if _, err := r.Detach(ctx, rev, by); err != nil {
					return ops.CommitHint(err)
				}
				return c.printSwitch(ctx, r)
			}
			opt := repo.SwitchOptions{Stamp: by, Create: create, Force: force}
			if len(args) == 2 {
				opt.Start = args[1]
			}
			if err := r.Switch(ctx, args[0], opt); err != nil {
				return switchHint(ctx, r, err, args[0])
			}
			return c.printSwitch(ctx, r)
		})
	})
}

func checkSwitch(create, detach, force bool, args int) error {
	switch {
	case args == 0 && !detach:
		return usagef("name a branch, or a commit with --detach")
	case args == 2 && !create:
		return usagef("one name is enough: -c alone takes a revision too")
	case force && !create:
		return usagef("--force goes with -c")
	}
	return nil
}

func switchHint(ctx context.Context, r *repo.Repo, err error, name string) error {
	var missing *repo.NotFoundError
	switch {
	case errors.As(err, &missing) && missing.What == "branch":
		if _, revErr := r.Resolve(ctx, name); revErr == nil {
			return hint(err, "to be at that commit and on no branch: 'mnem switch --detach %s'", name)
		}
		if nameErr := graph.ValidateName(name); nameErr != nil {
			return hint(err, "there can be no such branch: %v", nameErr)
		}
		return hint(err, "make it with 'mnem switch -c %s'", name)
	case errors.Is(err, fs.ErrExist):
		return hint(already(err, "branch %q", name), "go there with 'mnem switch %s', or move it "+
			"with --force", name)
	case errors.Is(err, store.ErrNotFound):
		return ops.CommitHint(err)
	}
	return err
}

func (c *cli) printSwitch(ctx context.Context, r *repo.Repo) error {
	branch, at, err := r.Branch(ctx)
	if err != nil {
		return err
	}
	if c.global.json {
		return c.printJSON(switchJSON{orNull(branch), jsonCID(at)})
	}
	where := c.paint(styleYellow, shortCID(at))
	if branch == "" {
		return c.printf("HEAD is at %s and on no branch\n", where)
	}
	if !at.Defined() {
		where = "no commit yet"
	}
	if err := c.printf("on branch %s, %s\n", c.paint(styleCyan, line(branch)), where); err != nil {
		return err
	}
	st, err := r.Status(ctx, c.stage())
	if err == nil && st.Staged && st.Branch != branch {
		c.remark("note: what is staged stays for branch %s", line(st.Branch))
	}
	return err
}
