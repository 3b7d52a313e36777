package gitfollow

import (
	"context"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/gitdir"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/ipld"
)

// Synced is the result of a sync with git.
type Synced struct {
	Branch string    `json:"branch"`
	Merged []*Merged `json:"merged"`
	Commit ipld.CID  `json:"commit" shape:"null"`
	DryRun bool      `json:"dry_run"`
}

// Merged is a branch of the memory that was merged because its git branch was.
type Merged struct {
	Branch    string          `json:"branch"`
	Git       string          `json:"git"`
	By        string          `json:"by" shape:"merge|rebase|squash|named"`
	Conflicts []core.Conflict `json:"conflicts"` // with the versions taken
}

// byName means that the branch was merged because it was named.
const byName = "named"

// memories calls fn with each other branch of the memory that may belong to a git branch, or with those of the
// named git branches, and returns the named ones without a memory.
func memories(
	ctx context.Context, here branching.Asker, named []string, fn func(name, git string, asked bool) error,
) (missing []string, err error) {
	var names []string
	err = here.Run(ctx, &branching.BranchVerb.Spec, &branching.BranchRequest{}, func(answer any) error {
		if b := answer.(*branching.Branch); !b.Current && b.Name != string(graph.Head) && b.Commit.Defined() {
			names = append(names, b.Name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	missing = slices.Clone(named)
	for _, name := range names {
		git, ok := gitdir.GitBranch(name)
		asked := slices.Contains(named, git)
		if !ok || len(named) > 0 && !asked {
			continue
		}
		if err := fn(name, git, asked); err != nil {
			return nil, err
		}
		missing = slices.DeleteFunc(missing, func(m string) bool { return m == git })
	}
	return missing, nil
}

// Sync merges into the followed branch the memory of git branches that were merged, or of the named ones. If a
// merge fails it also returns what was done before.
func Sync(
	ctx context.Context, tree *gitdir.Tree, on *operation.Following, here branching.Asker, rule branching.Rule, named []string,
	dryRun bool,
) (*Synced, error) {
	out := &Synced{DryRun: dryRun}
	if err := verb.MayWrite(on); err != nil {
		return out, err
	}
	out.Branch = on.Branch
	missing, err := memories(ctx, here, named, func(name, git string, asked bool) error {
		if has, err := hasMemory(ctx, here, name); has || err != nil {
			return err
		}
		by := byName
		if !asked {
			var err error
			if by, err = tree.Merged(ctx, git); by == "" || err != nil {
				return err
			}
		}
		m := &Merged{Branch: name, Git: git, By: by}
		out.Merged = append(out.Merged, m)
		if dryRun {
			return nil
		}
		req := &branching.MergeRequest{Rev: string(graph.BranchRef(name))}
		req.Message = fmt.Sprintf("merge the memory of %s", name)
		res, err := here.Merge(ctx, req, rule)
		if res != nil {
			m.Conflicts = res.Conflicts
			if err == nil {
				out.Commit = res.Commit
			}
		}
		return err
	})
	if err != nil {
		return out, err
	}
	for _, git := range missing {
		if git != on.Git {
			return out, verb.Hintf(&state.NotFoundError{What: "memory of git branch", Name: git},
				"see 'mnem branch' for the branches of the memory")
		}
	}
	return out, nil
}

// hasMemory reports whether the followed branch contains another branch.
func hasMemory(ctx context.Context, here branching.Asker, branch string) (bool, error) {
	req := &branching.MergeRequest{Rev: string(graph.BranchRef(branch))}
	req.DryRun, req.Time = true, here.Time
	answer, err := here.Answer(ctx, &branching.Merge.Spec, req)
	if err != nil && verb.OutcomeOf(ctx, err) == operation.Conflict {
		return false, nil
	}
	res, ok := answer.(*branching.Merged)
	return ok && res.NoChange, err
}

// Pruned is the result of pruning.
type Pruned struct {
	Removed []branching.Gone `json:"removed"`
	Kept    []Kept           `json:"kept"`
}

// Kept is a branch that was not removed.
type Kept struct {
	Branch string `json:"branch"`
	Git    string `json:"git"`
	Why    string `json:"why"`
}

// Prune removes branches of the memory whose git branch was deleted, all or the named ones; with force even if no
// other branch contains their memory.
func Prune(ctx context.Context, tree *gitdir.Tree, here branching.Asker, named []string, force bool) (*Pruned, error) {
	out := &Pruned{}
	missing, err := memories(ctx, here, named, func(name, git string, asked bool) error {
		gone, err := tree.Gone(ctx, git)
		if asked && err == nil {
			var tip string
			if tip, err = tree.Tip(ctx, "refs/heads/"+git); tip != "" {
				return verb.Hintf(fmt.Errorf("%w: there is a git branch %s", state.ErrInvalid, text.EscapeLine(git)),
					"remove it with 'git branch -d' first")
			}
			gone = true
		}
		if !gone || err != nil {
			return err
		}
		req := &branching.BranchRequest{Name: name, Delete: true, Force: force}
		req.Time = here.Time
		answer, err := here.Answer(ctx, &branching.BranchVerb.Spec, req)
		switch removed, ok := answer.(*branching.Gone); {
		case err == nil && ok:
			out.Removed = append(out.Removed, *removed)
		case verb.OutcomeOf(ctx, err) == operation.Invalid:
			out.Kept = append(out.Kept, Kept{name, git, err.Error()})
			return nil
		}
		return err
	})
	if err == nil && len(missing) > 0 {
		err = &state.NotFoundError{What: "memory of git branch", Name: missing[0]}
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}
