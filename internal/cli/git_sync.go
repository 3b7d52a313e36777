package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/gitdir"
	"github.com/mnem-project/mnem/internal/gitfollow"
	"github.com/mnem-project/mnem/remote/byverb"
	"github.com/mnem-project/mnem/repo"
)

func (c *cli) gitSync() *cobra.Command {
	f := syncFlags{}
	cmd := &cobra.Command{
		Use:   "sync [GIT-BRANCH...]",
		Short: "Merge the memory of git branches that were merged",
		Long: "Merge into the memory of the current git branch that of the git branches which were merged into it: by\n" +
			"a merge, by rebasing, or by squashing, as far as git can tell. A branch on which nothing was committed\n" +
			"yet is none of them. Of a branch that was removed since git's log of HEAD tells. Where git cannot tell,\n" +
			"as of a squash whose commit was changed, name the branch: then its memory is merged in any case.\n\n" +
			"It can be run at any time, as often as wanted; 'mnem git hook' has git run it after each merge. Where\n" +
			"both sides changed one thing differently --conflicts decides, as in 'mnem sync'.",
		Example: "  mnem git sync\n  mnem git sync feature/login --conflicts newest\n  mnem git sync --dry-run --json",
	}
	c.writeFlags(cmd)
	fl := cmd.Flags()
	c.conflictsFlag(cmd, &f)
	fl.BoolVar(&f.DryRun, "dry-run", false, "say what would be merged, and change nothing")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		if err := c.checkSync(cmd, &f); err != nil {
			return err
		}
		tree, here, err := c.following()
		if err != nil {
			return err
		}
		out, err := gitfollow.Sync(cmd.Context(), tree, c.by.Following, here, f.Conflicts, args, f.DryRun)
		if out.Branch != "" {
			err = firstError(c.printGitSync(out), err)
		}
		return err
	})
}

// following returns the work tree that is followed, and the repository.
func (c *cli) following() (*gitdir.Tree, *byverb.Side, error) {
	here, err := c.hereSide(false)
	if err != nil {
		return nil, nil, err
	}
	if err := c.follow(); err != nil {
		return nil, nil, err
	}
	if c.by.Following == nil {
		return nil, nil, hint(fmt.Errorf("%w: the memory follows no git branch", repo.ErrInvalid), "run 'mnem git follow' first")
	}
	tree, err := c.workTree()
	return tree, here, err
}

func (c *cli) printGitSync(s *gitfollow.Synced) error {
	if c.global.json {
		return c.printJSON(s)
	}
	if len(s.Merged) == 0 {
		return c.printf("[%s] nothing to merge\n", c.paint(styleCyan, line(s.Branch)))
	}
	for _, m := range s.Merged {
		if err := c.printConflicts(m.Conflicts); err != nil {
			return err
		}
		verb := "merged"
		if s.DryRun {
			verb = "would merge"
		}
		if err := c.printf("[%s] %s the memory of %s (%s)\n", c.paint(styleCyan, line(s.Branch)), verb,
			c.paint(styleCyan, line(m.Branch)), m.By); err != nil {
			return err
		}
	}
	return nil
}

func (c *cli) gitPrune() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "prune [GIT-BRANCH...]",
		Short: "Remove memory branches whose git branch is gone",
		Long: "Remove the branches of the memory whose git branch is no more. One whose memory no other branch and no\n" +
			"tag has is kept unless --force is given. It is about branches that git's logs of HEAD know, or those\n" +
			"that are named: other branches of the memory are none of git's. 'mnem undo' brings one back.",
		Example: "  mnem git prune\n  mnem git prune spike --force",
	}
	c.writeFlags(cmd)
	cmd.Flags().BoolVarP(&force, "force", "f", false, "also those whose memory nothing else has")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		tree, here, err := c.following()
		if err != nil {
			return err
		}
		out, err := gitfollow.Prune(cmd.Context(), tree, here, args, force)
		if err != nil {
			return err
		}
		return c.printGitPrune(out)
	})
}

func (c *cli) printGitPrune(p *gitfollow.Pruned) error {
	if c.global.json {
		return c.printJSON(p)
	}
	for _, b := range p.Removed {
		if err := c.printf("removed %s, which was at %s\n", c.paint(styleCyan, line(b.Removed)),
			c.paint(styleYellow, shortCID(b.Commit))); err != nil {
			return err
		}
	}
	for _, k := range p.Kept {
		if err := c.printf("kept: %s; merge it with 'mnem git sync %s', or give --force\n", line(k.Why),
			line(k.Git)); err != nil {
			return err
		}
	}
	if len(p.Removed)+len(p.Kept) == 0 {
		return c.printf("nothing to remove\n")
	}
	return nil
}
