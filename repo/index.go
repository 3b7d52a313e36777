package repo

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/mnem-project/mnem/dense"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/index"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/links"
	"github.com/mnem-project/mnem/store"
)

// maxOpenIndexes bounds how many opened indexes a repository keeps.
const maxOpenIndexes = 8

// openIndexes are the newest used indexes of one kind by what they are of, the most recent last.
type openIndexes[X any] struct {
	of      []ipld.CID
	indexes []*X
}

func (o *openIndexes[X]) get(of ipld.CID) *X {
	for i, c := range o.of {
		if c == of {
			x := o.indexes[i]
			o.of = append(append(o.of[:i], o.of[i+1:]...), of)
			o.indexes = append(append(o.indexes[:i], o.indexes[i+1:]...), x)
			return x
		}
	}
	return nil
}

func (o *openIndexes[X]) put(of ipld.CID, x *X) {
	if len(o.of) == maxOpenIndexes {
		o.of, o.indexes = o.of[1:], o.indexes[1:]
	}
	o.of, o.indexes = append(o.of, of), append(o.indexes, x)
}

// document returns a node with its whole content, nil where there is none: what was erased, or has
// content that was, is no document.
func (s *state) document(ctx context.Context, id graph.ID) (*index.Document, error) {
	item, _, err := s.nodes.Get(ctx, id[:])
	if err != nil {
		return nil, err
	}
	d, err := s.readDocument(ctx, item)
	if err != nil {
		return nil, err
	}
	return s.completeDocument(ctx, d)
}

// documents yields all documents in id order.
func (s *state) documents(ctx context.Context) iter.Seq2[*index.Document, error] {
	return func(yield func(*index.Document, error) bool) {
		for kv, err := range s.nodes.Scan(ctx, nil, nil) {
			var d *index.Document
			if err == nil {
				d, err = s.document(ctx, graph.ID(kv.Key))
			}
			if err == nil && d == nil {
				continue
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// indexChange writes the index of next, a change of base, beside the commit being made. Where
// base has no index the first retrieval makes it: a commit costs its change.
func (r *Repo) indexChange(
	ctx context.Context, base, next *state, draft *index.Draft,
) error {
	var manifest ipld.CID
	if base.nodes.Len() > 0 {
		var err error
		manifest, err = r.store.Derived().Cell(ctx, base.root)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("find index: %w", err)
		}
	}
	_, err := r.writeIndex(ctx, manifest, base, next, draft)
	return err
}

// writeIndex makes the index of next from the index of base and remembers it. Its caller holds writer
// or indexMu.
func (r *Repo) writeIndex(
	ctx context.Context, manifest ipld.CID, base, next *state, draft *index.Draft,
) (ipld.CID, error) {
	derived := r.derived()
	buffer := store.NewStageBehind(derived, stageLimit)
	defer buffer.Wait()
	later := &awaited{derived: derived}
	c, err := index.Update(ctx, buffer, manifest, documents(ctx, base, next, draft),
		index.Options{Later: later})
	if err == nil {
		err = buffer.Flush(ctx)
	}
	if err == nil {
		err = derived.SetCell(ctx, next.root, c)
	}
	if err != nil {
		return c, fmt.Errorf("index: %w", err)
	}
	if later.missing {
		r.merges.start(derived, mergeTexts, c)
	}
	return c, nil
}

// index returns the snapshot's index: the one made with its commit, or else one made now from that
// of the nearest ancestor that has one, kept where the repository is open for writing.
func (s *Snapshot) index(ctx context.Context) (*index.Index, error) {
	r := s.repo
	if x := r.openIndex(s.state.root); x != nil {
		return x, nil // whoever makes another one, which may take long, is not waited for
	}
	r.indexMu.Lock()
	defer r.indexMu.Unlock()
	if x := r.openIndex(s.state.root); x != nil {
		return x, nil
	}
	x, err := s.openIndex(ctx)
	if err == nil {
		r.openMu.Lock()
		defer r.openMu.Unlock()
		r.indexes.put(s.state.root, x)
	}
	return x, err
}

// openIndex returns the index of a graph where it is open, else nil.
func (r *Repo) openIndex(graph ipld.CID) *index.Index {
	r.openMu.Lock()
	defer r.openMu.Unlock()
	return r.indexes.get(graph)
}

// forgetIndexes drops the open indexes and stops what is made of them, for whoever holds writer and
// indexMu and goes on to remove blocks.
func (r *Repo) forgetIndexes() {
	r.merges.stop()
	r.openMu.Lock()
	defer r.openMu.Unlock()
	r.indexes, r.dense = openIndexes[index.Index]{}, openIndexes[dense.Index]{}
	r.links = openIndexes[links.Index]{}
}

func (s *Snapshot) openIndex(ctx context.Context) (*index.Index, error) {
	r := s.repo
	derived := r.derived()
	manifest, err := derived.Cell(ctx, s.state.root)
	if err == nil {
		return index.Open(ctx, derived, manifest, r.parts)
	}
	if !errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("find index: %w", err)
	}
	manifest, base, err := s.nearestIndex(ctx)
	if err != nil {
		return nil, err
	}
	if !r.ro {
		if manifest, err = r.writeIndex(ctx, manifest, base, s.state, nil); err != nil {
			return nil, err
		}
		return index.Open(ctx, derived, manifest, r.parts)
	}
	buffer := store.NewStage(derived, 0)
	manifest, err = index.Update(ctx, buffer, manifest, documents(ctx, base, s.state, nil),
		index.Options{Later: &awaited{derived: derived}}) // a merge would be thrown away
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	return index.Open(ctx, buffer, manifest, r.parts)
}

// nearestIndex returns the index of the nearest ancestor that has one.
func (s *Snapshot) nearestIndex(ctx context.Context) (ipld.CID, *state, error) {
	return s.nearest(ctx, func(base *state) (ipld.CID, error) {
		c, err := s.repo.store.Derived().Cell(ctx, base.root)
		if err != nil {
			err = fmt.Errorf("find index: %w", err)
		}
		return c, err
	})
}

// nearest walks first parents to a commit whose state has an index, which cell finds. Without one
// it returns no index and the empty state.
func (s *Snapshot) nearest(
	ctx context.Context, cell func(*state) (ipld.CID, error),
) (ipld.CID, *state, error) {
	r := s.repo
	for rec := s.commit; rec != nil && len(rec.Parents) > 0; {
		parent, err := r.At(ctx, rec.Parents[0])
		if err != nil {
			return ipld.CID{}, nil, err
		}
		manifest, err := cell(parent.state)
		if err == nil {
			return manifest, parent.state, nil
		}
		if !errors.Is(err, store.ErrNotFound) {
			return ipld.CID{}, nil, err
		}
		rec = parent.commit
	}
	empty, err := r.loadState(ctx, ipld.CID{}, ipld.CID{}, ipld.CID{})
	return ipld.CID{}, empty, err
}

// RebuildIndex makes the indexes of a revision, of its texts, links and dense vectors, anew from its
// facts alone, in place of those there are. Answers do not change: an index is a pure function
// of facts.
func (r *Repo) RebuildIndex(ctx context.Context, rev string) (IndexStats, error) {
	if r.ro {
		return IndexStats{}, store.ErrReadOnly
	}
	s, err := r.Snapshot(ctx, rev)
	if err != nil {
		return IndexStats{}, err
	}
	if err := r.writer.Lock(ctx); err != nil {
		return IndexStats{}, err
	}
	defer r.writer.Unlock()
	r.indexMu.Lock()
	defer r.indexMu.Unlock()
	empty, err := r.loadState(ctx, ipld.CID{}, ipld.CID{}, ipld.CID{})
	if err != nil {
		return IndexStats{}, err
	}
	manifest, err := r.writeIndex(ctx, ipld.CID{}, empty, s.state, nil)
	if err == nil && s.state.vectors.Len() > 0 {
		_, err = r.writeDense(ctx, ipld.CID{}, empty, s.state)
	}
	if err == nil && s.state.edges.Len() > 0 {
		_, err = r.writeLinks(ctx, ipld.CID{}, empty, s.state)
	}
	if err != nil {
		return IndexStats{}, err
	}
	r.forgetIndexes()
	return r.indexStats(ctx, manifest)
}

// IndexStats describes an index.
type IndexStats struct {
	Manifest ipld.CID // undefined where there is no index yet
	Segments int
	index.Stats
}

// IndexStats describes the index of a snapshot, the zero value where none was made yet.
func (s *Snapshot) IndexStats(ctx context.Context) (IndexStats, error) {
	manifest, err := s.repo.store.Derived().Cell(ctx, s.state.root)
	if errors.Is(err, store.ErrNotFound) {
		return IndexStats{}, nil
	}
	if err != nil {
		return IndexStats{}, err
	}
	return s.repo.indexStats(ctx, manifest)
}

func (r *Repo) indexStats(ctx context.Context, manifest ipld.CID) (IndexStats, error) {
	m, err := index.ReadManifest(ctx, r.derived(), manifest)
	if err != nil {
		return IndexStats{}, err
	}
	return IndexStats{manifest, len(m.Segments), m.Stats}, nil
}
