package care_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

// commitsOf is a store of so many commits of two nodes and an edge each.
func commitsOf(t *testing.T, commits int) *mem.Store {
	t.Helper()
	st := mem.New()
	r := repokit.OverStore(t, st)
	for i := range commits {
		repokit.Lines(t, r, repokit.Person(i)+"\n"+repokit.Person(i+commits)+"\n"+
			fmt.Sprintf(`{"edge":{"type":"knows","src":"p%d","dst":"p%d"}}`, i, i/2))
	}
	return st
}

// TestWorkOfCollections bounds how much a collection reads, and how much of that by single reads: the log, and the
// index of each commit. All else is read once, in storage order.
func TestWorkOfCollections(t *testing.T) {
	const commits = 200
	st := commitsOf(t, commits)
	for _, keep := range []int{0, 1, commits} {
		var stored int64
		w := repokit.Measure(t, st, func(r *core.Repo) {
			res, err := care.GC(t.Context(), r, care.GCOptions{Stamp: repokit.By, KeepOps: keep, DryRun: true})
			must.OK(t, err)
			stored = int64(res.Kept + res.Blocks)
			must.Equal(t, res.Blocks > 0, keep > 0, "keeping ", keep, " operations: ", res)
		})
		t.Logf("keeping %d operations: %v, %d one by one, of %d blocks", keep, w, w.Facts.Gets, stored)
		must.Check(t, w.Facts.Gets <= 2*commits+20 && w.Facts.BlocksRead <= stored+4*commits,
			"keeping %d operations of %d reads %+v", keep, commits, w.Facts)
	}
}

// TestGCFindsStrays removes blocks that no operation leads to while no operation falls behind the horizon: isolated
// ones, ones leading to others of their kind or to blocks that stay, and ones linked from garbage.
func TestGCFindsStrays(t *testing.T) {
	r, st := repokit.OverMem(t)
	c := repokit.Lines(t, r, repokit.Person(1)+"\n"+repokit.Person(2))
	must.Equal(t, repokit.Gc(t, r, 0).Blocks, 0, "collected")
	before, _ := count(t, st)
	leaf := store.NewBlock(ipld.Raw, []byte("leaf"))
	record := func(links ...ipld.CID) store.Block {
		list := []ipld.Value{}
		for _, l := range links {
			list = append(list, ipld.LinkValue(l))
		}
		return store.NewBlock(ipld.DagCBOR, ipld.AppendValue(nil, ipld.ListValue(list...)))
	}
	inner := record(leaf.CID, c.Commit)
	missing := store.NewBlock(ipld.Raw, []byte("not stored"))
	for _, strays := range [][]store.Block{
		{leaf}, {leaf, inner}, {leaf, inner, record(inner.CID, inner.CID, c.Graph)},
		{record(missing.CID)}, // as many are missing as are not led to
	} {
		must.OK(t, st.Facts().Put(t.Context(), strays...))
		must.Equal(t, repokit.Gc(t, r, 0).Blocks, len(strays), "collected")
		after, _ := count(t, st)
		must.Check(t, after == before, "%d blocks, want %d", after, before)
	}
	res, err := care.GC(t.Context(), r, care.GCOptions{Stamp: repokit.By, Grace: time.Hour})
	must.Check(t, err == nil && res.Blocks == 0 && res.Kept >= before, "%+v, %v", res, err)
}

// TestWorkOfPurges bounds how often a purge reads all blocks: twice, and once more for a node with edges, to find
// what else leads to their other ends.
func TestWorkOfPurges(t *testing.T) {
	const commits = 100
	st := commitsOf(t, commits)
	stored, _ := count(t, st)
	for key, passes := range map[string]int64{
		fmt.Sprintf("p%d", commits+1): 2, // without edges
		"p1":                          3,
	} {
		w := repokit.Measure(t, st, func(r *core.Repo) {
			res, err := care.Purge(t.Context(), r, key, care.PurgeOptions{Stamp: repokit.By, DryRun: true})
			must.OK(t, err)
			must.Check(t, len(res.Erased) != 0, "purge of %s would erase nothing", key)
		})
		t.Logf("%s: %v of %d blocks", key, w, stored)
		if most := passes*int64(stored) + 100; w.Facts.BlocksRead > most || w.Facts.BlocksRead < most-200 {
			t.Errorf("purge of %s reads %+v, want about %d passes over %d", key, w.Facts, passes, stored)
		}
	}
}
