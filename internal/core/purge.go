package core

import (
	"context"
	"fmt"
)

// InProgress returns the error about a merge in progress.
func (r *Repo) InProgress(merge Ref) *InProgressError {
	branch, client, _ := merge.merging()
	if client == r.Client() {
		client = ""
	}
	return &InProgressError{branch, client}
}

func OrErr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// PurgeVerb begins the command of the operation of a purge, which tells it from those that can be
// undone.
const PurgeVerb = "purge"

// ChangeAllIndexed makes a change, nil for one that was made, after which all indexes are to be built anew.
// Its caller holds writer.
func (r *Repo) ChangeAllIndexed(ctx context.Context, change func() error) error {
	r.IndexMu.Lock()
	defer r.IndexMu.Unlock()
	r.Communities.Mu.Lock()
	defer r.Communities.Mu.Unlock()
	r.Digests.Mu.Lock()
	defer r.Digests.Mu.Unlock()
	defer r.SweepCount.Add(1)
	r.Digests.Forget()
	r.ForgetIndexes() // first: whoever misses what is erased asks for another index
	if change != nil {
		if err := change(); err != nil {
			return err
		}
	}
	r.Rows.Clear()
	r.Vectors.Clear()
	r.NodeBlocks.Clear()
	r.Mentions.Clear()
	if err := r.Store.Derived().Clear(ctx); err != nil {
		return fmt.Errorf("clear indexes: %w", err)
	}
	return nil
}
