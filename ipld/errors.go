package ipld

import (
	"errors"
	"fmt"
)

// ErrInvalid marks every error about bytes that are not one strictly canonical DAG-CBOR item.
var ErrInvalid = errors.New("invalid dag-cbor")

// ErrCID is returned when a string or bytes are not a CID in the one form used here: version 1, dag-cbor or raw,
// sha2-256 with 32 bytes.
var ErrCID = errors.New("invalid CID")

// DecodeError says where and why a block was refused. errors.Is(err, ErrInvalid) holds.
type DecodeError struct {
	Offset int // byte offset of the item that was refused
	Reason string
}

func (e *DecodeError) Error() string {
	return fmt.Sprintf("invalid dag-cbor at byte %d: %s", e.Offset, e.Reason)
}

// Is reports whether target is ErrInvalid.
func (e *DecodeError) Is(target error) bool { return target == ErrInvalid }
