package ipld

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Bounds of paths.
const (
	MaxPath         = 4096 // bytes
	MaxPathSegments = 256
)

// ErrPath is wrapped by the error of Follow for a path that is invalid or leads nowhere.
var ErrPath = errors.New("no such path")

// Follow resolves a path of map keys and list positions, as in a/0/b, from a block, following links into other
// blocks, and writes the result as DAG-JSON. It returns the CID of the last block on the path. A link at the end is
// followed too; an empty path is the block itself. get is called once for each block, which is verified. The error
// wraps ErrPath, ErrJSON, that of BlockValue or of get, or is a *MismatchError.
func Follow(
	ctx context.Context, get func(context.Context, CID) ([]byte, error), from CID, path string, w io.Writer,
) (last CID, err error) {
	if len(path) > MaxPath || strings.Count(path, "/") >= MaxPathSegments {
		return CID{}, fmt.Errorf("%w: longer than %d bytes or %d segments", ErrPath, MaxPath, MaxPathSegments)
	}
	last = from
	v, err := loadValue(ctx, get, from)
	for segment := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' }) {
		if err != nil {
			return last, err
		}
		next, ok := v.at(segment)
		if !ok {
			return last, fmt.Errorf("%w: %q of %q, in block %s", ErrPath, segment, path, last)
		}
		if v = next; v.Kind() == Link {
			last = v.Link()
			v, err = loadValue(ctx, get, last)
		}
	}
	if err != nil {
		return last, err
	}
	return last, writeDAGJSON(w, last, v)
}

// loadValue reads and verifies a block.
func loadValue(ctx context.Context, get func(context.Context, CID) ([]byte, error), c CID) (Value, error) {
	block, err := get(ctx, c)
	if err != nil {
		return Value{}, fmt.Errorf("load %s: %w", c, err)
	}
	if got := Sum(c.Codec(), block); got != c {
		return Value{}, &MismatchError{Want: c, Got: got}
	}
	v, err := BlockValue(c, block)
	if err != nil {
		err = fmt.Errorf("load %s: %w", c, err)
	}
	return v, err
}

// at returns the value under a key of a map, or at a position of a list.
func (v Value) at(segment string) (Value, bool) {
	switch v.Kind() {
	case Map:
		return v.Get(segment)
	case List:
		i, err := strconv.ParseUint(segment, 10, 31)
		if list := v.List(); err == nil && i < uint64(len(list)) {
			return list[i], true
		}
	}
	return Value{}, false
}
