package care

import (
	"errors"

	"github.com/mnem-project/mnem/community"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// sweepCommunities tells a collection what to do about a cell that is no index's: it returns the
// blocks of communities that are kept, none where the cell is to go. Damaged ones go, and are made
// anew when they are needed.
func (g *Collector) sweepCommunities(key, value ipld.CID) ([]ipld.CID, error) {
	rec, err := outline.ReadCommunities(g.Ctx, g.Repo.Derived(), value)
	if errors.Is(err, store.ErrCorrupt) {
		return nil, nil
	}
	if err != nil || !g.Marks.has(rec.Out) || outline.CommunitiesKey(rec.Out) != key {
		return nil, err
	}
	return append(rec.Parts, value), nil
}

// communities checks that those kept of a graph are what its edges make them.
func (f *FsckRun) communities(s *core.Snapshot) {
	derived := f.Repo.Store.Derived()
	out := s.State.Out.Root()
	key := outline.CommunitiesKey(out)
	kept, err := derived.Cell(f.Ctx, key)
	if errors.Is(err, store.ErrNotFound) || f.Trees[key] {
		return
	}
	f.Trees[key] = true
	if err != nil {
		f.fail(s.Id, FsckIndex, err)
		return
	}
	if _, err := outline.KeptCommunities(f.Ctx, f.Repo, out); err != nil {
		f.add(kept, FsckIndex, "communities: %v", err)
		return
	}
	p, err := community.Find(f.Ctx, outline.CommunityEdges(f.Ctx, s.State))
	if err != nil { // it says nothing about what is kept
		f.fail(s.Id, FsckTree, err)
		return
	}
	buffer := store.NewStage(derived, 0)
	if want, err := outline.WriteCommunities(f.Ctx, buffer, out, p); err != nil || want != kept {
		f.add(kept, FsckIndex, "communities that are not those of the edges of commit %s", s.Id)
	}
}
