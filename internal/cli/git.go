package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/gitdir"
	"github.com/mnem-project/mnem/internal/gitfollow"
	"github.com/mnem-project/mnem/internal/settings"
	"github.com/mnem-project/mnem/internal/show"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/remote/byverb"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

// followJSON is what the memory follows: following is null where it follows nothing.
type followJSON struct {
	Following *ops.Followed `json:"following"`
	Head      ipld.CID      `json:"head" shape:"null"` // the newest commit of the memory there
	Hook      bool          `json:"hook"`              // whether git syncs after each merge
	// Work is the git work tree that would be followed.
	Work ops.Text `json:"work"`
}

func (c *cli) gitCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "git",
		GroupID: groupHistory,
		Short:   "Let the memory follow the branch of a git work tree",
		Long: "In a git work tree 'mnem git follow' has the memory be on the branch that git is on: each call reads\n" +
			"it from git's own files, so that no hook is needed and nothing is to be kept up to date. A new git\n" +
			"branch has the memory of the one that it was made from, and a branch of the memory of its own from\n" +
			"its first write on. 'mnem git sync' merges the memory of git branches that were merged.\n\n" +
			"While HEAD of git is detached the memory of the last branch can be read, and a write has to name a\n" +
			"branch. During a rebase the memory is that of the branch which is rebased, during a bisection that\n" +
			"of the branch where it began. --branch, MNEM_BRANCH and --at go before what git says. --task is the\n" +
			"branch where nothing else is said. MNEM_GIT_FOLLOW=false turns it off for one command.",
		Example: "  mnem git follow\n  mnem git status\n  mnem git sync",
	}
	return c.parent(cmd, c.gitFollow(), c.gitUnfollow(), c.gitStatus(), c.gitSync(), c.gitPrune(), c.gitHook())
}

func (c *cli) gitFollow() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "follow",
		Short: "Follow the branch that git is on",
		Long: "Have the memory be on the branch that the git work tree around the repository is on, from now on, for\n" +
			"all who use the repository: it is the setting git.follow. Linked work trees of 'git worktree add'\n" +
			"use this repository as well, each on its own branch. Nothing in git's directory is changed.",
		Example: "  mnem git follow",
		Args:    cobra.NoArgs,
	}
	return c.command(cmd, func(cmd *cobra.Command, _ []string) error {
		if _, err := c.repoFile(""); err != nil {
			return err
		}
		tree, err := c.workTree()
		if err == nil {
			_, err = gitfollow.Following(cmd.Context(), tree)
		}
		if errors.Is(err, gitdir.ErrNone) {
			return hint(fmt.Errorf("%w: %w", repo.ErrInvalid, err), "make one with 'git init', or run this in one that holds the "+
				"repository")
		}
		if err != nil {
			return err
		}
		set := func(key settings.Key, list []settings.Setting) ([]settings.Setting, error) {
			return settings.With(list, key.Name, "true"), nil
		}
		if err := c.editConfig(cmd.Context(), false, settings.FollowKey, set); err != nil {
			return err
		}
		c.conf = nil
		return c.printFollowing(cmd)
	})
}

func (c *cli) gitUnfollow() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "unfollow",
		Short: "Stop following git",
		Long: "Undo 'mnem git follow': the memory is on the branch that it was on before, or that 'mnem switch' says.\n" +
			"The branches that were made stay; 'mnem merge' takes over what they have.",
		Example: "  mnem git unfollow",
		Args:    cobra.NoArgs,
	}
	return c.command(cmd, func(cmd *cobra.Command, _ []string) error {
		unset := func(key settings.Key, list []settings.Setting) ([]settings.Setting, error) {
			return settings.Without(list, key.Name), nil
		}
		if err := c.editConfig(cmd.Context(), false, settings.FollowKey, unset); err != nil {
			return err
		}
		c.conf = nil
		return c.printFollowing(cmd)
	})
}

func (c *cli) gitStatus() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show which git branch is followed",
		Long: "Show which git branch the memory follows, which branch of the memory that is, whether it can be\n" +
			"written, and if not why.",
		Example: "  mnem git status\n  mnem git status --json",
		Args:    cobra.NoArgs,
	}
	return c.command(cmd, func(cmd *cobra.Command, _ []string) error { return c.printFollowing(cmd) })
}

// printFollowing prints what is followed now.
func (c *cli) printFollowing(cmd *cobra.Command) error {
	dir, err := c.dir()
	if err != nil {
		return err
	}
	out := &followJSON{}
	tree, err := c.workTree()
	switch {
	case errors.Is(err, gitdir.ErrNone):
	case err != nil:
		return err
	default:
		out.Work = ops.Text(tree.Work)
		hook, _ := gitfollow.HookOf(tree) // of one that cannot be read nothing is said
		out.Hook = hook.Installed
	}
	req := &ops.StatusRequest{}
	side := c.aside(cmd.Context(), dir)
	err = side.askAside(cmd.Context(), &ops.StatusVerb.Spec, req, func(answer any) error {
		st := answer.(*ops.Status)
		out.Following, out.Head = st.Following, st.Head
		return nil
	})
	if errors.Is(err, store.ErrNotFound) {
		return c.openHint(err)
	}
	if err != nil {
		return err
	}
	if c.InJSON {
		return c.PrintJSON(out)
	}
	if out.Following == nil {
		where := "no git work tree is around " + line(filepath.Join(dir, repo.DirName))
		if out.Work != "" {
			where = "'mnem git follow' has it follow " + line(string(out.Work))
		}
		return c.Printf("the memory follows no git branch; %s\n", where)
	}
	if err := c.Followed(out.Following); err != nil {
		return err
	}
	if out.Hook {
		return c.Printf("git runs 'mnem git sync' after each merge\n")
	}
	return nil
}

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
			err = firstError(show.Answer(&c.Console, out, c.GitSync), err)
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
		return show.Answer(&c.Console, out, c.GitPrune)
	})
}

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
		return show.Answer(&c.Console, out, c.GitHook)
	})
}

// namesGit reports whether a request asks which commits of git there were at the time.
func namesGit(req any) bool {
	q, ok := req.(interface{ NamesGit() bool })
	return ok && q.NamesGit()
}

// nameGit writes into an answer at which commit HEAD of the git work tree was when commits of the memory were made.
func (c *cli) nameGit(ctx context.Context, answer any) error {
	if c.gitTree == nil {
		tree, err := c.workTree()
		if errors.Is(err, gitdir.ErrNone) {
			return hint(usagef("--git: %w", err), "run it in a git work tree, or leave out --git")
		}
		if err != nil {
			return err
		}
		c.gitTree = tree
	}
	return gitfollow.Name(ctx, c.gitTree, answer)
}
