package core

import (
	"sync/atomic"
	"time"
)

// ProgressEvery is how many blocks lie between two calls of a progress function.
const ProgressEvery = 1000

// GCResult tells what a collection removed, or would remove.
type GCResult struct {
	Blocks  int    `json:"blocks"`  // facts and derived blocks
	Bytes   int64  `json:"bytes"`   // of these
	Kept    int    `json:"kept"`    // blocks that stay
	Horizon uint64 `json:"horizon"` // the oldest operation that is kept
	DryRun  bool   `json:"dry_run"` // whether nothing was removed
	// MustFree is how many bytes must be freed on the disk before what was removed gives back its room; 0 for none.
	MustFree uint64 `json:"must_free,omitempty"`
}

// collected remembers the last collection that ended well. Of several that wait for one under way, the
// first does what the others are for.
type collected struct {
	Begun atomic.Int64 // how many began so far
	Last  Collection   // guarded by Repo.Collecting
}

// Collection is one that ended well.
type Collection struct {
	Number  int64 // from 1
	KeepOps int
	Grace   time.Duration
	Res     GCResult
}

// InProgress returns the error about a merge in progress.
func (r *Repo) InProgress(merge Ref) *InProgressError {
	branch, client, _ := merge.merging()
	if client == r.Client() {
		client = ""
	}
	return &InProgressError{branch, client}
}

// PurgeVerb begins the command of the operation of a purge, which tells it from those that can be undone.
const PurgeVerb = "purge"
