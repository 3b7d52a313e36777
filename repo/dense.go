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

// denseChange writes the index of the dense vectors of next, a change of base, beside the commit
// being made. Where base has none the first retrieval makes it.
func (r *Repo) denseChange(ctx context.Context, base, next *state) error {
	if next.vectors.Len() == 0 || next.vectors.Root() == base.vectors.Root() {
		return nil
	}
	manifest, err := r.denseCell(ctx, base)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err == nil {
		_, err = r.writeDense(ctx, manifest, base, next)
	}
	return err
}

// denseCell returns the manifest of a state, the undefined CID for one without embeddings.
func (r *Repo) denseCell(ctx context.Context, s *state) (c ipld.CID, err error) {
	if s.vectors.Len() > 0 {
		if c, err = r.store.Derived().Cell(ctx, denseKey(s.vectors.Root())); err != nil {
			err = fmt.Errorf("find index of vectors: %w", err)
		}
	}
	return c, err
}

// writeDense makes the index of next from that of base and remembers it.
func (r *Repo) writeDense(
	ctx context.Context, manifest ipld.CID, base, next *state,
) (ipld.CID, error) {
	derived := r.derived()
	buffer := store.NewStage(derived, stageLimit)
	root := next.vectors.Root()
	later := &awaited{derived: derived}
	c, err := dense.Update(ctx, buffer, manifest, root, embeddingChanges(ctx, base, next),
		dense.Options{Later: later})
	if err == nil {
		err = buffer.Flush(ctx)
	}
	if err == nil {
		err = derived.SetCell(ctx, denseKey(root), c)
	}
	if err == nil && later.missing {
		r.merges.start(derived, mergeVectors(derived), c)
	}
	return c, err
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
	r, root := s.repo, s.state.vectors.Root()
	derived := r.derived()
	manifest, err := r.denseCell(ctx, s.state)
	if err == nil {
		return dense.Open(ctx, derived, manifest, root, r.rows)
	}
	if !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	manifest, base, err := s.nearestDense(ctx)
	if err != nil {
		return nil, err
	}
	if !r.ro {
		if manifest, err = r.writeDense(ctx, manifest, base, s.state); err != nil {
			return nil, err
		}
		return dense.Open(ctx, derived, manifest, root, r.rows)
	}
	buffer := store.NewStage(derived, 0)
	manifest, err = dense.Update(ctx, buffer, manifest, root, embeddingChanges(ctx, base, s.state),
		dense.Options{Later: &awaited{derived: derived}}) // a merge would be thrown away
	if err != nil {
		return nil, err
	}
	return dense.Open(ctx, buffer, manifest, root, r.rows)
}

// nearestDense returns the index of the dense vectors of the nearest ancestor that has one.
func (s *Snapshot) nearestDense(ctx context.Context) (ipld.CID, *state, error) {
	return s.nearest(ctx, func(base *state) (ipld.CID, error) { return s.repo.denseCell(ctx, base) })
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
		err = dense.Walk(g.ctx, derived, value, func(c ipld.CID) error {
			kept = append(kept, c)
			return nil
		})
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
