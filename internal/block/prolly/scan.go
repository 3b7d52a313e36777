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
