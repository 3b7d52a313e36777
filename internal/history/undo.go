package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/merge3"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// ErrNothingToUndo is returned when no operation can be taken back, or the named one cannot.
// errors.Is(err, state.ErrInvalid) holds.
var ErrNothingToUndo = fmt.Errorf("%w: nothing to undo", state.ErrInvalid)

// ErrNothingToRedo is returned when no undo can be taken back. errors.Is(err, state.ErrInvalid) holds.
var ErrNothingToRedo = fmt.Errorf("%w: nothing to redo", state.ErrInvalid)

// captureVerb is the command of operations that record what hooks noted. Reads make them, so like those of
// core.MeaningVerb no user requested them.
const captureVerb = "capture"

// maxSkipped is the most operations that Undone.Skipped lists.
const maxSkipped = 64

// ErrOthers is wrapped by the error of UndoOwn about an operation that another author or agent made.
var ErrOthers = errors.New("another author or agent made it")

// ErrFarBack is wrapped together with ErrNothingToUndo and ErrNothingToRedo if a shared store has operations older
// than those searched. The search is bounded because it blocks the writers of all processes. Older operations can
// be named explicitly.
var ErrFarBack = errors.New("older operations are not searched")

// MaxSearched is how many operations are searched in a shared store; tests lower it.
var MaxSearched uint64 = 1000

// UndoError is returned when a ref that an operation changed was changed again later.
// errors.Is(err, state.ErrConflict) holds.
type UndoError struct {
	Seq uint64 // the operation to take back
	Ref graph.RefName
	By  uint64 // the newest operation that changed the ref since
	// Purge says that By is a purge, which cannot be undone.
	Purge bool
	// Items lists the first items that By, a capture, changed as well as Seq; none if Ref moved otherwise.
	Items []graph.Item
}

// Error names both operations, and the first item that they share or else the ref.
func (e *UndoError) Error() string {
	if len(e.Items) > 0 {
		return fmt.Sprintf("operation %d cannot be taken back: operation %d builds on what it changed, as %s",
			e.Seq, e.By, e.Items[0])
	}
	if e.Purge {
		return fmt.Sprintf("operation %d cannot be taken back: operation %d changed %s since, a purge, "+
			"which is for ever", e.Seq, e.By, e.Ref)
	}
	return fmt.Sprintf("operation %d cannot be taken back: operation %d changed %s since", e.Seq, e.By, e.Ref)
}

// Is reports whether target is state.ErrConflict.
func (e *UndoError) Is(target error) bool { return target == state.ErrConflict }

// Undone is the result of undoing, redoing or restoring an operation.
type Undone struct {
	Operation ipld.CID      // the new operation; undefined if there was nothing to change
	Of        core.OpRecord // the operation taken back or restored
	Redo      bool          // whether an undo was reversed
	Refs      []core.RefMove
	Passed    uint64 // the newest purge that was passed over, as none is ever taken back; 0 for none
	// Skipped lists the caller's newer operations that Undo and Redo skip unless they are named, newest first:
	// captures, and those that moved only sessions or remote-tracking refs. It lists at most 64; SkippedAll is
	// their number.
	Skipped    []core.OpRecord
	SkippedAll int
	Pushed     []PushedMove // branches that lost commits which another repository has
}

// PushedMove is a branch that lost commits which another repository has: a fetch and merge bring them back.
// Reverting Commits on the original branch undoes them for everyone.
type PushedMove struct {
	Remote  string `json:"remote"` // by its name here
	Branch  string `json:"branch"`
	Commits string `json:"commits"` // COMMIT or FROM..TO
}

// Undo reverses the ref changes of one operation, as a new operation: of the one named (see core.OpLog.Find),
// or of the caller's newest that changed a memory, so that n calls go back n changes. The caller is the author of
// the stamp and, in a shared store, this client (see core.Options.Client). Without a name it skips undos, undone
// operations, and captures.
//
// Refs of sessions and remote-tracking refs are never moved back. Undoing an undo redoes what it undid. Undo
// returns an *UndoError if a later operation that is not undone itself changed one of the refs, and
// ErrNothingToUndo if there is no such operation. A branch that only captures moved since keeps them: the inverse
// of the change is committed onto it, as Revert does. In a shared store Undo searches only the newest operations,
// and returns an error that wraps ErrFarBack if it finds none there.
func Undo(ctx context.Context, r *core.Repo, op string, by state.Stamp) (*Undone, error) {
	return reverse(ctx, r, op, by, canUndo, nil)
}

// UndoOwn is Undo restricted to commits of the stamp's author and agent: commits record which agent made them,
// other operations do not. Naming another operation fails with an error that wraps ErrOthers.
func UndoOwn(ctx context.Context, r *core.Repo, op string, by state.Stamp) (*Undone, error) {
	return reverse(ctx, r, op, by, canUndo, func(e core.OpRecord) (bool, error) { return committedBy(ctx, r, e, by) })
}

// committedBy reports whether an operation only made new commits of an author and agent, each on top of its branch.
func committedBy(ctx context.Context, r *core.Repo, e core.OpRecord, by state.Stamp) (bool, error) {
	if !e.Operation.Parent.Defined() {
		return false, nil
	}
	before := store.Head{Seq: e.Operation.Seq - 1, Operation: e.Operation.Parent}
	for _, m := range undoable(e) {
		if !strings.HasPrefix(string(m.Name), graph.Heads) || !m.To.Target.Defined() {
			return false, nil
		}
		c, err := commit.ReadCommit(ctx, r.Facts(), m.To.Target)
		var collected *state.MissingError
		if errors.As(err, &collected) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("read commit %s: %w", m.To.Target, err)
		}
		upon := slices.Contains(c.Parents, m.From.Target)
		if len(c.Parents) == 0 {
			upon = !m.From.Target.Defined()
		}
		if !upon || c.Author != by.Author || c.Agent != by.Agent {
			return false, nil
		}
		known, err := branchAt(ctx, r, before, m.To.Target)
		if err != nil || known {
			return false, err
		}
	}
	return true, nil
}

// Redo reverses the caller's newest undo that was not itself undone. It returns the same errors as Undo, which reverses
// an undo by name, with ErrNothingToRedo instead of ErrNothingToUndo.
func Redo(ctx context.Context, r *core.Repo, by state.Stamp) (*Undone, error) {
	fits := func(e core.OpRecord) bool { return e.Operation.Undoes.Defined() }
	res, err := reverse(ctx, r, "", by, fits, nil)
	switch {
	case errors.Is(err, ErrFarBack):
		err = farBack(ErrNothingToRedo)
	case errors.Is(err, ErrNothingToUndo):
		err = ErrNothingToRedo
	}
	return res, err
}

func farBack(err error) error {
	return fmt.Errorf("%w among the newest %d operations: %w", err, MaxSearched, ErrFarBack)
}

// canUndo reports whether Undo without a name reverses an operation, provided it is not undone.
func canUndo(e core.OpRecord) bool {
	o := e.Operation
	return !core.Reversed(o).Defined() && !unasked(o) && len(undoable(e)) > 0
}

// undoable returns the changes that undoing an operation reverses: none for the first operation, which made the
// repository, and for a purge.
func undoable(e core.OpRecord) []core.RefMove {
	if e.Operation.Seq == 1 || isPurge(e.Operation) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(e.Refs), stays)
}

func isPurge(o *commit.Operation) bool { return o.Command[0] == core.PurgeVerb }

// unasked reports whether an operation recorded what hooks noted, or added missing vectors. A capture that retires
// turns was requested.
func unasked(o *commit.Operation) bool {
	return o.Command[0] == core.MeaningVerb || o.Command[0] == captureVerb && !slices.Contains(o.Command, "--retire")
}

// stays reports whether a ref is never moved back: a session, or a remote-tracking ref.
func stays(m core.RefMove) bool {
	return strings.HasPrefix(string(m.Name), graph.Sessions) || strings.HasPrefix(string(m.Name), graph.Remotes)
}

// skipped reports whether Undone.Skipped lists an operation.
func skipped(e core.OpRecord) bool {
	o := e.Operation
	return o.Seq > 1 && !isPurge(o) && (unasked(o) || len(e.Refs) > 0 && len(undoable(e)) == 0)
}

func reverse(
	ctx context.Context, r *core.Repo, op string, by state.Stamp, fits func(core.OpRecord) bool,
	own func(core.OpRecord) (bool, error),
) (*Undone, error) {
	var res *Undone
	c, err := r.Transact(ctx, by, func(t *core.Tx) error {
		t.Restores = true
		var made map[uint64]bool
		if op == "" && own == nil && r.SharedStore != nil { // on a shared store the last operation may be anyone's
			var err error
			if made, err = r.SharedStore.Made(ctx); err != nil {
				return err
			}
			if len(made) == 0 {
				return ErrNothingToUndo
			}
		}
		u := undoing{
			ctx: ctx, repo: r, actor: by.Author, own: own, made: made, undone: make(map[ipld.CID]uint64),
			captured: make(map[graph.RefName]uint64),
		}
		var err error
		if op == "" {
			err = u.find(t.Head, fits)
		} else {
			err = u.named(t.Head, op)
		}
		if err == nil {
			err = u.check()
		}
		if err != nil {
			return err
		}
		res = &Undone{Of: u.target, Passed: u.passed, Skipped: u.skipped, SkippedAll: u.skippedAll}
		if res.Redo = u.target.Operation.Undoes.Defined(); res.Redo {
			t.Redoes = u.target.CID
		} else {
			t.Undoes = u.target.CID
		}
		if res.Refs, err = takeBack(ctx, t, &u, by); err == nil {
			res.Pushed, err = pushed(ctx, t, res.Refs)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	res.Operation = c
	return res, nil
}

// takeBack restores the former values of the refs that an operation changed. A branch that captures moved since
// gets a commit of the inverse change.
func takeBack(ctx context.Context, t *core.Tx, u *undoing, by state.Stamp) ([]core.RefMove, error) {
	var back []core.RefMove
	e := u.target
	for _, c := range undoable(e) {
		now, _, err := t.View.Stored(ctx, c.Name)
		if err != nil {
			return nil, err
		}
		capture, captured := u.captured[c.Name]
		switch {
		case now.Value() == c.To.Value():
			t.Edits[c.Name] = core.EncodeRef(c.From.Ref)
			back = append(back, core.RefMove{Name: c.Name, From: c.To, To: c.From})
		case captured:
			to, err := invert(ctx, t, e, c, now, capture, by)
			if err != nil {
				return nil, err
			}
			back = append(back, core.RefMove{Name: c.Name, From: core.RefTarget{Ref: now}, To: core.RefTarget{Ref: to}})
		default:
			return nil, fmt.Errorf("%w operation log: %s is not as operation %d left it",
				store.ErrCorrupt, c.Name, e.Operation.Seq)
		}
	}
	return back, nil
}

// invert commits the inverse of an operation's change of a branch on top of later captures. It returns an
// *UndoError if the newest of them changed the same items.
func invert(ctx context.Context, t *core.Tx, e core.OpRecord, c core.RefMove, now core.Ref, capture uint64, by state.Stamp) (core.Ref, error) {
	refused := &UndoError{Seq: e.Operation.Seq, Ref: c.Name, By: capture}
	var at [3]*core.Snapshot // with the change, before it, and now
	for i, ref := range []core.Ref{c.To.Ref, c.From.Ref, now} {
		var err error
		if at[i], err = t.At(ctx, ref.Target); err != nil {
			return core.Ref{}, err
		}
	}
	if !now.Target.Defined() || !at[0].Id.Defined() && len(at[1].Record.Parents) > 0 {
		return core.Ref{}, refused // it removed a branch with a history
	}
	if !at[1].Id.Defined() {
		before := store.Head{Seq: e.Operation.Seq - 1, Operation: e.Operation.Parent}
		known, err := branchAt(ctx, t.Repo, before, c.To.Target)
		if err != nil {
			return core.Ref{}, err
		}
		if known || len(at[0].Record.Parents) > 0 {
			return core.Ref{}, refused // it created the branch
		}
	}
	m, err := merge3.MergeStates(ctx, t.Stage, at[0].State, at[2].State, at[1].State)
	if err != nil {
		return core.Ref{}, err
	}
	if len(m.Conflicts) > 0 {
		for _, item := range m.Conflicts[:min(len(m.Conflicts), core.MaxNamed)] {
			refused.Items = append(refused.Items, item.Item)
		}
		return core.Ref{}, refused
	}
	if err := NoneErased(ctx, at[2].State, m.State); err != nil {
		return core.Ref{}, err
	}
	now.Name = c.Name
	opt := core.CommitOptions{
		Stamp: by, Message: fmt.Sprintf("undo operation %d (%s)", e.Operation.Seq, e.Operation.Command[0]),
	}
	var res core.CommitResult
	if err := t.Land(ctx, now, at[2], m.State, nil, opt, &res); err != nil {
		return core.Ref{}, err
	}
	if res.NoChange {
		return core.Ref{}, refused // the changed records no longer exist
	}
	return core.Ref{Name: c.Name, Target: res.Commit}, nil
}

// pushed returns the branches that lost commits which remote-tracking refs of the same branch have.
func pushed(ctx context.Context, t *core.Tx, moves []core.RefMove) (out []PushedMove, err error) {
	var tracking []core.Ref
	for ref, err := range t.View.List(ctx, graph.Remotes) {
		if err != nil {
			return nil, err
		}
		tracking = append(tracking, ref)
	}
	for _, m := range moves {
		branch, ok := m.Name.Branch()
		if !ok || !m.From.Target.Defined() {
			continue
		}
		for _, ref := range tracking {
			remote, rest, _ := strings.Cut(strings.TrimPrefix(string(ref.Name), graph.Remotes), "/")
			if "refs/"+rest != string(m.Name) {
				continue
			}
			lost, err := lost(ctx, t, m, ref.Target)
			var collected *state.MissingError
			if err != nil && !errors.As(err, &collected) { // undo succeeds even if a history has gaps
				return nil, err
			}
			if lost {
				commits := m.From.Target.String()
				if m.To.Target.Defined() {
					commits = m.To.Target.String() + ".." + commits
				}
				out = append(out, PushedMove{remote, branch, commits})
			}
		}
	}
	return out, nil
}

// lost reports whether a move removes a commit, or one of its ancestors, from a branch.
func lost(ctx context.Context, t *core.Tx, m core.RefMove, there ipld.CID) (bool, error) {
	ancestor := func(a, b ipld.CID) (bool, error) {
		if !b.Defined() {
			return false, nil
		}
		return commit.IsAncestor(ctx, t.Stage, a, b)
	}
	if kept, err := ancestor(m.From.Target, m.To.Target); kept || err != nil {
		return false, err
	}
	if has, err := ancestor(m.From.Target, there); has || err != nil {
		return has, err
	}
	if had, err := ancestor(there, m.From.Target); !had || err != nil {
		return false, err
	}
	kept, err := ancestor(there, m.To.Target)
	return !kept, err
}

// undoing searches for the operation to undo, from the newest on.
type undoing struct {
	ctx    context.Context
	repo   *core.Repo
	actor  string                            // whose operation the target must be, unless it is named
	own    func(core.OpRecord) (bool, error) // whether the target may be this one, nil for any
	made   map[uint64]bool                   // operations that the target is one of, nil for any
	undone map[ipld.CID]uint64               // operations taken back, and by which
	later  []commit.OpEntry                  // not undone, newer than the target, newest first
	target core.OpRecord
	passed uint64 // newest purge between, 0 for none

	skipped    []core.OpRecord // the first maxSkipped of skippedAll
	skippedAll int
	captured   map[graph.RefName]uint64 // branches of the target that captures moved since, and the newest of these
}

// skip records an operation of the caller that is not the target.
func (u *undoing) skip(e core.OpRecord) {
	if !skipped(e) {
		return
	}
	if u.skippedAll++; len(u.skipped) < maxSkipped {
		u.skipped = append(u.skipped, e)
	}
}

// pass records an operation that is not the target.
func (u *undoing) pass(e commit.OpEntry) {
	if _, ok := u.undone[e.CID]; ok {
		return
	}
	if back := core.Reversed(e.Operation); back.Defined() {
		u.undone[back] = e.Operation.Seq
	}
	if u.passed == 0 && isPurge(e.Operation) {
		u.passed = e.Operation.Seq
	}
	u.later = append(u.later, e)
}

// find searches for the newest matching operation that is not undone.
func (u *undoing) find(head store.Head, fits func(core.OpRecord) bool) error {
	left := len(u.made)
	for e, err := range u.repo.OpLog().Entries(u.ctx, head) {
		if err != nil {
			return err
		}
		if u.repo.SharedStore != nil && head.Seq-e.Operation.Seq >= MaxSearched {
			return farBack(ErrNothingToUndo)
		}
		may := u.made == nil || u.made[e.Operation.Seq]
		if u.made != nil && may {
			left--
		}
		may = may && e.Operation.Actor == u.actor
		if _, ok := u.undone[e.CID]; !ok && may {
			rec, err := u.repo.OpLog().Record(u.ctx, e)
			if err != nil {
				return err
			}
			ok := fits(rec)
			if ok && u.own != nil {
				ok, err = u.own(rec)
			}
			if ok || err != nil {
				u.target = rec
				return err
			}
			u.skip(rec)
		}
		if u.made != nil && left == 0 {
			break
		}
		u.pass(e)
	}
	return ErrNothingToUndo
}

// named looks up an operation by name.
func (u *undoing) named(head store.Head, name string) error {
	want, err := u.repo.OpLog().Read(u.ctx, head, name)
	if err != nil {
		return err
	}
	seq := want.Operation.Seq
	for e, err := range u.repo.OpLog().Entries(u.ctx, head) {
		if err != nil {
			return err
		}
		if e.Operation.Seq > seq {
			u.pass(e)
			continue
		}
		if by, ok := u.undone[e.CID]; ok {
			return fmt.Errorf("%w: operation %d is taken back already, by operation %d", ErrNothingToUndo, seq, by)
		}
		if u.target, err = u.repo.OpLog().Record(u.ctx, e); err != nil {
			return err
		}
		if len(undoable(u.target)) == 0 {
			return fmt.Errorf("%w: operation %d changed no ref that can be taken back", ErrNothingToUndo, seq)
		}
		if u.own != nil {
			if ok, err := u.own(u.target); err != nil || !ok {
				return cmp.Or(err, fmt.Errorf("operation %d cannot be taken back: %w", seq, ErrOthers))
			}
		}
		return nil
	}
	return &state.NotFoundError{What: "operation", Name: name}
}

// check returns an *UndoError if an operation after the target, and not undone, changed one of its refs. Captures
// may have moved its branches.
func (u *undoing) check() error {
	mine := make(map[graph.RefName]bool)
	for _, c := range undoable(u.target) {
		mine[c.Name] = true
	}
	seq := u.target.Operation.Seq
	for _, e := range u.later {
		rec, err := u.repo.OpLog().Record(u.ctx, e)
		if err != nil {
			return err
		}
		if back := core.Reversed(e.Operation); back.Defined() {
			o, err := commit.ReadOperation(u.ctx, u.repo.Facts(), back)
			var collected *state.MissingError
			if errors.As(err, &collected) {
				o = &commit.Operation{} // it lies behind the horizon, so before the target
			} else if err != nil {
				return err
			}
			if o.Seq > seq {
				continue // it and the operation it undid cancel out
			}
		}
		for _, c := range rec.Refs {
			_, branch := c.Name.Branch()
			switch {
			case !mine[c.Name]:
			case branch && unasked(e.Operation) && !core.Reversed(e.Operation).Defined():
				if u.captured[c.Name] == 0 {
					u.captured[c.Name] = e.Operation.Seq
				}
			default:
				return &UndoError{
					Seq: seq, Ref: c.Name, By: e.Operation.Seq, Purge: isPurge(e.Operation),
				}
			}
		}
	}
	return nil
}

// RestoreOperation restores all refs, except sessions and remote-tracking refs, to their values after an operation
// (see Operation), as a new operation that can be undone like any other.
func RestoreOperation(ctx context.Context, r *core.Repo, op string, by state.Stamp) (*Undone, error) {
	res := &Undone{}
	c, err := r.Transact(ctx, by, func(t *core.Tx) error {
		t.Restores = true
		e, err := r.OpLog().Read(ctx, t.Head, op)
		if err != nil {
			return err
		}
		if res.Of, err = r.OpLog().Record(ctx, e); err != nil {
			return err
		}
		then, err := r.OpLog().View(ctx, e)
		if err != nil {
			return err
		}
		moves, err := r.OpLog().DiffViews(ctx, t.View, then)
		res.Refs = slices.DeleteFunc(moves, stays)
		for _, m := range res.Refs {
			t.Edits[m.Name] = core.EncodeRef(m.To.Ref)
		}
		if err == nil {
			res.Pushed, err = pushed(ctx, t, res.Refs)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	res.Operation = c
	return res, nil
}
