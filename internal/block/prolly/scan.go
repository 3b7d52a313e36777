package prolly

import (
	"bytes"
	"context"
	"iter"
)

// Scan returns the entries with from <= key < to in key order; nil is unbounded. Entries are read-only views that
// may be kept. An error ends the sequence, which may be ranged over repeatedly.
func (m *Map) Scan(ctx context.Context, from, to []byte) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		cu := newCursor(m, 0)
		err := cu.seek(ctx, from)
		for more := true; more && err == nil; more, err = cu.nextChunk(ctx) {
			c, i := cu.chunk(), cu.top().i
			for ; i < len(c.keys); i++ {
				if to != nil && bytes.Compare(c.keys[i], to) >= 0 {
					return
				}
				if !yield(Entry{c.keys[i], c.values[i]}, nil) {
					return
				}
			}
			if err = ctx.Err(); err != nil {
				break
			}
		}
		if err != nil {
			yield(Entry{}, err)
		}
	}
}

// ScanReverse returns the entries of Scan in descending order.
func (m *Map) ScanReverse(ctx context.Context, from, to []byte) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		cu := newCursor(m, 0)
		err := cu.seekBelow(ctx, to)
		for more := true; more && err == nil; more, err = cu.prevChunk(ctx) {
			c, i := cu.chunk(), cu.top().i
			for ; i >= 0; i-- {
				if from != nil && bytes.Compare(c.keys[i], from) < 0 {
					return
				}
				if !yield(Entry{c.keys[i], c.values[i]}, nil) {
					return
				}
			}
			if err = ctx.Err(); err != nil {
				break
			}
		}
		if err != nil {
			yield(Entry{}, err)
		}
	}
}

// seekBelow moves to the last entry whose key is less than to, or to the very last one if to is nil. The index is
// -1 if the chunk reached has none.
func (cu *cursor) seekBelow(ctx context.Context, to []byte) error {
	if to == nil {
		return cu.seekEnd(ctx)
	}
	if err := cu.seek(ctx, to); err != nil {
		return err
	}
	cu.top().i--
	return nil
}

// ScanPrefix returns the entries whose key begins with prefix, in key order.
func (m *Map) ScanPrefix(ctx context.Context, prefix []byte) iter.Seq2[Entry, error] {
	return m.Scan(ctx, prefix, PrefixEnd(prefix))
}

// PrefixEnd returns the least key above all keys that begin with prefix, or nil if there is none.
func PrefixEnd(prefix []byte) []byte {
	n := len(prefix)
	for n > 0 && prefix[n-1] == 0xff {
		n--
	}
	if n == 0 {
		return nil
	}
	end := bytes.Clone(prefix[:n])
	end[n-1]++
	return end
}
