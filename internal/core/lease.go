package core

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// keeper records what a collection must keep in addition to what refs reach. One process owns a
// repository, so it lives in that process's memory. The zero keeper is ready.
type keeper struct {
	// Still is read-held by a reader that relies on blocks that no ref may reach: an import that counts
	// on what is there, a check of everything. A collection holds it while it removes.
	Still sync.RWMutex

	Mu     sync.Mutex
	leases map[ipld.CID]int // roots in use, and how often
}

// stopPause is how often it is looked whether those that hold still have ended.
const stopPause = 5 * time.Millisecond

// Stop locks Still, with wait as soon as it is free, and reports whether it did. While it waits others
// can still lock it for reading: an export may last as long as its reader takes.
func (k *keeper) Stop(ctx context.Context, wait bool) (bool, error) {
	for !k.Still.TryLock() {
		if !wait {
			return false, nil
		}
		timer := time.NewTimer(stopPause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return false, ctx.Err()
		}
	}
	return true, nil
}

// Lease keeps roots until the matching release.
func (k *keeper) Lease(roots ...ipld.CID) {
	k.Mu.Lock()
	defer k.Mu.Unlock()
	if k.leases == nil {
		k.leases = make(map[ipld.CID]int)
	}
	for _, c := range roots {
		k.leases[c]++
	}
}

func (k *keeper) release(roots ...ipld.CID) {
	k.Mu.Lock()
	defer k.Mu.Unlock()
	for _, c := range roots {
		if k.leases[c]--; k.leases[c] <= 0 {
			delete(k.leases, c)
		}
	}
}

// Leased returns the roots in use.
func (k *keeper) Leased() []ipld.CID {
	k.Mu.Lock()
	defer k.Mu.Unlock()
	return slices.Collect(maps.Keys(k.leases))
}

// Remove calls mark with each root in use, then fn, while no root can be leased. Who leases one waits:
// a collection that waited for a moment without new ones could wait as long as there are readers.
func (k *keeper) Remove(mark func(root ipld.CID) error, fn func() error) error {
	k.Mu.Lock()
	defer k.Mu.Unlock()
	for c := range k.leases {
		if err := mark(c); err != nil {
			return err
		}
	}
	return fn()
}

// Lease keeps what commits, tags, sessions and receipts reach from being collected until release is called, whatever
// happens to the refs. It returns a *NotFoundError if one is not there. release may be called more than once. A
// Snapshot has a lease on its commit as long as it is in use.
func (r *Repo) Lease(ctx context.Context, roots ...ipld.CID) (release func(), err error) {
	r.Keep.Lease(roots...)
	release = sync.OnceFunc(func() { r.Keep.release(roots...) })
	for _, c := range roots {
		has, err := r.Store.Facts().Has(ctx, c)
		if err == nil && !has {
			err = &state.NotFoundError{What: "block", Name: c.String()}
		}
		if err != nil {
			release()
			return func() {}, err
		}
	}
	return release, nil
}

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
