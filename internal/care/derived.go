package care

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view/community"
	"github.com/mnem-project/mnem/internal/view/distill"
	"github.com/mnem-project/mnem/ipld"
)

// sweepCommunities returns, for a cell that is not an index's, the blocks of communities to keep, nil if the cell
// must go. Damaged ones go, and are rebuilt when needed.
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

// communities checks the stored communities of a graph against its edges.
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
	if err != nil { // the error is not about the stored communities
		f.fail(s.Id, FsckTree, err)
		return
	}
	buffer := store.NewStage(derived, 0)
	if want, err := outline.WriteCommunities(f.Ctx, buffer, out, p); err != nil || want != kept {
		f.add(kept, FsckIndex, "communities that are not those of the edges of commit %s", s.Id)
	}
}

// sweepDigests returns, for a cell that may hold digests, the blocks to keep, nil if the cell must go. Damaged ones
// go, and are rebuilt when needed.
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

// digestBlocks returns the blocks of digests that are not yet known to stay.
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

// digests checks a graph's stored digests by the default recipe against its facts. It derives them from the digests
// of the previous state if those are stored; these are checked in turn.
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
		base, _ = outline.KeptDigests(f.Ctx, f.Repo, before, recipe) // damage is reported when its turn comes
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

// changedTexts checks the texts of digests that differ from before.
func (f *FsckRun) changedTexts(s *core.Snapshot, before *state.State) {
	for c, err := range prolly.Diff(f.Ctx, before.Digests, s.State.Digests) {
		if err != nil {
			f.fail(s.Id, FsckTree, err)
			return
		}
		if c.New == nil {
			continue
		}
		at, err := state.LinkItem(c.New)
		var w *distill.Written
		if err == nil {
			w, err = state.ReadText(f.Ctx, f.Repo.Facts(), c.New)
		}
		if errors.Is(err, store.ErrRedacted) {
			continue
		}
		if err == nil && !bytes.Equal(w.Source[:], c.Key) {
			err = fmt.Errorf("text of the source %s is kept under %x", w.Source, c.Key)
		}
		if err != nil {
			f.fail(at, FsckRecord, err)
		}
	}
}

// TextsOf decides which texts of digests are erased: those made from a node that goes, and those whose source is
// unknown because their graph cannot be read or its blocks are gone.
func (s *PurgeScan) TextsOf() error {
	remade := outline.NewRemadeDigests(s.P.Repo)
	graphs := make(map[ipld.CID]*outline.GoneFrom)
	for c, w := range s.Texts {
		goes := s.P.Held[c]
		if !goes && len(s.Nodes) > 0 {
			g := graphs[w.Graph]
			if g == nil {
				g = s.goneFrom(w.Graph)
				graphs[w.Graph] = g
			}
			var err error
			if goes, err = s.madeOf(w, g, remade); err != nil && !outline.Untold(err) {
				return err
			}
			goes = goes || err != nil
		}
		if goes {
			s.Erase[c] = Erasure{what: commit.ErasedDigest, name: distill.DigestID(w.Scope, w.Label)}
		}
	}
	return nil
}

func (s *PurgeScan) goneFrom(root ipld.CID) *outline.GoneFrom {
	g := new(outline.GoneFrom)
	if g.At, g.Err = s.P.Repo.LoadState(s.P.Ctx, state.Roots{Graph: root}); g.Err != nil {
		return g
	}
	for id := range s.Nodes {
		c, err := state.Lookup(s.P.Ctx, g.At.Nodes, id[:])
		if err == nil && c.Defined() {
			if _, goes := s.Erase[c]; goes {
				g.Ids = append(g.Ids, id)
			} else { // another version of the node stays
				_, err = s.P.Repo.Facts().Get(s.P.Ctx, c)
			}
		}
		if err != nil {
			g.Err = err
			return g
		}
	}
	return g
}

// madeOf reports whether a text was made from a node that goes, or does not belong to the graph that it names. An
// error for which untold holds means that this cannot be determined.
func (s *PurgeScan) madeOf(w *distill.Written, g *outline.GoneFrom, remade *outline.RemadeDigests) (bool, error) {
	if g.Err != nil {
		return false, g.Err
	}
	for _, id := range g.Ids {
		holds, err := distill.Holds(s.P.Ctx, outline.NewDigestReader(s.P.Repo, g.At, w.Recipe), id, w.Scope, w.Label)
		if holds || err != nil {
			return holds, err
		}
	}
	is, err := remade.Matches(s.P.Ctx, g.At, w)
	return !is, err
}
