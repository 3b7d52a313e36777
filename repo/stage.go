package repo

import (
	"cmp"
	"context"
	"fmt"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// DefaultStage is the stage that is used where none is named, but by a client of a shared store that has a name.
const DefaultStage = "main"

// StageOptions says where staged changes go.
type StageOptions struct {
	Stamp
	Stage  string // see StageName
	Branch string // for a stage that is empty: the branch to build on; "" for HEAD's
	// Base is, for a stage that is empty, the commit that the changes were made against; nil for the
	// newest of the branch. Committing merges the stage onto the branch where that is elsewhere.
	Base *ipld.CID
}

// Client returns what this client is called in a store that others share, "" in others.
func (r *Repo) Client() string {
	if r.shared == nil {
		return ""
	}
	return r.client
}

// StageName returns the name of a stage: the one that is meant where that is empty.
func (r *Repo) StageName(name string) string {
	return cmp.Or(name, r.Client(), DefaultStage)
}

func (r *Repo) stageRef(name string) (graph.RefName, error) {
	name = r.StageName(name)
	ref := graph.StageRef(name)
	if err := graph.ValidateRef(ref); err != nil {
		return "", fmt.Errorf("%w: stage %q: %w", ErrInvalid, name, err)
	}
	return ref, nil
}

// StageResult tells what is staged after a change of the stage.
type StageResult struct {
	Nodes      Counts // against the commit the stage builds on
	Edges      Counts
	Duplicates int
	Unchanged  int
	Secrets    SecretReport // as in CommitResult
}

// StageChanges applies changes to a stage, all or nothing, without making a commit. A stage may
// hold edges whose ends do not exist yet; committing it may not.
func (r *Repo) StageChanges(
	ctx context.Context, changes Changes, opt StageOptions,
) (*StageResult, error) {
	name, err := r.stageRef(opt.Stage)
	if err != nil {
		return nil, err
	}
	var res *StageResult
	changes = r.replayed(changes)
	_, err = r.transact(ctx, opt.Stamp, func(t *tx) error {
		rec, base, staged, err := t.loadStage(ctx, name, opt.Branch)
		if err == nil && opt.Base != nil {
			rec, base, staged, err = t.stageOn(ctx, name, rec, base, staged, *opt.Base)
		}
		if err != nil {
			return err
		}
		b := newBatch(ctx, t.stage, t.scratch, staged, opt.Stamp)
		next, err := b.apply(changes, false)
		if err != nil {
			return err
		}
		if err := t.writeGraph(ctx, next); err != nil {
			return err
		}
		res = &StageResult{
			Duplicates: b.duplicates, Unchanged: b.unchanged, Secrets: b.secrets.report,
		}
		res.Nodes, res.Edges, err = Diff{from: base.state, to: next}.Count(ctx)
		if err != nil {
			return err
		}
		return t.writeStage(ctx, name, rec, base, next)
	})
	return res, err
}

// writeStage points the stage's ref at the staged state, or removes it where nothing is staged.
func (t *tx) writeStage(
	ctx context.Context, name graph.RefName, rec *commit.Stage, base *Snapshot, next *state,
) error {
	old, ok, err := t.view.get(ctx, name)
	if err != nil {
		return err
	}
	if next.root == base.Graph() && next.vectorsRoot() == base.state.vectorsRoot() ||
		!base.id.Defined() && next.isEmpty() {
		if ok {
			t.removeRef(name)
		}
		return nil
	}
	rec.Graph, rec.Vectors = next.root, next.vectorsRoot()
	if err := rec.Validate(); err != nil {
		return fmt.Errorf("%w: stage: %w", ErrInvalid, err)
	}
	c, err := t.put(ctx, rec.Encode())
	if err != nil || c == old.Target {
		return err
	}
	t.setRef(name, c)
	return t.found(ctx, rec.Branch)
}

// loadStage returns a stage's record, the commit it builds on and what is staged, with the profiles
// of that commit: they are not staged. A stage that does not exist is the newest commit of the
// branch.
func (t *tx) loadStage(
	ctx context.Context, name graph.RefName, branch string,
) (*commit.Stage, *Snapshot, *state, error) {
	ref, ok, err := t.view.get(ctx, name)
	if err != nil {
		return nil, nil, nil, err
	}
	if !ok {
		on, base, err := t.base(ctx, CommitOptions{Branch: branch})
		if err != nil {
			return nil, nil, nil, err
		}
		return &commit.Stage{Base: base.id, Branch: on.Name}, base, base.state, nil
	}
	rec, err := commit.ReadStage(ctx, t.stage, ref.Target)
	if err != nil {
		return nil, nil, nil, err
	}
	base, err := t.at(ctx, rec.Base)
	if err != nil {
		return nil, nil, nil, err
	}
	staged, err := loadState(ctx, t.nodes, t.stage, base.state.staged(rec))
	return rec, base, staged, err
}

// stageOn returns what loadStage returned, for a stage that is empty as one that builds on a commit.
func (t *tx) stageOn(
	ctx context.Context, name graph.RefName, rec *commit.Stage, base *Snapshot, staged *state, on ipld.CID,
) (*commit.Stage, *Snapshot, *state, error) {
	if _, ok, err := t.view.get(ctx, name); ok || err != nil || rec.Base == on {
		return rec, base, staged, err
	}
	base, err := t.at(ctx, on)
	if err != nil {
		return nil, nil, nil, err
	}
	return &commit.Stage{Base: on, Branch: rec.Branch}, base, base.state, nil
}

// CommitStaged makes a commit of a stage and empties it. Where the branch moved since the stage
// began, what was staged is merged onto it; what does not merge is kept as a commit of its own and
// a *MergeError names it and what both changed.
func (r *Repo) CommitStaged(
	ctx context.Context, stage string, opt CommitOptions,
) (*CommitResult, error) {
	name, err := r.stageRef(stage)
	if err != nil {
		return nil, err
	}
	if opt.Base != nil {
		return nil, invalidf("a stage knows the commit that it was made against")
	}
	said, err := checkTexts(opt.Stamp, opt.Message)
	if err != nil {
		return nil, err
	}
	res := &CommitResult{Secrets: said}
	var kept *MergeError
	_, err = r.transact(ctx, opt.Stamp, func(t *tx) error {
		*res, kept = CommitResult{Secrets: said}, nil
		rec, base, staged, err := t.loadStage(ctx, name, opt.Branch)
		if err != nil {
			return err
		}
		if opt.Branch == "" {
			opt.Branch, _ = rec.Branch.Branch()
		}
		ref, head, err := t.base(ctx, opt)
		if err != nil {
			return err
		}
		if _, ok, err := t.view.get(ctx, name); err != nil {
			return err
		} else if ok {
			t.removeRef(name)
		}
		kept, err = t.rebase(ctx, ref, base, head, staged, opt, res)
		return err
	})
	if err == nil && kept != nil {
		return nil, kept
	}
	return res, err
}

// Status is what a stage holds.
type Status struct {
	Branch string   // that a commit of the stage goes to; empty for none: HEAD is detached
	Head   ipld.CID // newest commit of that branch, undefined before the first
	Base   ipld.CID // commit the stage builds on; Head where nothing is staged
	Staged bool     // whether anything is staged
	Diff   Diff     // from Base to what is staged
}

// Status tells what is staged.
func (r *Repo) Status(ctx context.Context, stage string) (*Status, error) {
	name, err := r.stageRef(stage)
	if err != nil {
		return nil, err
	}
	v, err := r.current(ctx)
	if err != nil {
		return nil, err
	}
	ref, staged, err := v.get(ctx, name)
	if err != nil {
		return nil, err
	}
	head, _, err := v.resolve(ctx, graph.Head)
	if err != nil {
		return nil, err
	}
	st := &Status{Branch: branchName(head.Name), Head: head.Target, Base: head.Target, Staged: staged}
	var rec *commit.Stage
	if staged {
		rec, err = commit.ReadStage(ctx, r.facts(), ref.Target)
		if err != nil {
			return nil, err
		}
		on, _, err := v.resolve(ctx, rec.Branch)
		if err != nil {
			return nil, err
		}
		st.Branch, st.Head, st.Base = branchName(on.Name), on.Target, rec.Base
	}
	base, err := r.At(ctx, st.Base)
	if err != nil {
		return nil, err
	}
	st.Diff = Diff{from: base.state, to: base.state}
	if staged {
		st.Diff.to, err = r.loadState(ctx, base.state.staged(rec))
	}
	return st, err
}

// Unstage forgets what a stage holds.
func (r *Repo) Unstage(ctx context.Context, stage string, by Stamp) error {
	name, err := r.stageRef(stage)
	if err != nil {
		return err
	}
	_, err = r.transact(ctx, by, func(t *tx) error {
		_, ok, err := t.view.get(ctx, name)
		if err == nil && ok {
			t.removeRef(name)
		}
		return err
	})
	return err
}
