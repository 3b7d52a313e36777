package care

import (
	"errors"

	"github.com/mnem-project/mnem/distill"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// sweepDigests tells a collection what to do about a cell that may be one of digests: it returns the blocks
// that are kept, none where the cell is to go. Damaged ones go, and are made anew when they are needed.
func (g *Collector) sweepDigests(key, value ipld.CID) (kept []ipld.CID, err error) {
	derived := g.Repo.Derived()
	rec, err := outline.ReadDigests(g.Ctx, derived, value)
	if err == nil {
		if outline.DigestsKey(rec.Graph, rec.Recipe) != key || !g.Marks.has(rec.Graph) {
			return nil, nil
		}
		kept, err = g.digestBlocks(rec)
		kept = append(kept, value)
	}
	if errors.Is(err, store.ErrCorrupt) {
		return nil, nil
	}
	return kept, err
}

// digestBlocks returns the blocks of digests that are not known to stay.
func (g *Collector) digestBlocks(rec *outline.DigestsRecord) (kept []ipld.CID, err error) {
	derived := g.Repo.Derived()
	var seen state.CidSet
	take := func(c ipld.CID) (bool, error) {
		if g.live.Has(c) || !seen.Add(c) {
			return false, nil
		}
		kept = append(kept, c)
		return true, nil
	}
	if err := distill.Walk(g.Ctx, derived, rec.Root, take); err != nil {
		return nil, err
	}
	trees, err := outline.DigestTrees(g.Ctx, g.Repo, rec)
	if err != nil {
		return nil, err
	}
	for _, tree := range trees {
		if err := tree.Walk(g.Ctx, func(c ipld.CID, _ int) (bool, error) { return take(c) }); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

// digests checks that those kept of a graph by the recipe that is used where nothing is said are what its
// facts make them: from those of the state before where these are kept, which are checked in their turn.
func (f *FsckRun) digests(s *core.Snapshot, before *state.State) {
	recipe := distill.Default()
	key := outline.DigestsKey(s.State.Root, recipe)
	if f.Trees[key] {
		return
	}
	f.Trees[key] = true
	kept, err := f.Repo.Store.Derived().Cell(f.Ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return
	}
	if err != nil {
		f.fail(s.Id, FsckIndex, err)
		return
	}
	if _, err := outline.KeptDigests(f.Ctx, f.Repo, s.State, recipe); err != nil {
		f.add(kept, FsckIndex, "digests: %v", err)
		return
	}
	var base *outline.Digests
	if before != nil {
		base, _ = outline.KeptDigests(f.Ctx, f.Repo, before, recipe) // damage is told of in its turn
	}
	if base == nil {
		if before, err = f.Repo.LoadState(f.Ctx, state.Roots{}); err != nil {
			f.fail(s.Id, FsckStore, err)
			return
		}
	}
	buffer := store.NewStage(f.Repo.Derived(), 0)
	_, want, err := outline.UpdateDigests(f.Ctx, f.Repo, buffer, recipe, base, before, s.State)
	if err == nil && want == kept {
		err = f.digestsAreThere(kept)
	}
	if err != nil {
		f.add(kept, FsckIndex, "digests: %v", err)
		return
	}
	if want != kept {
		f.add(kept, FsckIndex, "digests that are not those of the facts of commit %s", s.Id)
	}
}

// digestsAreThere reads all digests that were not read before.
func (f *FsckRun) digestsAreThere(head ipld.CID) error {
	derived := f.Repo.Derived()
	rec, err := outline.ReadDigests(f.Ctx, derived, head)
	if err != nil {
		return err
	}
	trees, err := outline.DigestTrees(f.Ctx, f.Repo, rec)
	if err != nil {
		return err
	}
	for _, tree := range trees {
		if f.Trees[tree.Root()] {
			continue
		}
		f.Trees[tree.Root()] = true
		if err := tree.Check(f.Ctx); err != nil {
			return err
		}
	}
	return distill.Walk(f.Ctx, derived, rec.Root, func(c ipld.CID) (bool, error) {
		again := f.Trees[c]
		f.Trees[c] = true
		return !again, nil
	})
}
