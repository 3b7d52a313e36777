package care

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/distill"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/store"
)

// changedTexts checks the texts of digests that differ from those before.
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

// TextsOf decides which texts of digests are erased: those made of a node that goes, and those of which nobody can
// tell what they were made of, since their graph cannot be read or has lost the blocks that say so.
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
			} else { // another version of it, that stays
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

// madeOf reports whether a text was made of a node that goes, or is no text of the graph that it names. An error for
// which untold holds means that nobody can tell.
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
