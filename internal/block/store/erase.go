package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/mnem-project/mnem/ipld"
)

// ErrRedacted is returned by reads of a block that was deliberately erased.
var ErrRedacted = errors.New("redacted")

// ErrNoRoom is returned when the disk lacks space for a change. The change was not begun and the store keeps
// working. Compact returns it when deleted bytes are still on the disk.
var ErrNoRoom = errors.New("no room on the disk")

// ErrServerFull is returned when the database server's disk is full. errors.Is(ErrServerFull, ErrNoRoom) holds.
var ErrServerFull = fmt.Errorf("%w of the database server", ErrNoRoom)

// NoRoomError is returned when a store knows how much space a change lacks. errors.Is(err, ErrNoRoom) holds.
type NoRoomError struct {
	Needs   uint64 // bytes that must be free
	Free    uint64 // bytes that are free, fewer than Needs
	Erasing bool   // whether the change was made with a context from Erasing
}

func (e *NoRoomError) Error() string {
	return fmt.Sprintf("%v: free %d bytes first (%d must be free, %d are)", ErrNoRoom, e.MustFree(), e.Needs, e.Free)
}

// Is reports whether target is ErrNoRoom.
func (e *NoRoomError) Is(target error) bool { return target == ErrNoRoom }

// MustFree returns how many bytes must be freed before the change can be made.
func (e *NoRoomError) MustFree() uint64 { return e.Needs - min(e.Needs, e.Free) }

type erasingKey struct{}

// Erasing returns a context for changes that erase. A store that reserves space for erasing lets only these use it.
func Erasing(ctx context.Context) context.Context {
	return context.WithValue(ctx, erasingKey{}, true)
}

// IsErasing reports whether a context comes from Erasing.
func IsErasing(ctx context.Context) bool { return ctx.Value(erasingKey{}) != nil }

// RedactedError is returned by Get for an erased block. errors.Is(err, ErrRedacted) holds.
type RedactedError struct {
	CID  ipld.CID
	Stub []byte // what Redact stored in its place
}

func (e *RedactedError) Error() string { return fmt.Sprintf("block %s was redacted", e.CID) }

// Is reports whether target is ErrRedacted.
func (e *RedactedError) Is(target error) bool { return target == ErrRedacted }

// Redaction records that a block was erased.
type Redaction struct {
	CID  ipld.CID
	Stub []byte // why, when and by whom: bytes that the store does not interpret
	// Open means that this store never had the block; Stub says why. The block may still arrive: Put and Commit
	// store it, which removes the redaction.
	Open bool
}

// EachRedaction calls fn with redactions in the order of Eraser.Redactions, until it returns an error.
func EachRedaction(all map[ipld.CID]Redaction, fn func(Redaction) error) error {
	order := slices.SortedFunc(maps.Keys(all), ipld.CID.Compare)
	for _, open := range []bool{false, true} {
		for _, c := range order {
			r := all[c]
			if r.Open != open {
				continue
			}
			r.Stub = bytes.Clone(r.Stub)
			if err := fn(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// AnyErases reports whether any of the redactions belongs to a block that was erased here.
func AnyErases(list []Redaction) bool {
	return slices.ContainsFunc(list, func(r Redaction) bool { return !r.Open })
}

// Deleter is implemented by Blocks that can delete blocks.
type Deleter interface {
	// Delete removes blocks and skips absent ones. It is atomic and, like Put, not durable by itself. Nothing may
	// link to a deleted block.
	Delete(ctx context.Context, cids ...ipld.CID) error
}

// CellDeleter is implemented by Derived that can list and delete cells.
type CellDeleter interface {
	// Cells calls fn with every cell in key order, as Iterate does with blocks.
	Cells(ctx context.Context, fn func(key, value ipld.CID) error) error
	// DeleteCells removes cells, as Delete does blocks.
	DeleteCells(ctx context.Context, keys ...ipld.CID) error
}

// Eraser is implemented by a Store that can erase: forget a block for good, and remember that it did. Get of a
// redacted block returns a *RedactedError, Has returns false, and Iterate skips it. Put and Commit skip redacted
// blocks, unless the redaction is open, and succeed; callers that need to know ask Redacted.
type Eraser interface {
	// Redact removes blocks, facts and derived, and leaves a stub in place of each, in one atomic, durable step. Unless
	// all redactions are open, the same step removes all derived blocks and cells: they may contain erased text, and
	// readers treat an index over missing facts as damage. Absent blocks are redacted too; a second redaction of a
	// block replaces its stub. An open redaction of a block that is present or already redacted changes nothing.
	Redact(ctx context.Context, list ...Redaction) error
	// Redacted returns the redaction of a block, and whether there is one. For other blocks it costs only a lookup
	// in memory.
	Redacted(ctx context.Context, c ipld.CID) (r Redaction, ok bool, err error)
	// Redactions calls fn with every redaction, first those of erased blocks and then open ones, each in CID order,
	// as Iterate does with blocks.
	Redactions(ctx context.Context, fn func(Redaction) error) error
	// Compact removes the bytes of deleted blocks from the disk, logs included. It waits for a moment without other
	// calls, and blocks calls that arrive while it runs. It must not be called from a callback. It returns an error
	// wrapping ErrNoRoom if the disk lacks space to rewrite the data, and one wrapping ErrDenied if the database
	// role may not; then deleted bytes remain until a later Compact succeeds. After any other error except the
	// context's, the store may be unusable.
	Compact(ctx context.Context) error
}

// Roomer is implemented by a Store that can report, before any work is done, that the disk lacks space for a change.
type Roomer interface {
	// Room returns an error wrapping ErrNoRoom unless a small change may be made now with ctx. It must not be
	// called from a callback.
	Room(ctx context.Context) error
}

// Reclaimer is implemented by a Store that can free the space of deleted blocks.
type Reclaimer interface {
	// Reclaim frees the space of deleted blocks by rewriting the whole store. Other calls run concurrently and do
	// not wait for it. Bytes may stay behind, for instance in logs: see Eraser. It returns an error wrapping
	// ErrNoRoom if the disk lacks space; a part may be done then.
	Reclaim(ctx context.Context) error
}

// Notebook is implemented by a Store that can record one piece of work that must not stay half done.
type Notebook interface {
	// Note returns the note that SetNote stored, or nil.
	Note(ctx context.Context) ([]byte, error)
	// SetNote durably replaces the note; nil removes it.
	SetNote(ctx context.Context, note []byte) error
}

// ErrDenied is returned when a database server denies the store's role a privilege. The request was not carried
// out; Compact returns it when deleted bytes are still on the disk.
var ErrDenied = errors.New("permission denied")

// DeniedError reports a privilege that a database server denies a role. errors.Is(err, ErrDenied) holds.
type DeniedError struct {
	Role string
	Err  error // names the table
}

func (e *DeniedError) Error() string { return fmt.Sprintf("role %q lacks a right: %v", e.Role, e.Err) }

// Is reports whether target is ErrDenied.
func (e *DeniedError) Is(target error) bool { return target == ErrDenied }

func (e *DeniedError) Unwrap() error { return e.Err }
