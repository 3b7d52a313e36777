package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/gitdir"
	"github.com/mnem-project/mnem/internal/gitfollow"
	"github.com/mnem-project/mnem/repo"
)

func (c *cli) gitHook() *cobra.Command {
	var remove bool
	cmd := &cobra.Command{
		Use:   "hook",
		Short: "Run 'mnem git sync' after each git merge",
		Long: "Have git run 'mnem git sync' after each merge and pull, by its hook post-merge. A hook that is there runs\n" +
			"first, and what it ends with counts; where mnem fails git goes on. Following needs no hook: this only\n" +
			"saves running 'mnem git sync' by hand. --remove puts back what was there before.",
		Example: "  mnem git hook\n  mnem git hook --remove",
		Args:    cobra.NoArgs,
	}
	cmd.Flags().BoolVar(&remove, "remove", false, "remove it, and put back what was there before")
	return c.command(cmd, func(cmd *cobra.Command, _ []string) error {
		if _, err := c.repoFile(""); err != nil {
			return err
		}
		tree, err := c.workTree()
		if errors.Is(err, gitdir.ErrNone) {
			return hint(fmt.Errorf("%w: %w", repo.ErrInvalid, err), "make one with 'git init'")
		}
		if err != nil {
			return err
		}
		out, err := gitfollow.HookOf(tree)
		if err == nil && remove {
			err = out.Remove()
		} else if err == nil {
			err = out.Install(cmd.Context(), tree, firstOf(c.app.Executable, "mnem"))
		}
		if err != nil {
			return err
		}
		return c.printGitHook(out)
	})
}

func (c *cli) printGitHook(out *gitfollow.Hook) error {
	if c.global.json {
		return c.printJSON(out)
	}
	switch {
	case !out.Installed && out.Changed:
		return c.printf("removed the hook of git\n")
	case !out.Installed:
		return c.printf("there is no hook of mnem\n")
	}
	more := ""
	if out.Chained {
		more = ", and the hook that was there before it"
	}
	return c.printf("git runs 'mnem git sync' after each merge%s: %s\n", more, line(out.Path))
}
