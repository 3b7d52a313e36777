package repo

import (
	"context"
	"fmt"
	"iter"

	"github.com/mnem-project/mnem/dense"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/segment"
	"github.com/mnem-project/mnem/store"
)

// denseKey is the key of the cell that says which derived block has the index of the dense vectors
// of a tree of embeddings. Another form of it has other keys.
func denseKey(tree ipld.CID) ipld.CID {
	return ipld.Sum(ipld.Raw, append(fmt.Appendf(nil, "mnem:dense:%d:", dense.Format.Version), tree.Bytes()...))
}

// embeddingChanges yields what differs in the dense embeddings of two states, in the order of keys.
// What was erased counts as never there: an erasure drops all indexes.
func embeddingChanges(ctx context.Context, from, to *state) iter.Seq2[dense.Change, error] {
	return func(yield func(dense.Change, error) bool) {
		for c, err := range prolly.Diff(ctx, from.vectors, to.vectors) {
			var change dense.Change
			if err == nil {
				change, err = embeddingChange(ctx, from, to, c)
			}
			if err == nil && change.Old == 0 && change.New == nil {
				continue
			}
			if !yield(change, err) || err != nil {
				return
			}
		}
	}
}

func embeddingChange(
	ctx context.Context, from, to *state, c prolly.Change,
) (change dense.Change, err error) {
	if change.ID, change.Model, err = graph.ParseEmbeddingKey(c.Key); err != nil {
		return change, fmt.Errorf("%w tree of embeddings: %w", store.ErrCorrupt, err)
	}
	if c.Old != nil {
		old, err := from.embedding(ctx, c.Old)
		if err != nil {
			return change, err
		}
		if old != nil && old.DType != graph.Sparse {
			change.Old = old.Dims
		}
	}
	if c.New != nil {
		e, err := to.embedding(ctx, c.New)
		if err != nil {
			return change, err
		}
		if e != nil && e.DType != graph.Sparse {
			change.New, err = denseInt8(e)
		}
		return change, err
	}
	return change, nil
}

// dense returns the index of the snapshot's dense vectors, nil without any embedding.
func (s *Snapshot) dense(ctx context.Context) (*dense.Index, error) {
	r, root := s.repo, s.state.vectors.Root()
	if s.state.vectors.Len() == 0 {
		return nil, nil
	}
	return indexOf(ctx, s, &r.dense, vectorsKind(r.derived()),
		func(blocks segment.Blocks, manifest ipld.CID) (*dense.Index, error) {
			return dense.Open(ctx, blocks, manifest, root, r.rows)
		})
}

// wantedVectors yields all dense embeddings as they are ranked, by their digests. What is known of them is
// not read.
func (s *state) wantedVectors(
	ctx context.Context, scan scanner, known *knownRecords,
) iter.Seq2[dense.Vector, error] {
	return func(yield func(dense.Vector, error) bool) {
		for kv, err := range scan(ctx, s.vectors) {
			var v dense.Vector
			if err == nil {
				v, err = s.wantedVector(ctx, kv, known)
			}
			if err == nil && v.Digest == notDense {
				continue
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

func (s *state) wantedVector(
	ctx context.Context, kv prolly.Entry, known *knownRecords,
) (v dense.Vector, err error) {
	if v.ID, v.Model, err = graph.ParseEmbeddingKey(kv.Key); err != nil {
		return v, fmt.Errorf("%w tree of embeddings: %w", store.ErrCorrupt, err)
	}
	if digest, ok := known.has(roleEmbedding, []byte(v.Model), kv.Value); ok && digest != 0 {
		v.Digest = dense.Digest(digest)
		return v, nil
	}
	c, err := embeddingChange(ctx, nil, s, prolly.Change{Key: kv.Key, New: kv.Value})
	if v.Digest = notDense; c.New != nil {
		v.Digest = known.dense.Of(c.New)
	}
	return v, err
}
