package view

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/parallel"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view/dense"
	"github.com/mnem-project/mnem/ipld"
)

// denseKey is the key of the cell that says which derived block has the index of the dense vectors
// of a tree of embeddings. Another form of it has other keys.
func denseKey(tree ipld.CID) ipld.CID {
	return ipld.Sum(ipld.Raw, append(fmt.Appendf(nil, "mnem:dense:%d:", dense.Format.Version), tree.Bytes()...))
}

// embeddingChanges yields what differs in the dense embeddings of two states, in the order of keys.
// What was erased counts as never there: an erasure drops all indexes.
func embeddingChanges(ctx context.Context, from, to *state.State) iter.Seq2[dense.VectorChange, error] {
	return mapped(prolly.Diff(ctx, from.Vectors, to.Vectors), func(c prolly.Change) (dense.VectorChange, bool, error) {
		change, err := embeddingChange(ctx, from, to, c)
		return change, change.Old > 0 || change.New != nil, err
	})
}

// mapped yields what fn makes of the items of a sequence, without those that it drops, up to the first error.
func mapped[A, B any](seq iter.Seq2[A, error], fn func(A) (out B, keep bool, err error)) iter.Seq2[B, error] {
	return func(yield func(B, error) bool) {
		for a, err := range seq {
			var out B
			keep := false
			if err == nil {
				out, keep, err = fn(a)
			}
			if (keep || err != nil) && !yield(out, err) || err != nil {
				return
			}
		}
	}
}

func embeddingChange(
	ctx context.Context, from, to *state.State, c prolly.Change,
) (change dense.VectorChange, err error) {
	if change.ID, change.Model, err = graph.ParseEmbeddingKey(c.Key); err != nil {
		return change, fmt.Errorf("%w tree of embeddings: %w", store.ErrCorrupt, err)
	}
	if c.Old != nil {
		old, err := Embedding(ctx, from, c.Old)
		if err != nil {
			return change, err
		}
		if old != nil && old.DType != graph.Sparse {
			change.Old = old.Dims
		}
	}
	if c.New != nil {
		e, err := Embedding(ctx, to, c.New)
		if err != nil {
			return change, err
		}
		if e != nil && e.DType != graph.Sparse {
			change.New, err = DenseInt8(e)
		}
		return change, err
	}
	return change, nil
}

// readers is how many goroutines read vectors for one query: most of the time they wait for a disk.
const readers = 4

// readersShare is how many vectors are worth another goroutine.
const readersShare = 64

// DenseVectors returns the dense embeddings of nodes by a model as they are ranked, in the order of ids. The error wraps
// source.ErrNoNode if a purge has just erased one, and store.ErrCorrupt if there is none: the index that asks belongs to
// another tree. Ascending ids are cheapest.
func DenseVectors(ctx context.Context, s *state.State, model string, ids []graph.ID) ([][]int8, error) {
	list := make([]linkedVector, len(ids))
	for i, id := range ids {
		item, ok, err := s.Vectors.Get(ctx, graph.EmbeddingKey(id, model))
		if err == nil && !ok {
			err = fmt.Errorf("%w: no embedding of %s by %q", store.ErrCorrupt, id, model)
		}
		if err == nil {
			list[i].cid, err = state.LinkItem(item)
		}
		if err != nil {
			return nil, err
		}
		list[i].at = i
	}
	slices.SortFunc(list, func(a, b linkedVector) int { return a.cid.Compare(b.cid) })
	out := make([][]int8, len(ids))
	share := max(readersShare, (len(list)+readers-1)/readers)
	err := parallel.Share(readers, len(list), share, func(next func() (from, to int)) error {
		for from, to := next(); from < to; from, to = next() {
			if err := readVectors(ctx, s, model, ids, list[from:to], out); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// linkedVector is the embedding of the node at a place of a list.
type linkedVector struct {
	cid ipld.CID
	at  int
}

// readVectors sets the vectors of part in out, which has one for each of ids.
func readVectors(
	ctx context.Context, s *state.State, model string, ids []graph.ID, part []linkedVector, out [][]int8,
) error {
	cids := func(yield func(ipld.CID) bool) {
		for _, v := range part {
			if !yield(v.cid) {
				return
			}
		}
	}
	n := 0
	return store.GetEach(ctx, s.Get, cids, func(c ipld.CID, data []byte, err error) error {
		at := part[n].at
		n++
		e, err := commit.ReadEmbedding(ctx, gotten{data, err}, c)
		if errors.Is(err, store.ErrRedacted) {
			err = source.ErrNoNode
		}
		if err == nil && e.DType == graph.Sparse {
			err = fmt.Errorf("%w: it is sparse", store.ErrCorrupt)
		}
		if err == nil {
			out[at], err = DenseInt8(e)
		}
		if err != nil {
			return fmt.Errorf("embedding of %s by %q: %w", ids[at], model, err)
		}
		return nil
	})
}

// gotten is a Getter of the one block that GetEach has passed on.
type gotten struct {
	data []byte
	err  error
}

// Get returns it.
func (g gotten) Get(context.Context, ipld.CID) ([]byte, error) { return g.data, g.err }

// wantedVectors yields all dense embeddings as they are ranked, by their digests. What is known of them is not read.
func wantedVectors(
	ctx context.Context, s *state.State, scan scanner, known *KnownRecords,
) iter.Seq2[dense.Vector, error] {
	return mapped(scan(ctx, s.Vectors), func(kv prolly.Entry) (dense.Vector, bool, error) {
		v, err := wantedVector(ctx, s, kv, known)
		return v, v.Digest != notDense, err
	})
}

func wantedVector(
	ctx context.Context, s *state.State, kv prolly.Entry, known *KnownRecords,
) (v dense.Vector, err error) {
	if v.ID, v.Model, err = graph.ParseEmbeddingKey(kv.Key); err != nil {
		return v, fmt.Errorf("%w tree of embeddings: %w", store.ErrCorrupt, err)
	}
	if digest, ok := known.Has(state.RoleEmbedding, []byte(v.Model), kv.Value); ok && digest != 0 {
		v.Digest = dense.Digest(digest)
		return v, nil
	}
	c, err := embeddingChange(ctx, nil, s, prolly.Change{Key: kv.Key, New: kv.Value})
	if v.Digest = notDense; c.New != nil {
		v.Digest = known.dense.Of(c.New)
	}
	return v, err
}
