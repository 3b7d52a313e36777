package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/ipld"
)

// ErrRedacted is returned by reads of a block that was erased on purpose.
var ErrRedacted = errors.New("redacted")

// ErrNoRoom is returned when the disk has no room for a change, which was not begun: the store keeps
// working. Compact returns it when what was deleted is still on the disk.
var ErrNoRoom = errors.New("no room on the disk")

// ErrServerFull is returned when the disk of the database server that has the store is full.
// errors.Is(ErrServerFull, ErrNoRoom) holds.
var ErrServerFull = fmt.Errorf("%w of the database server", ErrNoRoom)

// NoRoomError is returned when a store knows how much room a change lacks. errors.Is(err, ErrNoRoom)
// holds.
type NoRoomError struct {
	Needs   uint64 // bytes that must be free
	Free    uint64 // bytes that are free, fewer than Needs
	Erasing bool   // whether the change was made with a context of Erasing
}

func (e *NoRoomError) Error() string {
	return fmt.Sprintf("%v: free %d bytes first (%d must be free, %d are)", ErrNoRoom, e.MustFree(),
		e.Needs, e.Free)
}

// Is reports whether target is ErrNoRoom.
func (e *NoRoomError) Is(target error) bool { return target == ErrNoRoom }

// MustFree returns how many bytes somebody must free before the change can be made.
func (e *NoRoomError) MustFree() uint64 { return e.Needs - min(e.Needs, e.Free) }

type erasingKey struct{}

// Erasing returns a context for changes that erase: a store that keeps room in reserve for these lets
// them, and nothing else, use it.
func Erasing(ctx context.Context) context.Context {
	return context.WithValue(ctx, erasingKey{}, true)
}

// IsErasing reports whether a context is one of Erasing.
func IsErasing(ctx context.Context) bool { return ctx.Value(erasingKey{}) != nil }

// RedactedError is returned by Get where a block was erased. errors.Is(err, ErrRedacted) holds.
type RedactedError struct {
	CID  ipld.CID
	Stub []byte // what Redact left in its place
}

func (e *RedactedError) Error() string { return fmt.Sprintf("block %s was redacted", e.CID) }

// Is reports whether target is ErrRedacted.
func (e *RedactedError) Is(target error) bool { return target == ErrRedacted }

// Redaction stands for a block that was erased.
type Redaction struct {
	CID  ipld.CID
	Stub []byte // why, when and by whom: bytes that the store does not look into
	// Open is whether nothing was erased here: the block never came, and Stub tells why. It may come: Put
	// and Commit store it, and the redaction is gone then.
	Open bool
}

// AnyErases reports whether any of some redactions is of a block that was erased here.
func AnyErases(list []Redaction) bool {
	return slices.ContainsFunc(list, func(r Redaction) bool { return !r.Open })
}

// Deleter is the ability of Blocks to forget some.
type Deleter interface {
	// Delete removes blocks; those that are not there are passed over. It is atomic and, like Put,
	// not durable by itself. Nothing may link to what is deleted.
	Delete(ctx context.Context, cids ...ipld.CID) error
}

// CellDeleter is the ability of Derived to list and forget cells.
type CellDeleter interface {
	// Cells calls fn with every cell in the order of keys, as Iterate does with blocks.
	Cells(ctx context.Context, fn func(key, value ipld.CID) error) error
	// DeleteCells removes cells, as Delete does blocks.
	DeleteCells(ctx context.Context, keys ...ipld.CID) error
}

// Eraser is the ability of a Store to erase: to forget a block for good, and to know that it did.
// Get of a redacted block returns a *RedactedError, Has false, and Iterate passes over it. Put and
// Commit leave redacted blocks out, unless the redaction is open, and succeed: whoever must tell asks
// Redacted.
type Eraser interface {
	// Redact removes blocks, facts and derived, and leaves a stub in place of each, in one atomic,
	// durable step. The same step removes all derived blocks and cells, unless all redactions are open: they
	// were made of what is erased, and readers take an index of missing facts for damage. Blocks that are
	// not there are redacted all the same; a second redaction of one replaces its stub. An open one of a
	// block that is there or redacted changes nothing.
	Redact(ctx context.Context, list ...Redaction) error
	// Redacted returns the redaction of a block, and whether there is one. It costs no more than a
	// look into memory for others.
	Redacted(ctx context.Context, c ipld.CID) (r Redaction, ok bool, err error)
	// Redactions calls fn with every redaction, those of erased blocks and then the open ones, each in
	// CID order, as Iterate does with blocks.
	Redactions(ctx context.Context, fn func(Redaction) error) error
	// Compact makes the bytes of what was deleted leave the disk, logs included. It waits for a
	// moment without other calls, and those that come meanwhile wait for it. It must not be called
	// by a callback. It returns an error wrapping ErrNoRoom where the disk has no room to write anew
	// what has deleted bytes beside it, and one wrapping ErrDenied where the role of a database may
	// not: the bytes are there until it is called with success. After
	// another error, but the context's, the store may be of no more use.
	Compact(ctx context.Context) error
}

// Roomer is the ability of a Store to say, before any work is done for it, that a change has no room.
type Roomer interface {
	// Room returns an error wrapping ErrNoRoom unless a small change may be made now with ctx. It must
	// not be called by a callback.
	Room(ctx context.Context) error
}

// Reclaimer is the ability of a Store to give back the room of what was deleted.
type Reclaimer interface {
	// Reclaim makes what was deleted take no more room, beside other calls, which do not wait for
	// it. It rewrites the whole store. Bytes may stay behind (in logs, for one): see Eraser. It
	// returns an error wrapping ErrNoRoom where there is no room to do so, and did a part then.
	Reclaim(ctx context.Context) error
}

// Notebook is the ability of a Store to remember one piece of work that must not stay half done.
type Notebook interface {
	// Note returns what SetNote kept, nil for nothing.
	Note(ctx context.Context) ([]byte, error)
	// SetNote keeps a note durably in place of the one there is; nil removes it.
	SetNote(ctx context.Context, note []byte) error
}
