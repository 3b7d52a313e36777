package core

import (
	"context"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view"
	"github.com/mnem-project/mnem/internal/view/segment"
	"github.com/mnem-project/mnem/ipld"
)

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
