package repo

import (
	"context"
	"errors"

	"github.com/mnem-project/mnem/dense"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/index"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/links"
	"github.com/mnem-project/mnem/segment"
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

// indexOf returns an index of a snapshot, which its cell's key tells from others of the kind: the open
// one, else one that open opens from the index made with a commit, or from one made now.
func indexOf[X any](
	ctx context.Context, s *Snapshot, of *openIndexes[X], k indexKind,
	open func(blocks segment.Blocks, manifest ipld.CID) (*X, error),
) (*X, error) {
	r, key := s.repo, k.key(s.state)
	have := func() *X {
		r.openMu.Lock()
		defer r.openMu.Unlock()
		return of.get(key)
	}
	if x := have(); x != nil {
		return x, nil // whoever makes another one, which may take long, is not waited for
	}
	r.indexMu.Lock()
	defer r.indexMu.Unlock()
	if x := have(); x != nil {
		return x, nil
	}
	blocks, manifest, err := s.ensure(ctx, k)
	if err != nil {
		return nil, err
	}
	x, err := open(blocks, manifest)
	if err == nil {
		r.openMu.Lock()
		defer r.openMu.Unlock()
		of.put(key, x)
	}
	return x, err
}

// index returns the snapshot's index of texts.
func (s *Snapshot) index(ctx context.Context) (*index.Index, error) {
	r := s.repo
	return indexOf(ctx, s, &r.indexes, textsKind(r.derived(), fresh{}),
		func(blocks segment.Blocks, manifest ipld.CID) (*index.Index, error) {
			return index.Open(ctx, blocks, manifest, r.parts)
		})
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

// Sweeps returns a number that changes whenever indexes and other derived blocks have been removed, which an answer
// may just have been read from.
func (r *Repo) Sweeps() uint64 { return r.sweeps.Load() }

// SweptSince reports whether derived blocks were removed since Sweeps returned a number: what was missing is made
// anew where it is asked for again. It waits for what removes some now.
func (r *Repo) SweptSince(n uint64) bool {
	r.indexMu.Lock()
	defer r.indexMu.Unlock()
	return r.sweeps.Load() != n
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
	empty, err := r.loadState(ctx, roots{})
	if err != nil {
		return IndexStats{}, err
	}
	var manifest ipld.CID
	for _, k := range indexKinds(r.derived(), fresh{}) {
		if !k.key(s.state).Defined() {
			continue
		}
		c, err := r.writeKind(ctx, k, ipld.CID{}, empty, s.state)
		if err != nil {
			return IndexStats{}, err
		}
		if !manifest.Defined() {
			manifest = c
		}
	}
	r.forgetIndexes()
	if !manifest.Defined() {
		return IndexStats{}, nil
	}
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
	manifest, err := s.repo.store.Derived().Cell(ctx, textsKey(s.state.root))
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
