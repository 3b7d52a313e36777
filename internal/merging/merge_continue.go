package merging

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/merge3"
	"github.com/mnem-project/mnem/internal/state"
)

// Choice is the resolution of a conflict: a version, or change lines about the item that apply to our side's version.
type Choice struct {
	Take    graph.Take
	Changes state.Changes // instead of Take
}

func (c Choice) check() error {
	switch c.Take {
	case graph.TakeOurs, graph.TakeTheirs, graph.TakeBase:
		if c.Changes == nil {
			return nil
		}
	case "":
		if c.Changes != nil {
			return nil
		}
	}
	return state.Invalidf("a conflict is resolved by ours, theirs or base, or else by change lines")
}

// ResolveConflict decides about one conflict of the merge in progress on a branch, opt.Branch, and returns the
// updated merge. item is the item's name, the key of the node, or a unique prefix of the id. A decision can be
// changed until ContinueMerge. An erased version cannot be taken: the error wraps store.ErrRedacted.
func ResolveConflict(
	ctx context.Context, r *core.Repo, item string, choice Choice, opt core.CommitOptions,
) (*core.PendingMerge, error) {
	if err := choice.check(); err != nil {
		return nil, err
	}
	var out *core.PendingMerge
	choice.Changes = r.Replayed(choice.Changes)
	_, err := r.Transact(ctx, opt.Stamp, func(t *core.Tx) error {
		ref, _, err := t.Base(ctx, opt)
		if err != nil {
			return err
		}
		p, err := core.ReadPending(ctx, t.View, t.Nodes, t.Stage, ref.Name)
		if err != nil {
			return err
		}
		c, err := find(ctx, p, t, item)
		if err != nil {
			return err
		}
		if choice.Take == graph.TakeBase && c.Base.Defined() {
			if _, err := t.Stage.Get(ctx, c.Base); err != nil {
				return fmt.Errorf("%s before both sides: %w", c.Item, err)
			}
		}
		res := commit.Resolution{Take: choice.Take}
		if choice.Take == "" {
			at, err := partial(ctx, p, t)
			if err != nil {
				return err
			}
			if res.Record, err = lineRecord(ctx, t, at, c.Item, choice.Changes, opt.Stamp); err != nil {
				return err
			}
		}
		p.Resolutions, err = p.Resolutions.Edit(ctx, []prolly.Edit{
			{Key: []byte(c.Item.String()), Value: res.Encode()},
		})
		if err != nil {
			return err
		}
		p.Rec.Resolutions = p.Resolutions.Root()
		if out, err = p.Show(ctx, t.Nodes, t.Stage); err != nil {
			return err
		}
		return t.WriteMerge(ctx, p.Name, p.Rec)
	})
	return out, err
}

// partial returns the merged part of the state.
func partial(ctx context.Context, p *core.Pending, t *core.Tx) (*state.State, error) {
	return state.LoadState(ctx, t.Nodes, t.Stage, p.Roots())
}

// find returns the one conflict that a name matches.
func find(ctx context.Context, p *core.Pending, t *core.Tx, name string) (*commit.Conflict, error) {
	var found *commit.Conflict
	byKey := graph.Item{Kind: graph.NodeItem, ID: graph.NodeID(name)}
	for c, err := range p.Each(ctx, t.Stage) {
		if err != nil {
			return nil, err
		}
		if c.Item.String() == name || c.Item == byKey {
			return c, nil
		}
		id := c.Item.ID.String()
		if len(name) < core.MinPrefix || !strings.HasPrefix(id, name) &&
			!strings.HasPrefix(c.Item.String(), name) {
			continue
		}
		if found != nil {
			return nil, &state.AmbiguousError{What: "conflict", Name: name}
		}
		found = c
	}
	if found == nil {
		return nil, &state.NotFoundError{What: "conflict", Name: name}
	}
	return found, nil
}

// ContinueMerge makes the commit of the merge in progress on opt.Branch, once all its conflicts are resolved;
// otherwise it returns a *core.MergeError that names the rest. If the branch moved since the merge began, the
// resolved state is merged onto it. If that conflicts, the state is kept as a commit, a *core.MergeError names the
// conflicts, and the merge in progress becomes that of this commit. opt.Message replaces the merge's own.
func ContinueMerge(ctx context.Context, r *core.Repo, opt core.MergeOptions) (*MergeResult, error) {
	res, err := onBranch(ctx, r, opt, func(
		t *core.Tx, ref core.Ref, head *core.Snapshot, res *MergeResult,
	) (*core.MergeError, error) {
		p, err := core.ReadPending(ctx, t.View, t.Nodes, t.Stage, ref.Name)
		if err != nil {
			return nil, err
		}
		if opt.Message == "" {
			opt.Kept = p.Rec.Message
		}
		ours, theirs, next, err := resolved(ctx, t, p, res, opt.CommitOptions)
		if err != nil {
			return nil, err
		}
		if head.Id != ours.Id {
			m, err := merge3.MergeStates(ctx, t.Stage, ours.State, head.State, next)
			if err != nil {
				return nil, err
			}
			if len(m.Conflicts) > 0 {
				m.Dropped += res.VectorsDropped
				return movedOn(ctx, t, p, ours, theirs, head, next, m, opt)
			}
			next, res.VectorsDropped = m.State, res.VectorsDropped+m.Dropped
		}
		also, err := secondParent(ctx, t, p, head, theirs)
		if err != nil {
			return nil, err
		}
		if also != nil {
			if err := t.VerifyTheirs(ctx, opt, also.Id, head.Id); err != nil {
				return nil, err
			}
		}
		t.RemoveRef(p.Name)
		return nil, t.Land(ctx, ref, head, next, also, opt.CommitOptions, &res.CommitResult)
	})
	if err != nil {
		return nil, err
	}
	return res, nil
}

// movedOn commits the resolution as if the branch had not moved, and makes its merge onto the branch's new position
// the merge in progress. It returns the error that names the conflicts.
func movedOn(
	ctx context.Context, t *core.Tx, p *core.Pending, ours, theirs, head *core.Snapshot, next *state.State, m *merge3.Merged,
	opt core.MergeOptions,
) (*core.MergeError, error) {
	list, err := t.Conflicts(ctx, m.Conflicts, head.State, next)
	if err != nil {
		return nil, err
	}
	if err := state.NoneDangling(ctx, ours.State, next); err != nil {
		return nil, err
	}
	also, err := secondParent(ctx, t, p, ours, theirs)
	if err != nil {
		return nil, err
	}
	by := opt.CommitOptions
	if also != nil {
		if err := t.VerifyTheirs(ctx, opt, also.Id, head.Id); err != nil {
			return nil, err
		}
		by.Also = append(by.Also, also)
	}
	var done core.CommitResult
	if err := t.Commit(ctx, core.Ref{Name: p.Name}, ours, next, by, &done); err != nil {
		return nil, err
	}
	t.RemoveRef(p.Name) // it may belong to no client; its successor belongs to this one
	j := &core.Job{Verb: p.Rec.Verb, Theirs: &core.Snapshot{Repo: t.Repo, Id: done.Commit}}
	return &core.MergeError{
		Verb: "continue", Name: "what was resolved", Branch: p.Branch, Conflicts: list,
		Base: ours.Id, Head: head.Id,
	}, t.Suspend(ctx, core.Ref{Name: graph.BranchRef(p.Branch)}, head, j, m, opt)
}

// resolved returns both sides of a merge in progress, and the resolved state.
func resolved(
	ctx context.Context, t *core.Tx, p *core.Pending, res *MergeResult, opt core.CommitOptions,
) (ours, theirs *core.Snapshot, next *state.State, err error) {
	if ours, err = t.At(ctx, p.Rec.Ours); err != nil {
		return nil, nil, nil, err
	}
	if theirs, err = t.At(ctx, p.Rec.Theirs); err != nil {
		return nil, nil, nil, err
	}
	partial, err := partial(ctx, p, t)
	if err != nil {
		return nil, nil, nil, err
	}
	m := &merge3.Merged{State: partial, Dropped: int(p.Rec.Dropped)}
	choices := make(map[graph.Item]commit.Resolution)
	var open []*commit.Conflict
	for c, err := range p.Each(ctx, t.Stage) {
		if err != nil {
			return nil, nil, nil, err
		}
		m.Conflicts = append(m.Conflicts, c)
		r, ok, err := p.Resolution(ctx, c.Item)
		if err != nil {
			return nil, nil, nil, err
		}
		if !ok {
			open = append(open, c)
		}
		choices[c.Item] = r
	}
	if len(open) > 0 {
		list, err := t.Conflicts(ctx, open, ours.State, theirs.State)
		return nil, nil, nil, errors.Join(err, &core.MergeError{
			Verb: string(p.Rec.Verb), Branch: p.Branch, Conflicts: list, Base: p.Rec.Ours, Head: p.Rec.Ours,
		})
	}
	next, more, err := resolve(ctx, t, m, ours.State, theirs.State, opt.Stamp,
		func(i graph.Item) (commit.Resolution, bool) { return choices[i], true })
	res.VectorsDropped = m.Dropped + more
	return ours, theirs, next, err
}

// secondParent returns the second parent of a merge commit, or nil if it has none or the head already contains it.
func secondParent(
	ctx context.Context, t *core.Tx, p *core.Pending, head, theirs *core.Snapshot,
) (*core.Snapshot, error) {
	if p.Rec.Verb != commit.VerbMerge {
		return nil, nil
	}
	has, err := commit.IsAncestor(ctx, t.Repo.Facts(), theirs.Id, head.Id)
	if err != nil || has {
		return nil, err
	}
	return theirs, nil
}

// AbortMerge discards the merge in progress on opt.Branch and its resolutions. The branch does not move.
func AbortMerge(ctx context.Context, r *core.Repo, opt core.CommitOptions) (branch string, err error) {
	_, err = r.Transact(ctx, opt.Stamp, func(t *core.Tx) error {
		ref, _, err := t.Base(ctx, opt)
		if err != nil {
			return err
		}
		branch = core.BranchName(ref.Name)
		p, err := core.ReadPending(ctx, t.View, t.Nodes, t.Stage, ref.Name)
		if err == nil {
			t.RemoveRef(p.Name)
		}
		return err
	})
	return branch, err
}
