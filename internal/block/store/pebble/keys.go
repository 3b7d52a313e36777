package pebble

import (
	"bytes"
	"context"
	"fmt"

	pdb "github.com/cockroachdb/pebble/v2"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/ipld"
)

// Space is the part of the key space that a key belongs to: its first byte.
type Space byte

const (
	Unknown    Space = 0 // a key of none of the forms below
	Cells      Space = 'c'
	Derived    Space = 'd'
	Facts      Space = 'f'
	Gaps       Space = 'g'
	Head       Space = 'h'
	Note       Space = 'n'
	Redactions Space = 'r'
	Format     Space = 'v'
)

// blockKeyLen is the length of a key in Cells, Derived, Facts, Gaps and Redactions.
const blockKeyLen = 2 + ipld.DigestLen

var (
	headKey   = []byte{byte(Head)}
	noteKey   = []byte{byte(Note)}
	formatKey = []byte{byte(Format)}
)

func (s Space) key(c ipld.CID) []byte {
	b := make([]byte, 0, blockKeyLen)
	digest := c.Digest()
	b = append(b, byte(s), byte(c.Codec()))
	return append(b, digest[:]...)
}

// bounds returns the first key of s and the first key after s.
func (s Space) bounds() (lower, upper []byte) { return []byte{byte(s)}, []byte{byte(s) + 1} }

// parseKey returns the space of a key, and the CID of one in a space of CIDs.
func parseKey(key []byte) (Space, ipld.CID) {
	for _, single := range [][]byte{headKey, noteKey, formatKey} {
		if bytes.Equal(key, single) {
			return Space(key[0]), ipld.CID{}
		}
	}
	if len(key) != blockKeyLen {
		return Unknown, ipld.CID{}
	}
	space := Space(key[0])
	switch space {
	case Cells, Derived, Facts, Gaps, Redactions:
	default:
		return Unknown, ipld.CID{}
	}
	binary := make([]byte, 0, ipld.CIDLen)
	binary = append(binary, 1, key[1], 0x12, ipld.DigestLen)
	c, err := ipld.CIDFromBytes(append(binary, key[2:]...))
	if err != nil {
		return Unknown, ipld.CID{}
	}
	return space, c
}

// RawEntry is one key of the database and its value, as stored.
type RawEntry struct {
	Space Space
	CID   ipld.CID // of a key in a space of CIDs
	Key   []byte
	Value []byte
}

// Keys calls fn with every entry of the database in key order, on the calling goroutine, until fn returns an error,
// which Keys returns. Nothing is verified. Key and Value are valid during the call only. It lets fsck see what no
// other method shows.
func (s *Store) Keys(ctx context.Context, fn func(RawEntry) error) error {
	return s.scan(ctx, nil, nil, func(key, value []byte) error {
		space, c := parseKey(key)
		return fn(RawEntry{Space: space, CID: c, Key: key, Value: value})
	})
}

// scan calls fn with the entries in [lower, upper); nil is unbounded.
func (s *Store) scan(ctx context.Context, lower, upper []byte, fn func(key, value []byte) error) (err error) {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.exit()
	calling := false
	defer func() {
		if !calling { // a panic of fn belongs to the caller
			rescue(recover(), &err)
		}
	}()
	it, err := s.db.NewIterWithContext(ctx, &pdb.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return fmt.Errorf("iterate: %w", damaged(err))
	}
	var last []byte
	defer func() {
		if cerr := it.Close(); err == nil && cerr != nil {
			err = fmt.Errorf("iterate after key %x: %w", last, damaged(cerr))
		}
	}()
	for ok := it.First(); ok; ok = it.Next() {
		last = append(last[:0], it.Key()...)
		value, err := it.ValueAndErr()
		if err != nil {
			return fmt.Errorf("iterate at key %x: %w", last, damaged(err))
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		calling = true
		if err := fn(it.Key(), value); err != nil {
			return err
		}
		calling = false
	}
	return nil
}

// Check calls fn with every fault apart from the blocks' contents: keys of no known form, cells that hold no CID,
// blocks that are present although redacted, a missing format record, and damaged slots of the head file and of the
// marker. If each is not nil, it is called with the blocks that Iterate shows, derived ones and facts separately,
// both in order. fn and each may return an error to end the check, which Check returns.
func (s *Store) Check(
	ctx context.Context, each func(b store.Block, derived bool) error, fn func(message string) error,
) error {
	redacted := *s.redacted.Load()
	operations, format := false, false
	err := s.Keys(ctx, func(e RawEntry) error {
		switch e.Space {
		case Unknown:
			return fn(fmt.Sprintf("key %x belongs to nothing", e.Key[:min(len(e.Key), 64)]))
		case Cells:
			if _, err := ipld.CIDFromBytes(e.Value); err != nil {
				return fn(fmt.Sprintf("cell of %s: %v", e.CID, err))
			}
		case Facts, Derived:
			if open, gone := redacted[e.CID]; gone && !open {
				if err := fn(fmt.Sprintf("block %s is there, though it is redacted", e.CID)); err != nil {
					return err
				}
			}
			if each != nil {
				return each(store.Block{CID: e.CID, Data: e.Value}, e.Space == Derived)
			}
		case Head:
			operations = true
		case Format:
			format = true
		}
		return nil
	})
	if err == nil && operations && !format {
		err = fn("no format record")
	}
	if err != nil {
		return err
	}
	for _, kind := range []slotKind{headSlots, markerSlots} {
		slots, err := readSlots(s.fs, s.dir, kind)
		if err != nil {
			return err
		}
		for i, slot := range slots.Slot {
			if slot.Damaged {
				if err := fn(fmt.Sprintf("%s: slot %d is damaged", kind.what, i)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
