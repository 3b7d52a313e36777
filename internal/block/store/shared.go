package store

import (
	"context"
	"time"

	"github.com/mnem-project/mnem/ipld"
)

// Place is where the HEAD of one client of a shared store is: on a branch, which need not exist, or at a commit.
// The zero value is where the repository's own HEAD is.
type Place struct {
	Branch string
	Commit ipld.CID
}

// Shared is a Store that other processes read and write at the same time, on this machine and on others.
// What one process could assume holds in this form:
//
//   - Commit returns ErrHeadMoved at any time, also within a turn. What was read before is of no more use:
//     the transaction is made anew upon the new head.
//   - What Has says of a block, and Put of one that was there, holds within a turn. A Commit in a turn that
//     a collection came into returns ErrHeadMoved, so that everything is put again.
//   - A block that was put stays for a lease, whatever leads to it.
//   - A lost answer is asked for again: Commit returns an unknown outcome only where the database does not
//     come back in time.
type Shared interface {
	// Turn waits until no other process that asked has the turn to write, and begins a turn of this one, which
	// end ends. It makes writers wait for one another in place of making their work again; what keeps their
	// commits apart is Commit.
	Turn(ctx context.Context) (end func(), err error)
	// Since notes what a long piece of work relies on that puts blocks outside of a turn. check returns
	// ErrHeadMoved where blocks that were put since may have been collected.
	Since(ctx context.Context) (check func(context.Context) error, err error)
	// Lease returns how long what was put, or was reached from the head, stays.
	Lease() time.Duration
	// Keep has the roots that fn returns kept from collections of other processes, from a part of a lease after
	// they were read on until they are not among them any more. It is called once.
	Keep(fn func() []ipld.CID)
	// Kept returns the roots that other processes keep.
	Kept(ctx context.Context) ([]ipld.CID, error)
	// Sweep removes facts, or derived blocks, that nothing leads to from the head at or from a kept root, but
	// for those that were put within a lease. It returns ErrHeadMoved, and removes nothing, where the head is
	// another one by now.
	Sweep(ctx context.Context, at Head, derived bool, cids ...ipld.CID) (blocks int, bytes int64, err error)
	// Listen calls fn when the head may have moved, until the context ends or the store is closed.
	Listen(ctx context.Context, fn func())
	// Erased has fn called, on a goroutine of its own, after another process has erased something.
	Erased(fn func())
	// Place returns where the client's HEAD was when the head of the store was read last.
	Place() Place
	// SetPlace moves the client's HEAD, durably.
	SetPlace(ctx context.Context, to Place) error
	// Made returns the numbers of the operations that the client made, those of the last thousands.
	Made(ctx context.Context) (map[uint64]bool, error)
}
