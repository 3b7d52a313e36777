package core

import (
	"cmp"
	"context"
	"fmt"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// DefaultStage is the stage that is used if none is named, but by a client of a shared store that has a name.
const DefaultStage = "main"

// StageOptions says where staged changes go.
type StageOptions struct {
	state.Stamp
	Stage  string // see StageName
	Branch string // for a stage that is empty: the branch to build on; "" for HEAD's
	// Base is, for a stage that is empty, the commit that the changes were made against; nil for the
	// newest of the branch. Committing merges the stage onto the branch if that is elsewhere.
	Base *ipld.CID
}

// Client returns what this client is called in a store that others share, "" in others.
func (r *Repo) Client() string {
	if r.SharedStore == nil {
		return ""
	}
	return r.client
}

// Stages keeps changes that were added and not yet committed, by the names of stages.
type Stages struct{ repo *Repo }

// Stages returns the stages.
func (r *Repo) Stages() Stages { return Stages{r} }

// Name returns the name of a stage: the one that is meant if that is empty.
func (s Stages) Name(name string) string {
	return cmp.Or(name, s.repo.Client(), DefaultStage)
}

func (s Stages) ref(name string) (graph.RefName, error) {
	name = s.repo.Own(s.Name(name))
	ref := graph.StageRef(name)
	if err := graph.ValidateRef(ref); err != nil {
		return "", fmt.Errorf("%w: stage %q: %w", state.ErrInvalid, name, err)
	}
	return ref, nil
}

// StageResult tells what is staged after a change of the stage.
type StageResult struct {
	Nodes      state.Counts       `json:"nodes"` // against the commit the stage builds on
	Edges      state.Counts       `json:"edges"`
	Duplicates int                `json:"duplicates"`
	Unchanged  int                `json:"unchanged"`
	Secrets    state.SecretReport `json:"-"` // as in CommitResult
}

// Add applies changes to a stage, all or nothing, without making a commit. A stage may
// hold edges whose ends do not exist yet; committing it may not.
func (s Stages) Add(ctx context.Context, changes state.Changes, opt StageOptions) (*StageResult, error) {
	name, err := s.ref(opt.Stage)
	if err != nil {
		return nil, err
	}
	var res *StageResult
	changes = s.repo.Replayed(changes)
	_, err = s.repo.Transact(ctx, opt.Stamp, func(t *Tx) error {
		rec, base, staged, err := t.LoadStage(ctx, name, opt.Branch, opt.Base)
		if err != nil {
			return err
		}
		b := state.NewBatch(ctx, t.Stage, t.Scratch, staged, opt.Stamp)
		next, err := b.Apply(changes, false)
		if err != nil {
			return err
		}
		if err := t.WriteGraph(ctx, next); err != nil {
			return err
		}
		res = &StageResult{Duplicates: b.Duplicates, Unchanged: b.Unchanged, Secrets: b.Secrets.Report}
		res.Nodes, res.Edges, err = state.Diff{From: base.State, To: next}.Count(ctx)
		if err != nil {
			return err
		}
		return t.WriteStage(ctx, name, rec, base, next)
	})
	return res, err
}

// WriteStage points the stage's ref at the staged state, or removes it if nothing is staged.
func (t *Tx) WriteStage(
	ctx context.Context, name graph.RefName, rec *commit.Stage, base *Snapshot, next *state.State,
) error {
	old, ok, err := t.View.Get(ctx, name)
	if err != nil {
		return err
	}
	if next.Root == base.Graph() && next.VectorsRoot() == base.State.VectorsRoot() ||
		!base.Id.Defined() && isEmpty(next) {
		if ok {
			t.RemoveRef(name)
		}
		return nil
	}
	rec.Graph, rec.Vectors = next.Root, next.VectorsRoot()
	if err := rec.Validate(); err != nil {
		return fmt.Errorf("%w: stage: %w", state.ErrInvalid, err)
	}
	c, err := t.Put(ctx, rec.Encode())
	if err != nil || c == old.Target {
		return err
	}
	t.SetRef(name, c)
	return t.found(ctx, rec.Branch)
}

// LoadStage returns a stage's record, the commit it builds on and what is staged, with the profiles of that commit:
// they are not staged. A stage that does not exist is the newest commit of the branch, or the commit on if that is set.
func (t *Tx) LoadStage(
	ctx context.Context, name graph.RefName, branch string, on *ipld.CID,
) (*commit.Stage, *Snapshot, *state.State, error) {
	ref, ok, err := t.View.Get(ctx, name)
	if err != nil {
		return nil, nil, nil, err
	}
	if !ok {
		ref, base, err := t.Base(ctx, CommitOptions{Branch: branch})
		if err == nil && on != nil && base.Id != *on {
			base, err = t.At(ctx, *on)
		}
		if err != nil {
			return nil, nil, nil, err
		}
		return &commit.Stage{Base: base.Id, Branch: ref.Name}, base, base.State, nil
	}
	rec, err := commit.ReadStage(ctx, t.Stage, ref.Target)
	if err != nil {
		return nil, nil, nil, err
	}
	base, err := t.At(ctx, rec.Base)
	if err != nil {
		return nil, nil, nil, err
	}
	staged, err := state.LoadState(ctx, t.Nodes, t.Stage, base.State.Staged(rec))
	return rec, base, staged, err
}

// Commit makes a commit of a stage and empties it. If the branch has moved since the stage began, the
// staged changes are merged onto it; if they do not merge, they are kept as a commit of their own, and
// a *MergeError names it and the items that both sides changed.
func (s Stages) Commit(ctx context.Context, stage string, opt CommitOptions) (*CommitResult, error) {
	name, err := s.ref(stage)
	if err != nil {
		return nil, err
	}
	if opt.Base != nil {
		return nil, state.Invalidf("a stage knows the commit that it was made against")
	}
	said, err := CheckTexts(opt.Stamp, opt.Message)
	if err != nil {
		return nil, err
	}
	res := &CommitResult{Secrets: said}
	var kept *MergeError
	_, err = s.repo.Transact(ctx, opt.Stamp, func(t *Tx) error {
		*res, kept = CommitResult{Secrets: said}, nil
		rec, base, staged, err := t.LoadStage(ctx, name, opt.Branch, nil)
		if err != nil {
			return err
		}
		if opt.Branch == "" {
			opt.Branch, _ = rec.Branch.Branch()
		}
		ref, head, err := t.Base(ctx, opt)
		if err != nil {
			return err
		}
		_, stored, err := t.View.Get(ctx, name)
		if err != nil {
			return err
		}
		if stored {
			t.RemoveRef(name)
		}
		kept, err = t.rebase(ctx, ref, base, head, staged, opt, res)
		return err
	})
	if err == nil && kept != nil {
		return nil, kept
	}
	return res, err
}

// Status describes a stage.
type Status struct {
	Branch string     // that a commit of the stage goes to; empty for none: HEAD is detached
	Head   ipld.CID   // newest commit of that branch, undefined before the first
	Base   ipld.CID   // commit the stage builds on; Head if nothing is staged
	Staged bool       // whether anything is staged
	Diff   state.Diff // from Base to what is staged
}

// Status tells what is staged.
func (s Stages) Status(ctx context.Context, stage string) (*Status, error) {
	name, err := s.ref(stage)
	if err != nil {
		return nil, err
	}
	v, err := s.repo.Current(ctx)
	if err != nil {
		return nil, err
	}
	ref, staged, err := v.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	head, _, err := v.Resolve(ctx, graph.Head)
	if err != nil {
		return nil, err
	}
	st := &Status{Branch: BranchName(head.Name), Head: head.Target, Base: head.Target, Staged: staged}
	var rec *commit.Stage
	if staged {
		rec, err = commit.ReadStage(ctx, s.repo.Facts(), ref.Target)
		if err != nil {
			return nil, err
		}
		on, _, err := v.Resolve(ctx, rec.Branch)
		if err != nil {
			return nil, err
		}
		st.Branch, st.Head, st.Base = BranchName(on.Name), on.Target, rec.Base
	}
	base, err := s.repo.At(ctx, st.Base)
	if err != nil {
		return nil, err
	}
	st.Diff = state.Diff{From: base.State, To: base.State}
	if staged {
		st.Diff.To, err = s.repo.LoadState(ctx, base.State.Staged(rec))
	}
	return st, err
}

// Remove forgets what a stage holds.
func (s Stages) Remove(ctx context.Context, stage string, by state.Stamp) error {
	name, err := s.ref(stage)
	if err != nil {
		return err
	}
	_, err = s.repo.Transact(ctx, by, func(t *Tx) error {
		_, ok, err := t.View.Get(ctx, name)
		if err == nil && ok {
			t.RemoveRef(name)
		}
		return err
	})
	return err
}

// Snapshot returns the memory as it would be if a stage were committed to where it began: the
// newest commit of the current branch if nothing is staged.
func (s Stages) Snapshot(ctx context.Context, stage string) (*Snapshot, error) {
	st, err := s.Status(ctx, stage)
	if err != nil {
		return nil, err
	}
	return &Snapshot{Repo: s.repo, State: st.Diff.To}, nil
}
