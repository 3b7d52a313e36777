package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/gitdir"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/operation"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

// byName is why the memory of a branch that was named is merged.
const byName = "named"

// gitSyncJSON is what a sync with git did.
type gitSyncJSON struct {
	Branch string               `json:"branch"`
	Merged ops.List[*gitMerged] `json:"merged"`
	Commit ipld.CID             `json:"commit" shape:"null"`
	DryRun bool                 `json:"dry_run"`
}

// gitMerged is a branch of the memory that was merged since its git branch was.
type gitMerged struct {
	Branch    string                 `json:"branch"`
	Git       string                 `json:"git"`
	By        string                 `json:"by" shape:"merge|rebase|squash|named"`
	Conflicts ops.List[ops.Conflict] `json:"conflicts"` // with what was taken
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
		out := &gitSyncJSON{DryRun: f.DryRun}
		err := c.syncGit(cmd.Context(), f, args, out)
		if out.Branch != "" {
			err = firstError(c.printGitSync(out), err)
		}
		return err
	})
}

// following returns the work tree that is followed.
func (c *cli) following() (*gitdir.Tree, error) {
	if _, err := c.repoFile(""); err != nil {
		return nil, err
	}
	if err := c.follow(); err != nil {
		return nil, err
	}
	if c.by.Following == nil {
		return nil, hint(fmt.Errorf("%w: the memory follows no git branch", repo.ErrInvalid), "run 'mnem git follow' first")
	}
	return c.workTree()
}

// memories calls fn with each other branch of the memory that a git branch may have.
func (c *cli) memories(ctx context.Context, fn func(name, git string) error) error {
	here, err := c.hereSide(false)
	if err != nil {
		return err
	}
	var names []string
	err = c.aside(ctx, here.Dir).askAside(ctx, &ops.BranchVerb.Spec, &ops.BranchRequest{}, func(answer any) error {
		if b := answer.(*ops.Branch); !b.Current && b.Name != string(graph.Head) && b.Commit.Defined() {
			names = append(names, b.Name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range names {
		if git, ok := gitdir.GitBranch(name); ok {
			if err := fn(name, git); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *cli) syncGit(ctx context.Context, f syncFlags, named []string, out *gitSyncJSON) error {
	tree, err := c.following()
	if err != nil {
		return err
	}
	if why := c.by.Following.ReadOnly; why != "" {
		return &repo.ReadOnlyError{Why: why}
	}
	out.Branch = c.by.Following.Branch
	wanted := make(map[string]bool) // by name, and whether it was found
	for _, git := range named {
		wanted[git] = false
	}
	err = c.memories(ctx, func(name, git string) error {
		_, asked := wanted[git]
		if len(named) > 0 && !asked {
			return nil
		}
		wanted[git] = true
		if has, err := c.hasMemory(ctx, name); has || err != nil {
			return err
		}
		by := byName
		if !asked {
			if by, err = tree.Merged(ctx, git); by == "" || err != nil {
				return err
			}
		}
		m := &gitMerged{Branch: name, Git: git, By: by}
		out.Merged = append(out.Merged, m)
		if f.DryRun {
			return nil
		}
		return c.mergeMemory(ctx, f, m, out)
	})
	if err != nil {
		return err
	}
	for _, git := range named {
		if !wanted[git] && git != c.by.Following.Git {
			return hint(&repo.NotFoundError{What: "memory of git branch", Name: git}, "see 'mnem branch' for the branches of the memory")
		}
	}
	return nil
}

// hasMemory reports whether the branch that is followed has all of another branch.
func (c *cli) hasMemory(ctx context.Context, branch string) (bool, error) {
	here, err := c.hereSide(false)
	if err != nil {
		return false, err
	}
	req := &ops.MergeRequest{Rev: string(graph.BranchRef(branch))}
	req.DryRun, req.Time = true, c.global.time
	answer, err := here.Run(ctx, &ops.Merge.Spec, req)
	if err != nil && ops.OutcomeOf(ctx, err) == operation.Conflict {
		return false, nil
	}
	res, ok := answer.(*ops.Merged)
	return ok && res.NoChange, err
}

// mergeMemory merges a branch of the memory into the one that is followed.
func (c *cli) mergeMemory(ctx context.Context, f syncFlags, m *gitMerged, out *gitSyncJSON) error {
	here, err := c.hereSide(false)
	if err != nil {
		return err
	}
	req := &ops.MergeRequest{Rev: string(graph.BranchRef(m.Branch))}
	req.Message = fmt.Sprintf("merge the memory of %s", m.Branch)
	res, err := here.Merge(ctx, req, f.Conflicts)
	if res != nil {
		m.Conflicts = res.Conflicts
		if err == nil {
			out.Commit = res.Commit
		}
	}
	return err
}

func (c *cli) printGitSync(s *gitSyncJSON) error {
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

// gitPruneJSON is what a pruning did.
type gitPruneJSON struct {
	Removed ops.List[ops.Gone] `json:"removed"`
	Kept    ops.List[gitKept]  `json:"kept"`
}

// gitKept is a branch that was not removed.
type gitKept struct {
	Branch string `json:"branch"`
	Git    string `json:"git"`
	Why    string `json:"why"`
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
		out := &gitPruneJSON{}
		if err := c.pruneGit(cmd.Context(), args, force, out); err != nil {
			return err
		}
		return c.printGitPrune(out)
	})
}

func (c *cli) pruneGit(ctx context.Context, named []string, force bool, out *gitPruneJSON) error {
	tree, err := c.following()
	if err != nil {
		return err
	}
	here, err := c.hereSide(false)
	if err != nil {
		return err
	}
	wanted := make(map[string]bool)
	for _, git := range named {
		wanted[git] = false
	}
	err = c.memories(ctx, func(name, git string) error {
		_, asked := wanted[git]
		if len(named) > 0 && !asked {
			return nil
		}
		wanted[git] = true
		gone, err := tree.Gone(ctx, git)
		if asked && err == nil {
			var tip string
			if tip, err = tree.Tip(ctx, "refs/heads/"+git); tip != "" {
				return hint(fmt.Errorf("%w: there is a git branch %s", repo.ErrInvalid, line(git)), "remove it with 'git branch -d' first")
			}
			gone = true
		}
		if !gone || err != nil {
			return err
		}
		req := &ops.BranchRequest{Name: name, Delete: true, Force: force}
		req.Time = c.global.time
		answer, err := here.Run(ctx, &ops.BranchVerb.Spec, req)
		switch removed, ok := answer.(*ops.Gone); {
		case err == nil && ok:
			out.Removed = append(out.Removed, *removed)
		case ops.OutcomeOf(ctx, err) == operation.Invalid:
			out.Kept = append(out.Kept, gitKept{name, git, err.Error()})
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, git := range named {
		if !wanted[git] {
			return &repo.NotFoundError{What: "memory of git branch", Name: git}
		}
	}
	return nil
}

func (c *cli) printGitPrune(p *gitPruneJSON) error {
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
