// Package store defines stores of blocks by CID and of the one mutable cell of a repository, the operation head.
// Package storetest holds the conformance suite that every implementation runs.
package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/mnem-project/mnem/ipld"
)

var (
	// ErrNotFound is returned when a block, head or cell is not in the store. The error names it.
	ErrNotFound = errors.New("not found")
	// ErrCorrupt marks every error about stored bytes that differ from what was written.
	ErrCorrupt = errors.New("corrupt")
	// ErrHeadMoved is returned by Commit when the head is not the expected one.
	ErrHeadMoved = errors.New("operation head moved")
	// ErrReadOnly is returned by writes to a store that was opened for reading.
	ErrReadOnly = errors.New("store is open read-only")
	// ErrBusy is returned when another process holds the store and did not release it in time.
	ErrBusy = errors.New("repository is busy")
	// ErrClosed is returned by every call on a store after Close.
	ErrClosed = errors.New("store is closed")
	// ErrUnknown is wrapped by the error of Commit if it is unknown whether the head moved.
	ErrUnknown = errors.New("it is unknown whether the change was made")
	// ErrSequence is returned by Commit when the next head's number does not follow the old one's.
	ErrSequence = errors.New("operation out of sequence")
	// ErrUndefined is returned for an undefined CID, which names no block.
	ErrUndefined = errors.New("undefined CID")
)

// NotFoundError names a block that is missing. errors.Is(err, ErrNotFound) holds.
type NotFoundError struct{ CID ipld.CID }

func (e *NotFoundError) Error() string { return fmt.Sprintf("block %s not found", e.CID) }

// Is reports whether target is ErrNotFound.
func (e *NotFoundError) Is(target error) bool { return target == ErrNotFound }

// CorruptError is returned when stored bytes do not match the CID they are stored under.
// errors.Is(err, ErrCorrupt) holds.
type CorruptError struct {
	Want ipld.CID // the CID that was asked for
	Got  ipld.CID // the CID of the bytes found
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("corrupt block: want %s, stored bytes are %s", e.Want, e.Got)
}

// Is reports whether target is ErrCorrupt.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// Block is a byte string and its CID.
type Block struct {
	CID  ipld.CID
	Data []byte
}

// NewBlock returns the block of data.
func NewBlock(codec ipld.Codec, data []byte) Block {
	return Block{CID: ipld.Sum(codec, data), Data: data}
}

// Verify returns a *CorruptError unless the bytes are those the CID names, and an error that wraps
// ipld.ErrInvalid for a block over ipld.MaxBlock.
func (b Block) Verify() error {
	if len(b.Data) > ipld.MaxBlock {
		return fmt.Errorf("block %s of %d bytes, limit %d: %w", b.CID, len(b.Data), ipld.MaxBlock, ipld.ErrInvalid)
	}
	if got := ipld.Sum(b.CID.Codec(), b.Data); got != b.CID {
		return &CorruptError{Want: b.CID, Got: got}
	}
	return nil
}

// Verify returns the first error of Block.Verify.
func Verify(blocks []Block) error {
	for _, b := range blocks {
		if err := b.Verify(); err != nil {
			return err
		}
	}
	return nil
}

// Getter reads blocks. Safe for concurrent use.
type Getter interface {
	// Get returns the verified bytes of a block, which belong to the caller. It returns a
	// *NotFoundError, a *RedactedError or a *CorruptError.
	Get(ctx context.Context, c ipld.CID) ([]byte, error)
}

// Putter writes blocks. Safe for concurrent use.
type Putter interface {
	// Put stores blocks and verifies each; one that does not match its CID fails the whole call with a
	// *CorruptError. Blocks already present are left unchanged, redacted ones (Eraser) skipped. Put does not make
	// anything durable: the next successful Commit does. The store keeps no reference to Data.
	Put(ctx context.Context, blocks ...Block) error
}

// Blocks is a content-addressed set of blocks.
type Blocks interface {
	Getter
	Putter
	// Has reports whether a block is present, without reading or verifying it.
	Has(ctx context.Context, c ipld.CID) (bool, error)
	// Iterate calls fn with every block from the CID from on (the undefined CID: from the first), in CID order,
	// unverified, on the calling goroutine, until fn returns an error, which Iterate returns. Data is valid during the
	// call only. Blocks put while Iterate runs may or may not be seen; fn may use the store.
	Iterate(ctx context.Context, from ipld.CID, fn func(Block) error) error
}

// EachGetter is implemented by Blocks that read many blocks more cheaply than by single Gets.
type EachGetter interface {
	// GetEach calls fn with each CID of a sequence and the result of Get for it, before it takes the next one, on
	// the calling goroutine, until fn returns an error, which GetEach returns. Ascending CIDs are cheapest. Data is
	// valid during the call only. Blocks deleted while GetEach runs may still be found; fn may use the store.
	GetEach(ctx context.Context, cids iter.Seq[ipld.CID], fn EachFunc) error
}

// EachFunc is the callback of GetEach.
type EachFunc = func(c ipld.CID, data []byte, err error) error

// GetEach uses the GetEach of an EachGetter, and otherwise calls Get for each CID.
func GetEach(ctx context.Context, from Getter, cids iter.Seq[ipld.CID], fn EachFunc) error {
	if e, ok := from.(EachGetter); ok {
		return e.GetEach(ctx, cids, fn)
	}
	for c := range cids {
		data, err := from.Get(ctx, c)
		if err := fn(c, data, err); err != nil {
			return err
		}
	}
	return nil
}

// EachHaser is implemented by Blocks that look up many blocks more cheaply than by single calls of Has.
type EachHaser interface {
	// HasEach calls fn with each CID of a sequence and whether it was present since HasEach began, on the calling
	// goroutine, until fn returns an error, which HasEach returns. Ascending CIDs are cheapest. fn may use the store.
	HasEach(ctx context.Context, cids iter.Seq[ipld.CID], fn func(c ipld.CID, has bool) error) error
}

// HasEach uses the HasEach of an EachHaser, and otherwise calls Has for each CID.
func HasEach(ctx context.Context, in Blocks, cids iter.Seq[ipld.CID], fn func(c ipld.CID, has bool) error) error {
	if e, ok := in.(EachHaser); ok {
		return e.HasEach(ctx, cids, fn)
	}
	for c := range cids {
		has, err := in.Has(ctx, c)
		if err == nil {
			err = fn(c, has)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Head is the one mutable cell: the newest operation. An empty store has the zero Head.
type Head struct {
	Seq       uint64 // the operation's sequence number, from 1
	Operation ipld.CID
}

// CheckNext returns an error that wraps ErrSequence unless next may follow h: its operation is defined and its
// number is one more than that of h. In an empty store any number from 1 to 2^63 - 1 may be the first, so that a
// copy can start at its origin's number.
func (h Head) CheckNext(next Head) error {
	first := h == Head{}
	switch {
	case !next.Operation.Defined():
		return fmt.Errorf("%w: operation %d has no CID", ErrSequence, next.Seq)
	case next.Seq == 0 || next.Seq > math.MaxInt64:
		return fmt.Errorf("%w: number %d", ErrSequence, next.Seq)
	case !first && next.Seq != h.Seq+1:
		return fmt.Errorf("%w: %d after %d", ErrSequence, next.Seq, h.Seq)
	}
	return nil
}

// Store holds facts, data derived from them, and the operation head. Safe for concurrent use.
type Store interface {
	// Facts are the blocks that operations reach.
	Facts() Blocks
	// Derived returns what can be rebuilt from facts: index segments and manifests.
	Derived() Derived
	// Head returns the newest operation, the zero Head in an empty store.
	Head(ctx context.Context) (Head, error)
	// Commit stores blocks and moves the head from old to next in one atomic, durable step: when it returns nil,
	// the blocks, everything Put before, and the head survive a power cut. It returns ErrHeadMoved, and changes
	// nothing, when the head is not old; ErrSequence when next does not follow old (Head.CheckNext); a
	// *CorruptError as Put does. After any other error it is unknown whether the head moved: a caller that must
	// know closes the store, reopens it and reads the head.
	Commit(ctx context.Context, old, next Head, blocks ...Block) error
	// Close waits for calls that are under way (it must not be called by one, such as a callback
	// of Iterate), flushes and releases the store. Later calls of any method return ErrClosed.
	Close() error
}

// Pipeliner is a store whose commits need not wait for one another's disk: those that begin while
// one is made durable become durable together, with one wait.
type Pipeliner interface {
	// Begin does what Commit does, but for the waiting, and makes next what a later Begin or Commit must give as old.
	// What it returns waits until next, and all before it, is durable: then Head returns it, or a later one. It must be
	// called, once, by any goroutine; an error of it is as one of Commit, and no later commit can succeed either.
	Begin(ctx context.Context, old, next Head, blocks ...Block) (durable func() error, err error)
}

// Derived keeps derived blocks, and cells that say which derived block belongs to which fact.
type Derived interface {
	Blocks
	// Cell returns the CID kept under key, or ErrNotFound.
	Cell(ctx context.Context, key ipld.CID) (ipld.CID, error)
	// SetCell keeps value under key. Like Put it is not durable by itself.
	SetCell(ctx context.Context, key, value ipld.CID) error
	// Clear removes all derived blocks and cells.
	Clear(ctx context.Context) error
}

// Scratcher is implemented by a store that has temporary space for data that does not fit into memory.
type Scratcher interface {
	// Scratch returns an empty file owned by the caller.
	Scratch(ctx context.Context) (Scratch, error)
}

// Scratch is a temporary file outside the store; it need not survive a power cut. Several goroutines may read it,
// also while one appends. Close removes it; otherwise the next writable opening of the store does.
type Scratch interface {
	io.Writer // at the end
	io.ReaderAt
	io.Closer
}
