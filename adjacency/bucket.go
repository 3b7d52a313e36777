package adjacency

import (
	"bytes"
	"context"
	"iter"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
)

// Trees are the two adjacency trees of a graph.
type Trees struct{ Out, In *prolly.Map }

func (t Trees) side(d Direction) *prolly.Map {
	if d == In {
		return t.In
	}
	return t.Out
}

// Bucket yields the edges of near on one side (Out or In) in key order: by type, other end, edge id. A type restricts
// it to edges of that type; after, to those behind that entry. It reads only the chunks that the consumed entries need.
func (t Trees) Bucket(
	ctx context.Context, near graph.ID, side Direction, typ string, after *Entry,
) iter.Seq2[Entry, error] {
	from, to := bounds(near, typ)
	if after != nil {
		// The smallest key greater than k is k followed by a zero byte.
		from = slices.MaxFunc([][]byte{
			from, append(Key(near, after.Type, after.Other, after.Edge), 0),
		}, bytes.Compare)
	}
	return func(yield func(Entry, error) bool) {
		if bytes.Compare(from, to) >= 0 && to != nil {
			return
		}
		like := "" // most edges of a bucket have the type of the previous one
		for kv, err := range t.side(side).Scan(ctx, from, to) {
			if err != nil {
				yield(Entry{}, err)
				return
			}
			_, e, err := parse(kv.Key, kv.Value, like)
			like = e.Type
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// bounds returns the key range of near's edges, of one type if typ is not empty. to is nil if the range has no end.
func bounds(near graph.ID, typ string) (from, to []byte) {
	prefix := near[:]
	if typ != "" {
		prefix = Prefix(near, typ)
	}
	return prefix, prolly.PrefixEnd(prefix)
}

// Degree returns the number of near's edges on one side, of one type if typ is not empty, in O(log n) block reads.
func (t Trees) Degree(ctx context.Context, near graph.ID, side Direction, typ string) (uint64, error) {
	from, to := bounds(near, typ)
	return t.side(side).Count(ctx, from, to)
}
