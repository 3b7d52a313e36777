package care_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

// worn makes a repository with a history that is mostly unused: nodes that change, go and come back, branches that
// are made and deleted, by a seed. It also returns an undone commit.
func worn(t *testing.T, seed uint64) (*core.Repo, ipld.CID) {
	t.Helper()
	r, err := care.New(t.Context(), mem.New(), repokit.RecordBy, core.Options{})
	must.OK(t, err)
	t.Cleanup(func() { _ = r.Close() })
	rnd := rand.New(rand.NewPCG(seed, 0))
	var branches []string
	var lost ipld.CID
	for i := range 60 {
		n := rnd.IntN(12)
		switch k := rnd.IntN(10); {
		case k < 5 || i < 2 || i == 3:
			line := fmt.Sprintf(`{"node":{"key":"n%d","type":"Note","summary":"text %d"}}`, n, rnd.IntN(3))
			var res *core.CommitResult
			res, err = r.Commit(t.Context(), state.ReadChanges(strings.NewReader(line), "x"), core.CommitOptions{Stamp: repokit.RecordBy})
			if i == 3 && err == nil {
				lost = res.Commit
				_, err = history.Undo(t.Context(), r, "", repokit.RecordBy)
			}
		case k < 8:
			name := fmt.Sprintf("b%d", i)
			branches = append(branches, name)
			_, err = r.Branches().Create(t.Context(), name, "main", core.RefOptions{Stamp: repokit.RecordBy})
		case k < 9 && len(branches) > 0:
			at := rnd.IntN(len(branches))
			_, err = r.Branches().Remove(t.Context(), branches[at], core.RefOptions{Stamp: repokit.RecordBy, Force: true})
			branches = slices.Delete(branches, at, at+1)
		default:
			_, err = history.Undo(t.Context(), r, "", repokit.RecordBy)
		}
		if gone := new(state.NotFoundError); errors.As(err, &gone) { // undone before
			err = nil
		}
		must.OK(t, err, "seed ", seed, ", step ", i)
	}
	return r, lost
}

// collecting is a collection that knows its horizon.
func collecting(t *testing.T, r *core.Repo, keep int) *care.Collector {
	t.Helper()
	g := &care.Collector{
		Ctx: t.Context(), Repo: r, Res: &core.GCResult{},
		Opt: care.GCOptions{Stamp: repokit.RecordBy, KeepOps: keep, DryRun: true, Progress: func(string, int) {}},
	}
	must.OK(t, g.MoveHorizon())
	g.Marks = care.NewMarker(t.Context(), r, g.Opt.Progress)
	return g
}

// whatFalls compares the garbage found by reading all blocks in order with what is unreachable by links, and
// returns its number of blocks.
func whatFalls(t *testing.T, r *core.Repo, keep int) (went int) {
	t.Helper()
	found, want := collecting(t, r, keep), collecting(t, r, keep)
	if known, err := found.ReadAll(); err != nil || !known {
		t.Fatalf("keeping %d: it does not know: %v", keep, err)
	}
	must.OK(t, want.Mark())
	must.OK(t, want.List())
	for _, list := range [][2][]ipld.CID{{found.Roots, want.Roots}, {found.Rest, want.Rest}} {
		slices.SortFunc(list[0], ipld.CID.Compare)
		slices.SortFunc(list[1], ipld.CID.Compare)
		must.Same(t, list[0], list[1], "keeping ", keep)
		went += len(list[1])
	}
	if *found.Res != *want.Res || found.KeptBytes != want.KeptBytes ||
		found.Marks.Texts.Len() != want.Marks.Texts.Len() {
		t.Errorf("keeping %d: %+v, want %+v", keep, *found.Res, *want.Res)
	}
	return went
}

// TestWhatFalls collects histories, with and without a lease on a commit that only garbage leads to.
func TestWhatFalls(t *testing.T) {
	went := 0
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r, lost := worn(t, seed)
			release := must.Get(r.Lease(t.Context(), lost))(t)
			for range 2 {
				for _, keep := range []int{1, 2, 7, 30, 50} {
					went += whatFalls(t, r, keep)
				}
				release()
			}
		})
	}
	must.Check(t, went >= 2000, "%d blocks went in all: too few to tell", went)
}

// TestViewThatWasAPart collects while the view that stays was a chunk of, and is linked from, views that fall.
func TestViewThatWasAPart(t *testing.T) {
	r, _ := worn(t, 1)
	for i := range 90 {
		_, err := r.Branches().Create(t.Context(), fmt.Sprintf("a%02d", i), "main", core.RefOptions{Stamp: repokit.RecordBy})
		must.OK(t, err)
	}
	must.OK(t, r.Branches().Switch(t.Context(), "a00", core.SwitchOptions{Stamp: repokit.RecordBy}))
	var first ipld.CID
	stay := make(map[string]bool)
	tree := func() *prolly.Map {
		v := must.Get(r.Current(t.Context()))(t)
		return v.Tree
	}
	must.OK(t, tree().Walk(t.Context(), func(c ipld.CID, level int) (bool, error) {
		if level > 0 || first.Defined() {
			return true, nil
		}
		first = c
		block, err := r.Store.Facts().Get(t.Context(), c)
		if err != nil {
			return false, err
		}
		entries, err := prolly.Leaf(block)
		for _, e := range entries {
			stay[string(e.Key)] = true
		}
		return true, err
	}))
	branches := must.Get(r.Branches().List(t.Context()))(t)
	for _, b := range branches {
		if !stay["refs/heads/"+b.Name] {
			_, err := r.Branches().Remove(t.Context(), b.Name, core.RefOptions{Stamp: repokit.RecordBy, Force: true})
			must.OK(t, err)
		}
	}
	must.Equal(t, tree().Root(), first, "the view")
	whatFalls(t, r, 1)
}
