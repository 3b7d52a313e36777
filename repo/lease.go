package repo

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/mnem-project/mnem/ipld"
)

// keeper knows what a collection must leave alone beside what refs reach. One process owns a
// repository, so its memory is the place for that. The zero keeper is ready.
type keeper struct {
	// still is read-held by whoever relies on blocks that no ref may reach: an import that counts
	// on what is there, a check of everything. A collection holds it while it removes.
	still sync.RWMutex

	mu     sync.Mutex
	leases map[ipld.CID]int // roots in use, and how often
}

// stopPause is how often it is looked whether those that hold still have ended.
const stopPause = 5 * time.Millisecond

// stop takes still, where wait as soon as nobody holds it, and reports whether it did. Others can
// begin to hold it meanwhile: an export may last as long as somebody takes to read it.
func (k *keeper) stop(ctx context.Context, wait bool) (bool, error) {
	for !k.still.TryLock() {
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

// lease keeps roots until the matching release.
func (k *keeper) lease(roots ...ipld.CID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.leases == nil {
		k.leases = make(map[ipld.CID]int)
	}
	for _, c := range roots {
		k.leases[c]++
	}
}

func (k *keeper) release(roots ...ipld.CID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range roots {
		if k.leases[c]--; k.leases[c] <= 0 {
			delete(k.leases, c)
		}
	}
}

// leased returns the roots in use.
func (k *keeper) leased() []ipld.CID {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Collect(maps.Keys(k.leases))
}

// remove calls mark with each root in use, then fn, while no root can be leased. Who leases one waits:
// a collection that waited for a moment without new ones could wait as long as there are readers.
func (k *keeper) remove(mark func(root ipld.CID) error, fn func() error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for c := range k.leases {
		if err := mark(c); err != nil {
			return err
		}
	}
	return fn()
}

// Lease keeps what commits, tags, sessions and receipts reach from being collected until release
// is called, whatever happens to the refs. It returns a *NotFoundError where one is not there.
// release may be called more than once. A Snapshot has a lease on its commit as long as it is in
// use.
func (r *Repo) Lease(ctx context.Context, roots ...ipld.CID) (release func(), err error) {
	r.keep.lease(roots...)
	release = sync.OnceFunc(func() { r.keep.release(roots...) })
	for _, c := range roots {
		has, err := r.store.Facts().Has(ctx, c)
		if err == nil && !has {
			err = &NotFoundError{What: "block", Name: c.String()}
		}
		if err != nil {
			release()
			return func() {}, err
		}
	}
	return release, nil
}

// whileUsed hands the lease on a commit over to a state of it, which releases it when it cannot be
// reached any more. There is nothing to close in a snapshot, so the garbage collector of the
// language tells.
func (k *keeper) whileUsed(s *state, c ipld.CID) {
	runtime.AddCleanup(s, func(c ipld.CID) { k.release(c) }, c)
}
