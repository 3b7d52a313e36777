package repo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/prolly"
)

// Choice says how a conflict is resolved: by a version, or by change lines about the item, which
// apply to what our side has.
type Choice struct {
	Take    graph.Take
	Changes Changes // instead of Take
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
	return invalidf("a conflict is resolved by ours, theirs or base, or else by change lines")
}

// ResolveConflict decides about one conflict of the merge in progress on a branch, opt.Branch,
// and returns the merge as it is then. item is the item's name, the key of the node, or a unique
// prefix of the id. A decision can be made again until ContinueMerge. What was erased can not be
// taken: the error wraps store.ErrRedacted.
func (r *Repo) ResolveConflict(
	ctx context.Context, item string, choice Choice, opt CommitOptions,
) (*PendingMerge, error) {
	if err := choice.check(); err != nil {
		return nil, err
	}
	var out *PendingMerge
	choice.Changes = r.replayed(choice.Changes)
	_, err := r.transact(ctx, opt.Stamp, func(t *tx) error {
		ref, _, err := t.base(ctx, opt)
		if err != nil {
			return err
		}
		p, err := readPending(ctx, t.view, t.nodes, t.stage, ref.Name)
		if err != nil {
			return err
		}
		c, err := p.find(ctx, t, item)
		if err != nil {
			return err
		}
		if choice.Take == graph.TakeBase && c.Base.Defined() {
			if _, err := t.stage.Get(ctx, c.Base); err != nil {
				return fmt.Errorf("%s before both sides: %w", c.Item, err)
			}
		}
		res := commit.Resolution{Take: choice.Take}
		if choice.Take == "" {
			at, err := p.partial(ctx, t)
			if err != nil {
				return err
			}
			if res.Record, err = t.lineRecord(ctx, at, c.Item, choice.Changes, opt.Stamp); err != nil {
				return err
			}
		}
		p.resolutions, err = p.resolutions.Edit(ctx, []prolly.Edit{
			{Key: []byte(c.Item.String()), Value: res.Encode()},
		})
		if err != nil {
			return err
		}
		p.rec.Resolutions = p.resolutions.Root()
		if out, err = p.show(ctx, t.nodes, t.stage); err != nil {
			return err
		}
		return t.writeMerge(ctx, p.name, p.rec)
	})
	return out, err
}

// partial returns what merged.
func (p *pending) partial(ctx context.Context, t *tx) (*state, error) {
	return loadState(ctx, t.nodes, t.stage, p.roots())
}

// find returns the one conflict that a name is for.
func (p *pending) find(ctx context.Context, t *tx, name string) (*commit.Conflict, error) {
	var found *commit.Conflict
	byKey := graph.Item{Kind: graph.NodeItem, ID: graph.NodeID(name)}
	for c, err := range p.each(ctx, t.stage) {
		if err != nil {
			return nil, err
		}
		if c.Item.String() == name || c.Item == byKey {
			return c, nil
		}
		id := c.Item.ID.String()
		if len(name) < minPrefix || !strings.HasPrefix(id, name) &&
			!strings.HasPrefix(c.Item.String(), name) {
			continue
		}
		if found != nil {
			return nil, &AmbiguousError{What: "conflict", Name: name}
		}
		found = c
	}
	if found == nil {
		return nil, &NotFoundError{What: "conflict", Name: name}
	}
	return found, nil
}

// ContinueMerge makes the commit of the merge in progress on opt.Branch, once all its conflicts
// are resolved; else it returns a *MergeError that names the others. Where the branch moved since
// the merge began, what was resolved is merged onto it. If that conflicts it is kept as a commit,
// a *MergeError names what does, and the merge in progress is then that of this commit. opt.Message
// replaces the merge's own.
func (r *Repo) ContinueMerge(ctx context.Context, opt MergeOptions) (*MergeResult, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	said, err := checkTexts(opt.Stamp, opt.Message)
	if err != nil {
		return nil, err
	}
	res := &MergeResult{}
	var failed *MergeError
	_, err = r.transact(ctx, opt.Stamp, func(t *tx) error {
		*res, failed = MergeResult{}, nil
		ref, head, err := t.base(ctx, opt.CommitOptions)
		if err != nil {
			return err
		}
		p, err := readPending(ctx, t.view, t.nodes, t.stage, ref.Name)
		if err != nil {
			return err
		}
		if opt.Message == "" {
			opt.kept = p.rec.Message
		}
		ours, theirs, next, err := t.resolved(ctx, p, res, opt.CommitOptions)
		if err != nil {
			return err
		}
		res.Branch = branchName(ref.Name)
		if head.id != ours.id {
			m, err := mergeStates(ctx, t.stage, ours.state, head.state, next)
			if err != nil {
				return err
			}
			if len(m.conflicts) > 0 {
				m.dropped += res.VectorsDropped
				failed, err = t.movedOn(ctx, p, ours, theirs, head, next, m, opt)
				return err
			}
			next, res.VectorsDropped = m.state, res.VectorsDropped+m.dropped
		}
		also, err := t.secondParent(ctx, p, head, theirs)
		if err != nil {
			return err
		}
		if also != nil {
			if err := t.verifyTheirs(ctx, opt, also.id, head.id); err != nil {
				return err
			}
		}
		t.removeRef(p.name)
		return t.land(ctx, ref, head, next, also, opt.CommitOptions, &res.CommitResult)
	})
	res.Secrets.add(said.Findings...)
	switch {
	case err != nil:
		return nil, err
	case failed != nil:
		return nil, failed
	}
	return res, nil
}

// movedOn makes the commit of what was resolved as if the branch had not moved, and its merge onto
// where the branch is the merge in progress. It returns the error that names what conflicts.
func (t *tx) movedOn(
	ctx context.Context, p *pending, ours, theirs, head *Snapshot, next *state, m *merged,
	opt MergeOptions,
) (*MergeError, error) {
	list, err := t.conflicts(ctx, m.conflicts, head.state, next)
	if err != nil {
		return nil, err
	}
	if err := noneDangling(ctx, ours.state, next); err != nil {
		return nil, err
	}
	also, err := t.secondParent(ctx, p, ours, theirs)
	if err != nil {
		return nil, err
	}
	by := opt.CommitOptions
	if also != nil {
		if err := t.verifyTheirs(ctx, opt, also.id, head.id); err != nil {
			return nil, err
		}
		by.also = append(by.also, also)
	}
	var done CommitResult
	if err := t.commit(ctx, Ref{Name: p.name}, ours, next, by, &done); err != nil {
		return nil, err
	}
	t.removeRef(p.name) // it may be of no client; what follows is the client's own
	j := &job{verb: p.rec.Verb, theirs: &Snapshot{repo: t.repo, id: done.Commit}}
	return &MergeError{
		Verb: "continue", Name: "what was resolved", Branch: p.branch, Conflicts: list,
		Base: ours.id, Head: head.id,
	}, t.suspend(ctx, Ref{Name: graph.BranchRef(p.branch)}, head, j, m, opt)
}

// resolved returns both sides of a merge in progress, and the state it becomes.
func (t *tx) resolved(
	ctx context.Context, p *pending, res *MergeResult, opt CommitOptions,
) (ours, theirs *Snapshot, next *state, err error) {
	if ours, err = t.at(ctx, p.rec.Ours); err != nil {
		return nil, nil, nil, err
	}
	if theirs, err = t.at(ctx, p.rec.Theirs); err != nil {
		return nil, nil, nil, err
	}
	partial, err := p.partial(ctx, t)
	if err != nil {
		return nil, nil, nil, err
	}
	m := &merged{state: partial, dropped: int(p.rec.Dropped)}
	choices := make(map[graph.Item]commit.Resolution)
	var open []*commit.Conflict
	for c, err := range p.each(ctx, t.stage) {
		if err != nil {
			return nil, nil, nil, err
		}
		m.conflicts = append(m.conflicts, c)
		r, ok, err := p.resolution(ctx, c.Item)
		if err != nil {
			return nil, nil, nil, err
		}
		if !ok {
			open = append(open, c)
		}
		choices[c.Item] = r
	}
	if len(open) > 0 {
		list, err := t.conflicts(ctx, open, ours.state, theirs.state)
		return nil, nil, nil, errors.Join(err, &MergeError{
			Verb: string(p.rec.Verb), Branch: p.branch, Conflicts: list, Base: p.rec.Ours, Head: p.rec.Ours,
		})
	}
	next, more, err := t.resolve(ctx, m, ours.state, theirs.state, opt.Stamp,
		func(i graph.Item) (commit.Resolution, bool) { return choices[i], true })
	res.VectorsDropped = m.dropped + more
	return ours, theirs, next, err
}

// secondParent returns what a merge commit has besides the head, nil where that is none or the
// head has it meanwhile.
func (t *tx) secondParent(
	ctx context.Context, p *pending, head, theirs *Snapshot,
) (*Snapshot, error) {
	if p.rec.Verb != commit.VerbMerge {
		return nil, nil
	}
	has, err := commit.IsAncestor(ctx, t.repo.facts(), theirs.id, head.id)
	if err != nil || has {
		return nil, err
	}
	return theirs, nil
}

// AbortMerge forgets the merge in progress on opt.Branch and all that was resolved of it. The
// branch is where it was.
func (r *Repo) AbortMerge(ctx context.Context, opt CommitOptions) (branch string, err error) {
	_, err = r.transact(ctx, opt.Stamp, func(t *tx) error {
		ref, _, err := t.base(ctx, opt)
		if err != nil {
			return err
		}
		branch = branchName(ref.Name)
		p, err := readPending(ctx, t.view, t.nodes, t.stage, ref.Name)
		if err == nil {
			t.removeRef(p.name)
		}
		return err
	})
	return branch, err
}
