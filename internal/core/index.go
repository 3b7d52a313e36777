package core

import (
	"context"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view"
	"github.com/mnem-project/mnem/internal/view/dense"
	"github.com/mnem-project/mnem/internal/view/index"
	"github.com/mnem-project/mnem/internal/view/links"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

// maxOpenIndexes bounds how many opened indexes of a kind a repository keeps.
const maxOpenIndexes = 8

// indexOf returns an index of a snapshot, which its cell's key tells from others of the kind: the open
// one, else one that open opens from the index made with a commit, or from one made now.
func indexOf[X any](
	ctx context.Context, s *Snapshot, of *view.Opened[X], k view.IndexKind,
	open func(blocks segment.Blocks, manifest ipld.CID) (X, error),
) (x X, err error) {
	r, key := s.Repo, k.Key(s.State)
	have := func() (X, bool) {
		r.openMu.Lock()
		defer r.openMu.Unlock()
		return of.Get(key)
	}
	if x, ok := have(); ok {
		return x, nil // do not wait for a build of another index: it may take long
	}
	r.IndexMu.Lock()
	defer r.IndexMu.Unlock()
	if x, ok := have(); ok {
		return x, nil
	}
	blocks, manifest, err := s.ensure(ctx, k)
	if err != nil {
		return x, err
	}
	if x, err = open(blocks, manifest); err == nil {
		r.openMu.Lock()
		defer r.openMu.Unlock()
		of.Put(key, x, maxOpenIndexes)
	}
	return x, err
}

func (s *Snapshot) index(ctx context.Context) (*index.Index, error) {
	r := s.Repo
	return indexOf(ctx, s, &r.indexes, view.TextsKind(r.Derived(), state.Fresh{}),
		func(blocks segment.Blocks, manifest ipld.CID) (*index.Index, error) {
			return index.Open(ctx, blocks, manifest, r.Parts)
		})
}

// Indexes makes, rebuilds and drops the indexes that are derived from commits.
type Indexes struct{ repo *Repo }

// Indexes returns the indexes.
func (r *Repo) Indexes() Indexes { return Indexes{r} }

// Forget drops the open indexes and stops what is made of them, for a caller that holds
// Writer and IndexMu and goes on to remove blocks.
func (x Indexes) Forget() {
	x.repo.Merges.Stop()
	x.repo.openMu.Lock()
	defer x.repo.openMu.Unlock()
	x.repo.indexes, x.repo.dense = view.Opened[*index.Index]{}, view.Opened[*dense.Index]{}
	x.repo.links = view.Opened[*links.Index]{}
}

// Sweeps returns a number that changes whenever indexes and other derived blocks have been removed, which an answer
// may just have been read from.
func (x Indexes) Sweeps() uint64 { return x.repo.SweepCount.Load() }

// SweptSince reports whether derived blocks were removed since Sweeps returned n: a retry rebuilds what was
// missing. It waits for a removal in progress.
func (x Indexes) SweptSince(n uint64) bool {
	x.repo.IndexMu.Lock()
	defer x.repo.IndexMu.Unlock()
	return x.repo.SweepCount.Load() != n
}

// Rebuild replaces the indexes of a revision, of its texts, links and dense vectors, with ones built
// from its facts alone. Answers do not change: an index is a pure function of facts.
func (x Indexes) Rebuild(ctx context.Context, rev string) (view.IndexStats, error) {
	if x.repo.Ro {
		return view.IndexStats{}, store.ErrReadOnly
	}
	s, err := x.repo.Snapshot(ctx, rev)
	if err != nil {
		return view.IndexStats{}, err
	}
	if err := x.repo.Writer.Lock(ctx); err != nil {
		return view.IndexStats{}, err
	}
	defer x.repo.Writer.Unlock()
	x.repo.IndexMu.Lock()
	defer x.repo.IndexMu.Unlock()
	empty, err := x.repo.LoadState(ctx, state.Roots{})
	if err != nil {
		return view.IndexStats{}, err
	}
	var manifest ipld.CID
	for _, k := range view.IndexKinds(x.repo.Derived(), state.Fresh{}) {
		if !k.Key(s.State).Defined() {
			continue
		}
		c, err := x.write(ctx, k, ipld.CID{}, empty, s.State)
		if err != nil {
			return view.IndexStats{}, err
		}
		if !manifest.Defined() {
			manifest = c
		}
	}
	x.Forget()
	if !manifest.Defined() {
		return view.IndexStats{}, nil
	}
	return x.stats(ctx, manifest)
}

// IndexStats describes the index of a snapshot, the zero value if none was made yet.
func (s *Snapshot) IndexStats(ctx context.Context) (view.IndexStats, error) {
	manifest, err := s.Repo.Store.Derived().Cell(ctx, view.TextsKey(s.State.Root))
	if errors.Is(err, store.ErrNotFound) {
		return view.IndexStats{}, nil
	}
	if err != nil {
		return view.IndexStats{}, err
	}
	return s.Repo.Indexes().stats(ctx, manifest)
}

func (x Indexes) stats(ctx context.Context, manifest ipld.CID) (view.IndexStats, error) {
	m, err := index.ReadManifest(ctx, x.repo.Derived(), manifest)
	if err != nil {
		return view.IndexStats{}, err
	}
	return view.IndexStats{Manifest: manifest, Segments: len(m.Segments), Stats: m.Stats}, nil
}

// Dense returns the index of the snapshot's dense vectors, nil without any embedding.
func (s *Snapshot) Dense(ctx context.Context) (*dense.Index, error) {
	r, root := s.Repo, s.State.Vectors.Root()
	if s.State.Vectors.Len() == 0 {
		return nil, nil
	}
	return indexOf(ctx, s, &r.dense, view.VectorsKind(r.Derived()),
		func(blocks segment.Blocks, manifest ipld.CID) (*dense.Index, error) {
			// The index stays open longer than the lease of the snapshot's state.
			st, err := r.LoadState(ctx, state.Roots{Vectors: root})
			if err != nil {
				return nil, err
			}
			read := func(ctx context.Context, model string, ids []graph.ID) ([][]int8, error) {
				return view.DenseVectors(ctx, st, model, ids)
			}
			return dense.Open(ctx, blocks, manifest, root, read, r.Rows)
		})
}

// Links returns the index of the snapshot's links. It returns nil if there are no edges, and where
// there is no index and the repository is not open for writing: the trees say the same.
func (s *Snapshot) Links(ctx context.Context) (*links.Index, error) {
	if s.State.Edges.Len() == 0 {
		return nil, nil
	}
	r, k := s.Repo, view.LinksKind(s.Repo.Derived(), nil)
	if r.Ro {
		if _, err := k.Manifest(ctx, s.State); errors.Is(err, store.ErrNotFound) {
			return nil, nil
		}
	}
	return indexOf(ctx, s, &r.links, k,
		func(blocks segment.Blocks, manifest ipld.CID) (*links.Index, error) {
			return links.Open(ctx, blocks, manifest, view.LinksOf(s.State), r.Buckets)
		})
}

// maxRetries bounds how often a retrieval begins again because its index was dropped.
const maxRetries = 8

// WithIndex calls fn with the snapshot's index, and again if a purge dropped the index during the call.
func (s *Snapshot) WithIndex(ctx context.Context, fn func(*index.Index) error) error {
	x, err := s.index(ctx)
	if err != nil {
		return err
	}
	for attempt := 0; ; attempt++ {
		err := fn(x)
		var missing *state.MissingError
		if !errors.As(err, &missing) && !errors.Is(err, source.ErrNoNode) {
			return err
		}
		again, indexErr := s.index(ctx)
		if indexErr != nil || again == x || attempt == maxRetries { // nothing was dropped: it is damage
			if missing == nil {
				err = fmt.Errorf("%w: %w", store.ErrCorrupt, err)
			}
			return err
		}
		x = again
	}
}

// ChangeAll makes a change, nil for one that was made, after which all indexes must be rebuilt.
// Its caller holds Writer.
func (x Indexes) ChangeAll(ctx context.Context, change func() error) error {
	x.repo.IndexMu.Lock()
	defer x.repo.IndexMu.Unlock()
	x.repo.Communities.Mu.Lock()
	defer x.repo.Communities.Mu.Unlock()
	x.repo.Digests.Mu.Lock()
	defer x.repo.Digests.Mu.Unlock()
	defer x.repo.SweepCount.Add(1)
	x.repo.Digests.Clear()
	x.Forget() // first: a reader that misses an erased block asks for another index
	if change != nil {
		if err := change(); err != nil {
			return err
		}
	}
	x.repo.Rows.Clear()
	x.repo.Vectors.Clear()
	x.repo.NodeBlocks.Clear()
	x.repo.Mentions.Clear()
	if err := x.repo.Store.Derived().Clear(ctx); err != nil {
		return fmt.Errorf("clear indexes: %w", err)
	}
	return nil
}

// write makes the index of next from that of base, whose manifest is given, and remembers it. Its
// caller holds Writer or IndexMu.
func (x Indexes) write(
	ctx context.Context, k view.IndexKind, manifest ipld.CID, base, next *state.State,
) (ipld.CID, error) {
	buffer := store.NewStageBehind(k.Derived, state.StageLimit)
	defer buffer.Wait()
	later := &view.Awaited{Derived: k.Derived}
	c, err := k.Update(ctx, buffer, manifest, base, next, later)
	if err == nil {
		err = buffer.Flush(ctx)
	}
	if err == nil {
		err = k.Derived.SetCell(ctx, k.Key(next), c)
	}
	if err != nil {
		return c, fmt.Errorf("index of %s: %w", k.Name, err)
	}
	if later.Missing {
		x.repo.Merges.Start(k.Derived, k.Merge, c)
	}
	return c, nil
}

// change writes the index of next, a change of base, along with the commit being made. If base has no
// index the first retrieval builds it: a commit costs only its change.
func (x Indexes) change(ctx context.Context, k view.IndexKind, base, next *state.State) error {
	if key := k.Key(next); !key.Defined() || key == k.Key(base) {
		return nil
	}
	manifest, err := k.Manifest(ctx, base)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err == nil {
		_, err = x.write(ctx, k, manifest, base, next)
	}
	return err
}

// ensure returns the manifest of the snapshot's index of a kind and what has its blocks: the one made
// with its commit, or else one made now from that of the nearest ancestor that has one, kept if
// the repository is open for writing. Its caller holds IndexMu.
func (s *Snapshot) ensure(ctx context.Context, k view.IndexKind) (blocks segment.Blocks, manifest ipld.CID, err error) {
	manifest, err = k.Manifest(ctx, s.State)
	if err == nil && manifest.Defined() || err != nil && !errors.Is(err, store.ErrNotFound) {
		return k.Derived, manifest, err
	}
	base := s.State // there is nothing to index
	if err != nil {
		if manifest, base, err = s.nearest(ctx, k); err != nil {
			return nil, manifest, err
		}
	}
	if !s.Repo.Ro && k.Key(s.State).Defined() {
		written, err := s.Repo.Indexes().write(ctx, k, manifest, base, s.State)
		if !errors.Is(err, store.ErrNoRoom) { // or else it is made in memory alone
			return k.Derived, written, err
		}
	}
	buffer := store.NewStage(k.Derived, 0)
	later := &view.Awaited{Derived: k.Derived} // a merge would be thrown away
	manifest, err = k.Update(ctx, buffer, manifest, base, s.State, later)
	return buffer, manifest, err
}

// nearest walks first parents to a commit whose state has an index of a kind. Without one it returns no
// index and the empty state.
func (s *Snapshot) nearest(ctx context.Context, k view.IndexKind) (ipld.CID, *state.State, error) {
	r := s.Repo
	for rec := s.Record; rec != nil && len(rec.Parents) > 0; {
		parent, err := r.At(ctx, rec.Parents[0])
		if err != nil {
			return ipld.CID{}, nil, err
		}
		manifest, err := k.Manifest(ctx, parent.State)
		if err == nil {
			return manifest, parent.State, nil
		}
		if !errors.Is(err, store.ErrNotFound) {
			return ipld.CID{}, nil, err
		}
		rec = parent.Record
	}
	empty, err := r.LoadState(ctx, state.Roots{})
	return ipld.CID{}, empty, err
}
