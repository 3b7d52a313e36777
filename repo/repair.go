package repo

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/store"
)

// RepairResult tells what a repair did, and what Fsck finds afterwards.
type RepairResult struct {
	Done   []string // what was done, a sentence each; none where nothing could be
	Report *FsckReport
}

// Repair makes anew what is derived from facts, the indexes, where Fsck finds them damaged, and
// nothing else: no fact can be made up. That of the current branch's commit is made at once, others
// when they are needed. A head file that disagrees with the store keeps a repository from being
// opened at all: Options.AcceptHead is the repair for that.
func (r *Repo) Repair(ctx context.Context, opt FsckOptions) (*RepairResult, error) {
	if r.ro {
		return nil, store.ErrReadOnly
	}
	report, err := r.Fsck(ctx, opt)
	if err != nil {
		return nil, err
	}
	res := &RepairResult{Report: report}
	damaged, err := r.derivedDamage(ctx, report.Errors)
	if err != nil || !damaged {
		return res, err
	}
	if err := r.dropIndexes(ctx); err != nil {
		return nil, err
	}
	res.Done = append(res.Done, "dropped all indexes")
	_, head, err := r.Branch(ctx)
	if err != nil {
		return nil, err
	}
	if head.Defined() {
		if _, err := r.RebuildIndex(ctx, string(graph.Head)); err != nil {
			return nil, fmt.Errorf("repair: %w", err)
		}
		res.Done = append(res.Done, "made the index of "+head.String())
	}
	res.Report, err = r.Fsck(ctx, opt)
	return res, err
}

// derivedDamage reports whether any of the errors is about what can be made anew.
func (r *Repo) derivedDamage(ctx context.Context, errs []FsckError) (bool, error) {
	for _, e := range errs {
		if e.Kind == FsckIndex {
			return true, nil
		}
		if e.Kind != FsckBlock && e.Kind != FsckMissing && e.Kind != FsckStore {
			continue
		}
		if !e.CID.Defined() {
			continue
		}
		fact, err := r.store.Facts().Has(ctx, e.CID)
		if err != nil {
			return false, err
		}
		derived, err := r.store.Derived().Has(ctx, e.CID)
		if err != nil || derived && !fact {
			return derived, err
		}
	}
	return false, nil
}

func (r *Repo) dropIndexes(ctx context.Context) error {
	r.writer.Lock()
	defer r.writer.Unlock()
	r.indexMu.Lock()
	defer r.indexMu.Unlock()
	r.indexes = openIndexes{}
	if err := r.store.Derived().Clear(ctx); err != nil {
		return fmt.Errorf("clear indexes: %w", err)
	}
	return nil
}
