package store

import (
	"context"
	"time"

	"github.com/mnem-project/mnem/ipld"
)

// Place is the position of one client's HEAD in a shared store: on a branch, which need not exist, or at a commit.
// The zero value means the repository's own HEAD.
type Place struct {
	Branch string
	Commit ipld.CID
}

// Shared is a Store that other processes, on this machine and others, read and write concurrently. Assumptions that
// hold for one process take this form:
//
//   - Commit may return ErrHeadMoved at any time, also within a turn. Earlier reads are then stale:
//     the transaction must be repeated on the new head.
//   - A block that Has reports or Put finds present stays within a turn. A Commit in a turn that a
//     collection interrupted returns ErrHeadMoved, so that everything is put again.
//   - A block that was put stays for a lease, whether or not it is reachable.
//   - A lost answer is requested again: Commit returns an unknown outcome only if the database does not
//     come back in time.
type Shared interface {
	// Turn waits until no other process that asked earlier holds the turn to write, and begins one; end ends it.
	// Writers then wait for each other instead of repeating their work. Turns are only an optimization: Commit
	// alone keeps commits apart.
	Turn(ctx context.Context) (end func(), err error)
	// Since starts a long piece of work that puts blocks outside of a turn. check returns ErrHeadMoved if blocks
	// put since then may have been collected.
	Since(ctx context.Context) (check func(context.Context) error, err error)
	// Lease returns how long a caller may rely on a block that it put or found reachable from the head.
	Lease() time.Duration
	// Keep protects the roots that fn returns from collections by other processes, from a fraction of a lease after
	// fn first returned them until it no longer does. Call it once.
	Keep(fn func() []ipld.CID)
	// Kept returns the roots that other processes keep.
	Kept(ctx context.Context) ([]ipld.CID, error)
	// Sweep removes the given facts, or derived blocks, which must be unreachable from the head at and from kept roots.
	// It keeps those that were put within a lease. If the head has moved it removes nothing and returns ErrHeadMoved.
	Sweep(ctx context.Context, at Head, derived bool, cids ...ipld.CID) (blocks int, bytes int64, err error)
	// Listen calls fn when the head may have moved, until the context ends or the store is closed.
	Listen(ctx context.Context, fn func())
	// Erased registers fn, to be called on its own goroutine after another process has erased something.
	Erased(fn func())
	// Place returns where the client's HEAD was when the store's head was last read.
	Place() Place
	// SetPlace durably moves the client's HEAD.
	SetPlace(ctx context.Context, to Place) error
	// Made returns the sequence numbers of the client's operations, among the last few thousand.
	Made(ctx context.Context) (map[uint64]bool, error)
}
