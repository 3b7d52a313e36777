package history

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// watchStep is how many operations a watcher that is behind reads at a time.
const watchStep = 256

// beforeAll is the name, for a watch, of the state before the first operation.
const beforeAll = "0"

// WatchOptions select what a watch reports. The zero value reports all new operations.
type WatchOptions struct {
	// Since names the operation (see core.OpLog.Find) after which to begin, 0 for the first one; "" for the
	// newest one when the watch begins.
	Since string `op:",remote" doc:"begin after this {OP}eration, 0 for the first one; see 'mnem op' (default: now)"`
	// Ref is the one ref to watch, by its full name or that of a branch or tag; "" for all.
	Ref string `op:",remote" complete:"branch" doc:"only operations that moved this {REF}: a branch, a tag or refs/…"`
}

// WatchedOp is one operation reported by a watch.
type WatchedOp struct {
	core.OpRecord
	// Branches lists the entries of Refs that moved a branch to a commit, in order.
	Branches []BranchMove
}

// BranchMove is the memory before and after a branch moved. From is nil if there is nothing to compare with: the
// branch is new and did not begin with its first commit.
type BranchMove struct {
	Name     graph.RefName
	From, To *core.Snapshot
	Made     bool // whether the operation made the commit
}

// HorizonError is returned by a watch that begins after an operation so old that its successors are gone, and by
// one so slow that its next operations were collected. errors.Is(err, store.ErrNotFound) holds.
type HorizonError struct {
	Since  string   // the operation to continue after
	Seq    uint64   // of the oldest operation kept
	Oldest ipld.CID // that operation: a watch from there on works
}

// Error names both operations, so that the user can watch from the oldest.
func (e *HorizonError) Error() string {
	return fmt.Sprintf("operation %s is not kept any more: the oldest to watch from is %d, %s",
		e.Since, e.Seq, e.Oldest)
}

// Is reports whether target is store.ErrNotFound.
func (e *HorizonError) Is(target error) bool { return target == store.ErrNotFound }

// Watch yields the operations after opt.Since in order, and then each new one as it becomes durable, each once,
// until the caller stops or ctx ends; that, or another error, comes last. If opt.Ref is given, records list only
// that ref, and operations that did not move it are skipped.
//
// Nothing is dropped: a slow caller reads its next operations from the log, so that a watch holds few operations in
// memory, however many are pending. To resume, pass the CID of the last operation as Since. A watch ends only if a
// collection removed its next operations, with a *HorizonError that says where to restart. It is notified only by
// writers of this process; Close ends it with store.ErrClosed.
func Watch(ctx context.Context, r *core.Repo, opt WatchOptions) iter.Seq2[WatchedOp, error] {
	return func(yield func(WatchedOp, error) bool) {
		w := &watch{repo: r, names: watchedRefs(opt.Ref)}
		defer r.Hear(ctx)()
		err := w.begin(ctx, opt)
		for err == nil {
			rung := r.Bell.Listen() // before the head is read, so that no change falls between
			var more bool
			if more, err = w.follow(ctx, yield); err != nil || !more {
				break
			}
			select {
			case <-rung:
			case <-ctx.Done():
				err = ctx.Err()
			}
		}
		if err != nil {
			yield(WatchedOp{}, err)
		}
	}
}

// watch is the state of a watcher.
type watch struct {
	repo  *core.Repo
	names []graph.RefName // of interest, nil for all
	seq   uint64          // of the last operation reported or skipped
	since string          // how errors name that
}

// watchedRefs returns the refs that a name may match, nil if it is empty.
func watchedRefs(name string) []graph.RefName {
	if name == "" {
		return nil
	}
	return core.RefCandidates(name)
}

// begin determines where to start.
func (w *watch) begin(ctx context.Context, opt WatchOptions) error {
	for _, name := range w.names {
		if err := graph.ValidateRef(name); err != nil {
			return state.Invalidf("ref %q: %w", opt.Ref, err)
		}
	}
	w.since = opt.Since
	head, err := w.repo.Store.Head(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("read operation head: %w", err)
	case opt.Since == "":
		w.seq, w.since = head.Seq, head.Operation.String()
		return nil
	case strings.TrimPrefix(opt.Since, core.OpPrefix) == beforeAll:
		return w.kept(ctx, head, nil)
	}
	e, err := w.repo.OpLog().Read(ctx, head, opt.Since)
	if err == nil {
		w.seq = e.Operation.Seq
		return w.kept(ctx, head, nil)
	}
	var missing *state.NotFoundError
	base := strings.TrimPrefix(opt.Since, core.OpPrefix)
	if errors.As(err, &missing) && core.IsNumber(base) {
		w.seq, _ = core.ParseSeq(opt.Since, base) // 0 if it exceeds any log
		if w.seq == 0 || w.seq > head.Seq {
			return err
		}
		return w.kept(ctx, head, err)
	}
	if _, parseErr := ipld.ParseCID(base); errors.As(err, &missing) && parseErr == nil {
		return w.kept(ctx, head, err) // w.seq is 0: the operation is gone if any is
	}
	return err
}

// kept returns a *HorizonError if the operation after w.seq, or what it changed, is no longer kept, otherwise err.
func (w *watch) kept(ctx context.Context, head store.Head, err error) error {
	if head.Seq == 0 {
		return err
	}
	newest, readErr := commit.ReadOperation(ctx, w.repo.Facts(), head.Operation)
	if readErr != nil {
		return errors.Join(err, readErr)
	}
	if newest.Horizon < 2 || w.seq >= newest.Horizon {
		return err
	}
	oldest, readErr := commit.OperationAt(ctx, w.repo.Facts(), head.Operation, newest.Horizon)
	if readErr != nil {
		return errors.Join(err, readErr)
	}
	return &HorizonError{Since: w.since, Seq: newest.Horizon, Oldest: oldest.CID}
}

// follow yields the operations after w.seq up to the newest. It returns false if the caller stops.
func (w *watch) follow(ctx context.Context, yield func(WatchedOp, error) bool) (bool, error) {
	for {
		head, err := w.repo.Store.Head(ctx)
		if err != nil {
			return false, fmt.Errorf("read operation head: %w", err)
		}
		if head.Seq <= w.seq {
			return true, nil
		}
		next, err := w.next(ctx, head)
		for _, e := range next {
			var op WatchedOp
			var ok bool
			if op, ok, err = w.read(ctx, e); err != nil {
				break
			}
			w.seq, w.since = e.Operation.Seq, e.CID.String()
			if ok && !yield(op, nil) {
				return false, nil
			}
			if err = ctx.Err(); err != nil {
				return false, err
			}
		}
		if err != nil {
			return false, w.lost(ctx, err)
		}
	}
}

// next returns at most watchStep operations after w.seq, in order.
func (w *watch) next(ctx context.Context, head store.Head) ([]commit.OpEntry, error) {
	if err := w.kept(ctx, head, nil); err != nil {
		return nil, err
	}
	last := min(head.Seq, w.seq+watchStep)
	at, err := commit.OperationAt(ctx, w.repo.Facts(), head.Operation, last)
	if err != nil {
		return nil, err
	}
	list := []commit.OpEntry{at}
	for at.Operation.Seq > w.seq+1 {
		o, err := commit.ReadOperation(ctx, w.repo.Facts(), at.Operation.Parent)
		if err != nil {
			return nil, err
		}
		at = commit.OpEntry{CID: at.Operation.Parent, Operation: o}
		list = append(list, at)
	}
	slices.Reverse(list)
	return list, nil
}

// lost returns a *HorizonError if an operation could not be read because a collection removed it, otherwise err.
func (w *watch) lost(ctx context.Context, err error) error {
	if ctx.Err() != nil || !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrCorrupt) {
		return err
	}
	head, headErr := w.repo.Store.Head(ctx)
	if headErr != nil {
		return err
	}
	return w.kept(ctx, head, err)
}

// read returns an operation with only the watched refs, and whether there are any.
func (w *watch) read(ctx context.Context, e commit.OpEntry) (op WatchedOp, ok bool, err error) {
	if op.OpRecord, err = w.repo.OpLog().Record(ctx, e); err != nil {
		return op, false, err
	}
	if w.names != nil {
		op.Refs = slices.DeleteFunc(op.Refs, func(m core.RefMove) bool { return !slices.Contains(w.names, m.Name) })
		if len(op.Refs) == 0 {
			return op, false, nil
		}
	}
	op.Branches, err = w.branches(ctx, op.OpRecord)
	return op, true, err
}

// branches returns the branches that a record moved.
func (w *watch) branches(ctx context.Context, op core.OpRecord) (out []BranchMove, err error) {
	for _, m := range op.Refs {
		if !strings.HasPrefix(string(m.Name), graph.Heads) || !m.To.Target.Defined() {
			continue
		}
		b := BranchMove{Name: m.Name}
		if b.To, err = w.repo.At(ctx, m.To.Target); err != nil {
			return nil, err
		}
		if b.Made, err = w.made(ctx, op.Operation, b.To); err != nil {
			return nil, err
		}
		if m.From.Target.Defined() || b.Made && len(b.To.Commit().Parents) == 0 {
			if b.From, err = w.repo.At(ctx, m.From.Target); err != nil {
				return nil, err
			}
		}
		out = append(out, b)
	}
	return out, nil
}

// made reports whether an operation made a commit: it has its time and its author, and no branch was at it before.
func (w *watch) made(ctx context.Context, op *commit.Operation, s *core.Snapshot) (bool, error) {
	if c := s.Commit(); c.Time != op.Time || c.Author != op.Actor {
		return false, nil
	}
	if !op.Parent.Defined() {
		return true, nil
	}
	before := store.Head{Seq: op.Seq - 1, Operation: op.Parent}
	known, err := branchAt(ctx, w.repo, before, s.CID())
	return !known && err == nil, err
}

// branchAt reports whether a branch was at a commit after an operation.
func branchAt(ctx context.Context, r *core.Repo, after store.Head, c ipld.CID) (bool, error) {
	v, err := r.ViewAt(ctx, after)
	if err != nil {
		return false, err
	}
	for ref, err := range v.List(ctx, graph.Heads) {
		if err != nil || ref.Target == c {
			return err == nil, err
		}
	}
	return false, nil
}
