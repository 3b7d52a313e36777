package care

import (
	"context"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/ipld"
)

// RepairResult describes a repair, and what Fsck finds afterwards.
type RepairResult struct {
	Done   []string // what was done, a sentence each; none if nothing could be
	Report *FsckReport
}

// Repair rebuilds the indexes if Fsck finds one damaged, and removes the oldest mark of nodes that hide each other
// (FsckCircle). It cannot repair facts, which have no second copy. The index of the current branch's commit is
// rebuilt at once, others when needed. If facts are damaged too it drops no index, as that index might not be
// rebuilt. A head file that disagrees with the store prevents opening the repository: core.Options.AcceptHead
// repairs that. A result returned with an error holds what Fsck found before the repair failed.
func Repair(ctx context.Context, r *core.Repo, opt FsckOptions) (*RepairResult, error) {
	if r.Ro {
		return nil, store.ErrReadOnly
	}
	report, err := Fsck(ctx, r, opt)
	if err != nil {
		return nil, err
	}
	res := &RepairResult{Report: report}
	indexes, facts, err := damaged(ctx, r, report.Errors)
	if err != nil {
		return res, err
	}
	if !facts && opt.By.Author != "" {
		if res.Done, err = breakCircles(ctx, r, opt.By); err != nil {
			return res, fmt.Errorf("repair: %w", err)
		}
	}
	if indexes {
		made, err := remakeIndexes(ctx, r, facts)
		if res.Done = append(res.Done, made...); err != nil {
			return res, fmt.Errorf("repair: %w", err)
		}
	}
	if res.Done == nil {
		return res, nil
	}
	again, err := Fsck(ctx, r, opt)
	if err == nil {
		res.Report = again
	}
	return res, err
}

// remakeIndexes rebuilds the index of the current branch's commit, after dropping all indexes unless facts are
// damaged, and describes what it did.
func remakeIndexes(ctx context.Context, r *core.Repo, facts bool) (done []string, err error) {
	if !facts {
		if err := DropIndexes(ctx, r); err != nil {
			return nil, err
		}
		done = append(done, "dropped all indexes")
	}
	head, err := RebuildIndex(ctx, r)
	if facts && errors.Is(err, store.ErrCorrupt) {
		return done, nil // the report has it
	}
	if err == nil && head.Defined() {
		done = append(done, "made the index of "+head.String())
	}
	return done, err
}

// RebuildIndex rebuilds the index of the current branch's commit and returns that commit, undefined if there is none.
func RebuildIndex(ctx context.Context, r *core.Repo) (ipld.CID, error) {
	_, head, err := r.Branch(ctx)
	if err == nil && head.Defined() {
		_, err = r.Indexes().Rebuild(ctx, string(graph.Head))
	}
	return head, err
}

// damaged reports whether any of the errors concerns data that can be rebuilt, and whether any concerns, or may
// concern, its source.
func damaged(ctx context.Context, r *core.Repo, errs []FsckError) (indexes, facts bool, err error) {
	facts = len(errs) >= maxFsckErrors // there may be more
	for _, e := range errs {
		switch e.Kind {
		case FsckIndex:
			indexes = true
			continue
		case FsckCircle: // the data is complete
			continue
		}
		derived := false
		if e.CID.Defined() && (e.Kind == FsckBlock || e.Kind == FsckMissing || e.Kind == FsckStore) {
			if derived, err = onlyDerived(ctx, r, e.CID); err != nil {
				return false, false, err
			}
		}
		indexes, facts = indexes || derived, facts || !derived
	}
	return indexes, facts, nil
}

// onlyDerived reports whether a block is derived, and not a fact.
func onlyDerived(ctx context.Context, r *core.Repo, c ipld.CID) (bool, error) {
	if fact, err := r.Store.Facts().Has(ctx, c); fact || err != nil {
		return false, err
	}
	return r.Store.Derived().Has(ctx, c)
}

// DropIndexes clears everything derived, in the store and in memory. It takes the write lock.
func DropIndexes(ctx context.Context, r *core.Repo) error {
	if err := r.Writer.Lock(ctx); err != nil {
		return err
	}
	defer r.Writer.Unlock()
	return r.Indexes().ChangeAll(ctx, nil)
}
