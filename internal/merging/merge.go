// Package merging applies the changes of other commits to a branch: merge, revert and cherry-pick, and merges in
// progress with their conflicts, one by one.
package merging

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/merge3"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// MergeResult is the outcome of a merge, a revert or a cherry-pick.
type MergeResult struct {
	core.CommitResult                 // Commit is undefined if conflicts remain
	FastForward       bool            // whether the branch simply moved
	UpToDate          bool            // whether there was nothing to merge
	Conflicts         []core.Conflict // all of them, resolved by Prefer or waiting, in item order
	VectorsDropped    int             // embeddings that fit no merged node
}

// Merge merges a revision into a branch: three-way, per field, property, edge and mark. A branch without its own
// commits just moves. If both sides changed one thing differently and opt.Prefer does not decide, the merge stays in
// progress (see core.PendingMerge), the branch does not move, and a *core.MergeError is returned with the result.
func Merge(ctx context.Context, r *core.Repo, rev string, opt core.MergeOptions) (*MergeResult, error) {
	return integrate(ctx, r, opt, func(t *core.Tx, ref core.Ref, head *core.Snapshot, res *MergeResult) (*core.Job, error) {
		c, err := r.Revisions().ResolveIn(ctx, t.View, rev)
		if err != nil {
			return nil, err
		}
		if err := t.VerifyTheirs(ctx, opt, c, head.Id); err != nil {
			return nil, err
		}
		done, err := fastForward(ctx, t, ref, head, c, opt, res)
		if done || err != nil {
			return nil, err
		}
		j := &core.Job{
			Verb: commit.VerbMerge, Name: rev,
			Message: fmt.Sprintf("merge %s into %s", rev, core.BranchName(ref.Name)),
		}
		if j.Base, err = mergeBase(ctx, t, head.Id, c); err != nil {
			return nil, err
		}
		j.Theirs, err = t.At(ctx, c)
		return j, err
	})
}

// fastForward moves a branch to a commit that contains it, and does nothing for a commit that the branch contains.
func fastForward(
	ctx context.Context, t *core.Tx, ref core.Ref, head *core.Snapshot, c ipld.CID, opt core.MergeOptions, res *MergeResult,
) (done bool, err error) {
	get := t.Repo.Facts()
	var has bool
	if head.Id.Defined() {
		if has, err = commit.IsAncestor(ctx, get, c, head.Id); err != nil {
			return false, err
		}
	}
	if has {
		res.UpToDate, res.NoChange = true, true
		res.Commit, res.Graph, res.Parents = head.Id, head.Graph(), head.Record.Parents
		return true, t.DropKept(ctx, c)
	}
	if head.Id.Defined() {
		forward, err := commit.IsAncestor(ctx, get, head.Id, c)
		if err != nil || !forward || opt.NoFastForward {
			return false, err
		}
	}
	next, err := t.At(ctx, c)
	if err != nil {
		return false, err
	}
	res.FastForward = true
	res.Commit, res.Graph, res.Parents = c, next.Graph(), next.Record.Parents
	if res.Nodes, res.Edges, err = head.Diff(next).Count(ctx); err != nil {
		return false, err
	}
	if res.Secrets, err = t.Incoming(ctx, head.State, next.State, opt.Secrets); err != nil {
		return false, err
	}
	t.SetRef(ref.Name, c)
	return true, t.DropKept(ctx, c)
}

// integrate merges the job that prepare returns into a branch, in one operation.
func integrate(
	ctx context.Context, r *core.Repo, opt core.MergeOptions,
	prepare func(*core.Tx, core.Ref, *core.Snapshot, *MergeResult) (*core.Job, error),
) (*MergeResult, error) {
	return onBranch(ctx, r, opt, func(
		t *core.Tx, ref core.Ref, head *core.Snapshot, res *MergeResult,
	) (*core.MergeError, error) {
		if err := noMerge(ctx, t, ref); err != nil {
			return nil, err
		}
		j, err := prepare(t, ref, head, res)
		if err != nil || j == nil {
			return nil, err
		}
		return mergeJob(ctx, t, ref, head, j, opt, res)
	})
}

// onBranch runs one operation on a branch. The error that do returns in its first result, about conflicts, comes with
// the result.
func onBranch(
	ctx context.Context, r *core.Repo, opt core.MergeOptions,
	do func(*core.Tx, core.Ref, *core.Snapshot, *MergeResult) (*core.MergeError, error),
) (*MergeResult, error) {
	if err := opt.Check(); err != nil {
		return nil, err
	}
	said, err := core.CheckTexts(opt.Stamp, opt.Message)
	if err != nil {
		return nil, err
	}
	res := &MergeResult{}
	var failed *core.MergeError
	_, err = r.Transact(ctx, opt.Stamp, func(t *core.Tx) error {
		*res = MergeResult{}
		ref, head, err := t.Base(ctx, opt.CommitOptions)
		if err != nil {
			return err
		}
		res.Branch = core.BranchName(ref.Name)
		failed, err = do(t, ref, head, res)
		return err
	})
	res.Secrets.Add(said.Findings...)
	switch {
	case err != nil:
		return nil, err
	case failed != nil:
		return res, failed
	}
	return res, nil
}

// noMerge returns an error if a merge is in progress on a branch.
func noMerge(ctx context.Context, t *core.Tx, ref core.Ref) error {
	_, ok, err := t.View.MergeOn(ctx, ref.Name)
	if err == nil && ok {
		err = &core.InProgressError{Branch: core.BranchName(ref.Name)}
	}
	return err
}

// mergeJob merges and makes a commit, or keeps the merge in progress and returns the conflicts.
func mergeJob(
	ctx context.Context, t *core.Tx, ref core.Ref, head *core.Snapshot, j *core.Job, opt core.MergeOptions, res *MergeResult,
) (*core.MergeError, error) {
	if opt.Message == "" {
		opt.Message, opt.Kept = j.Message, j.Kept
	}
	if err := opt.Keep(); err != nil {
		return nil, err
	}
	m, err := merge3.MergeStates(ctx, t.Stage, j.Base, head.State, j.Theirs.State)
	if err != nil {
		return nil, err
	}
	if parent(j) == nil { // a separate commit, which would write erased data again
		if err := history.NoneErased(ctx, head.State, m.State); err != nil {
			return nil, err
		}
	}
	res.VectorsDropped = m.Dropped
	if res.Conflicts, err = t.Conflicts(ctx, m.Conflicts, head.State, j.Theirs.State); err != nil {
		return nil, err
	}
	next := m.State
	switch {
	case len(m.Conflicts) > 0 && opt.Prefer == "" && !(opt.Newest && parent(j) != nil):
		err := t.Suspend(ctx, ref, head, j, m, opt)
		return &core.MergeError{
			Verb: string(j.Verb), Name: j.Name, Branch: res.Branch, Conflicts: res.Conflicts,
			Base: head.Id, Head: head.Id,
		}, err
	case len(m.Conflicts) > 0:
		if next, err = prefer(ctx, t, head, j, m, opt, res); err != nil {
			return nil, err
		}
	}
	return nil, t.Land(ctx, ref, head, next, parent(j), opt.CommitOptions, &res.CommitResult)
}

// prefer resolves all conflicts of a merge as its options say.
func prefer(
	ctx context.Context, t *core.Tx, head *core.Snapshot, j *core.Job, m *merge3.Merged, opt core.MergeOptions, res *MergeResult,
) (*state.State, error) {
	take := func(graph.Item) graph.Take { return opt.Prefer }
	if opt.Newest {
		chosen, err := newest(ctx, t, m.Conflicts, head.Id, j.Theirs.Id)
		if err != nil {
			return nil, err
		}
		take = func(item graph.Item) graph.Take { return chosen[item] }
	}
	all := func(item graph.Item) (commit.Resolution, bool) { return commit.Resolution{Take: take(item)}, true }
	next, more, err := resolve(ctx, t, m, head.State, j.Theirs.State, opt.Stamp, all)
	if err != nil {
		return nil, err
	}
	res.VectorsDropped += more
	for i := range res.Conflicts {
		res.Conflicts[i].Resolution = string(take(res.Conflicts[i].Item))
	}
	return next, nil
}

// parent returns the second parent of the commit that a job makes, nil for none.
func parent(j *core.Job) *core.Snapshot {
	if j.Verb == commit.VerbMerge {
		return j.Theirs
	}
	return nil
}
