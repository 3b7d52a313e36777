package ipld

import (
	"fmt"
	"io"
	"strings"
)

// MismatchError is returned when bytes do not hash to the expected CID.
type MismatchError struct {
	Want CID // the CID that was asked for
	Got  CID // the CID of the bytes
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("block mismatch: want %s, bytes are %s", e.Want, e.Got)
}

// DAGJSON writes the block that c names to w as DAG-JSON, without white space or a line end: map keys in bytewise
// order as that codec requires, floats with a point or exponent, the bytes of a raw block as
// {"/":{"bytes":"base64"}}. It returns an error that wraps ErrInvalid if the block is over MaxBlock or not
// canonical, and one that wraps ErrJSON if a map has the reserved key "/"; then nothing is written. It does not
// verify that block hashes to c.
func DAGJSON(w io.Writer, c CID, block []byte) error {
	v, err := BlockValue(c, block)
	if err != nil {
		return err
	}
	if !HasJSON(v) {
		return fmt.Errorf("%w: block %s has a map with the reserved key %q", ErrJSON, c, reserved)
	}
	_, err = w.Write(appendJSON(nil, v, compareBytewise))
	return err
}

func compareBytewise(a, b Entry) int { return strings.Compare(a.Key, b.Key) }

// BlockValue decodes a block: the value of canonical DAG-CBOR, or the bytes of a raw one. The error wraps
// ErrInvalid, or ErrCID for another codec. It does not verify that block hashes to c.
func BlockValue(c CID, block []byte) (Value, error) {
	switch c.Codec() {
	case DagCBOR:
		return DecodeValue(block)
	case Raw:
		// NewDecoder enforces the size limit for raw blocks, too.
		if _, err := NewDecoder(block); err != nil {
			return Value{}, err
		}
		return BytesValue(block), nil
	default:
		return Value{}, fmt.Errorf("%w: codec 0x%x", ErrCID, uint8(c.Codec()))
	}
}
