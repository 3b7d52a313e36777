package prolly

import (
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// ErrInput is returned when no tree can hold a caller's entries or edits: keys that do not ascend, a key or value
// outside its limits, a value that is not one canonical item.
var ErrInput = errors.New("invalid tree entry")

var errFields = errors.New("not the fields of a tree chunk")

// ShapeError is returned when a tree links to a block that is not the chunk that belongs there. errors.Is(err,
// store.ErrCorrupt) holds, and errors.Is(err, ipld.ErrInvalid) if the bytes did not decode.
type ShapeError struct {
	CID    ipld.CID // the chunk at fault
	Reason string
	Err    error // why decoding failed, or nil
}

func (e *ShapeError) Error() string {
	return fmt.Sprintf("tree chunk %s: %s", e.CID, e.Reason)
}

// Is reports whether target is store.ErrCorrupt.
func (e *ShapeError) Is(target error) bool { return target == store.ErrCorrupt }

// Unwrap returns Err.
func (e *ShapeError) Unwrap() error { return e.Err }

func misshapen(c ipld.CID, format string, args ...any) error {
	return &ShapeError{CID: c, Reason: fmt.Sprintf(format, args...)}
}
