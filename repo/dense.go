package repo

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/mnem-project/mnem/dense"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/store"
)

// denseKey is the key of the cell that says which derived block has the index of the dense vectors
// of a tree of embeddings. Another form of it has other keys.
func denseKey(tree ipld.CID) ipld.CID {
	return ipld.Sum(ipld.Raw, append([]byte("mnem:dense:2:"), tree.Bytes()...))
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

// dense returns the index of the snapshot's dense vectors, nil without any embedding: the one made
// with a commit, or else one made now from that of the nearest ancestor that has one, kept where
// the repository is open for writing.
func (s *Snapshot) dense(ctx context.Context) (*dense.Index, error) {
	r, root := s.repo, s.state.vectors.Root()
	if s.state.vectors.Len() == 0 {
		return nil, nil
	}
	if x := r.openedDense(root); x != nil {
		return x, nil // as of text indexes, whoever makes another one is not waited for
	}
	r.indexMu.Lock()
	defer r.indexMu.Unlock()
	if x := r.openedDense(root); x != nil {
		return x, nil
	}
	x, err := s.openDense(ctx)
	if err == nil {
		r.openMu.Lock()
		defer r.openMu.Unlock()
		r.dense.put(root, x)
	}
	return x, err
}

// openedDense returns the index of a tree of embeddings where it is open, else nil.
func (r *Repo) openedDense(tree ipld.CID) *dense.Index {
	r.openMu.Lock()
	defer r.openMu.Unlock()
	return r.dense.get(tree)
}

func (s *Snapshot) openDense(ctx context.Context) (*dense.Index, error) {
	blocks, manifest, err := s.ensure(ctx, s.repo.vectorsKind())
	if err != nil {
		return nil, err
	}
	return dense.Open(ctx, blocks, manifest, s.state.vectors.Root(), s.repo.rows)
}

// sweepDense tells a collection what to do about a cell that is no text index's: it returns the
// blocks of an index of dense vectors that is kept, none where it is no such cell or is to go.
// Damaged ones go, and are made anew when they are needed.
func (g *collector) sweepDense(key, value ipld.CID) (kept []ipld.CID, err error) {
	derived := g.repo.derived()
	of, err := dense.Of(g.ctx, derived, value)
	if err == nil {
		if denseKey(of) != key || !g.marks.has(of) {
			return nil, nil
		}
		err = dense.Walk(g.ctx, derived, value, g.walker(&kept))
	}
	if errors.Is(err, store.ErrCorrupt) {
		return nil, nil
	}
	return kept, err
}

// dense checks that the index of dense vectors is what the embeddings make it.
func (f *fsck) dense(s *Snapshot) {
	if s.state.vectors.Len() == 0 {
		return
	}
	root := s.state.vectors.Root()
	key := denseKey(root)
	if f.trees[key] {
		return
	}
	f.trees[key] = true
	f.indexed(s, key, func(manifest ipld.CID) (wrong []string, unread, err error) {
		wrong, err = dense.Verify(f.ctx, f.repo.store.Derived(), manifest, root,
			noting(s.state.dense(f.ctx), &unread))
		return wrong, unread, err
	})
}

// dense yields all dense embeddings as they are ranked.
func (s *state) dense(ctx context.Context) iter.Seq2[dense.Vector, error] {
	return func(yield func(dense.Vector, error) bool) {
		for kv, err := range s.vectors.Scan(ctx, nil, nil) {
			var c dense.Change
			if err == nil {
				c, err = embeddingChange(ctx, nil, s, prolly.Change{Key: kv.Key, New: kv.Value})
			}
			if err == nil && c.New == nil {
				continue
			}
			v := dense.Vector{ID: c.ID, Model: c.Model, Values: c.New}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}
