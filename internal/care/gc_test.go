package care_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/merging"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// count returns the numbers of facts and derived blocks.
func count(t testing.TB, st store.Store) (facts, derived int) {
	t.Helper()
	for n, blocks := range map[*int]store.Blocks{&facts: st.Facts(), &derived: st.Derived()} {
		must.OK(t, blocks.Iterate(t.Context(), ipld.CID{}, func(store.Block) error { *n++; return nil }))
	}
	return facts, derived
}

// waitForCleanups gives the goroutine that runs cleanups a moment.
func waitForCleanups() { time.Sleep(20 * time.Millisecond) }

// TestGCHorizon continues after the log was truncated, repeatedly.
func TestGCHorizon(t *testing.T) {
	r, _ := repokit.OverMem(t)
	for round := range 12 {
		for n := range 11 {
			repokit.Lines(t, r, repokit.Person(round*100+n))
		}
		res := repokit.Gc(t, r, 5)
		n, last := 0, uint64(0)
		for rec, err := range r.OpLog().All(t.Context()) {
			must.OK(t, err)
			n, last = n+1, rec.Operation.Seq
		}
		if last != res.Horizon || n != 6 { // the fifth newest, and the operation of the collection
			t.Fatalf("%d operations down to %d, horizon %d", n, last, res.Horizon)
		}
		for seq := range last + 6 {
			_, err := r.OpLog().Find(t.Context(), fmt.Sprint(seq))
			if kept := seq >= last; kept != (err == nil) || !kept && !errors.Is(err, store.ErrNotFound) {
				t.Errorf("operation %d, horizon %d: %v", seq, last, err)
			}
		}
		repokit.CheckClean(t, r)
		_, err := history.RestoreOperation(t.Context(), r, fmt.Sprint(last), repokit.By)
		must.True(t, err == nil, "restore the oldest operation: %v", err)
		for {
			_, err := history.Undo(t.Context(), r, "", repokit.By)
			if errors.Is(err, history.ErrNothingToUndo) {
				break
			}
			must.OK(t, err)
		}
		must.Fail(t, must.Err(r.Revisions().Resolve(t.Context(), "HEAD@{1990-01-01}")), store.ErrNotFound)
	}
}

func TestGCGrace(t *testing.T) {
	r, _ := repokit.OverMem(t)
	const minute = graph.Time(60_000_000)
	at := repokit.By
	for n := range 10 {
		at.Time += minute
		must.Get(r.Commit(t.Context(), state.ReadChanges(strings.NewReader(repokit.Person(n)), "x"),
			core.CommitOptions{Stamp: at}))(t)
	}
	for _, tt := range []struct {
		keep  int
		grace time.Duration
		want  uint64 // horizon, of 11 operations
	}{
		{1, 0, 11}, {3, 0, 9}, {3, 5 * time.Minute, 5}, {8, 5 * time.Minute, 4}, {0, 0, 1},
		{1, time.Hour, 1},
	} {
		res := must.Get(care.GC(t.Context(), r, care.GCOptions{
			Stamp: at, KeepOps: tt.keep, Grace: tt.grace, DryRun: true,
		}))(t, "keep ", tt.keep, ", grace ", tt.grace, ": horizon")
		must.Equal(t, res.Horizon, tt.want, "keep ", tt.keep, ", grace ", tt.grace, ": horizon")
	}
	for _, opt := range []care.GCOptions{{KeepOps: -1}, {Grace: -1}} {
		must.Fail(t, must.Err(care.GC(t.Context(), r, opt)), state.ErrInvalid, opt)
	}
}

// TestGCKeeps leaves everything alone that something still leads to.
func TestGCKeeps(t *testing.T) {
	ctx := t.Context()
	r, st := repokit.OverMem(t)
	repokit.Lines(t, r, repokit.Person(1))
	// A session with a pinned commit of a removed branch, a stage, a pending merge.
	repokit.Branch(t, r, "old", "HEAD")
	pinned := repokit.CommitOn(t, r, "old", repokit.Person(2))
	must.Get(session.StartSession(ctx, r, "s", session.SessionOptions{Stamp: repokit.By, At: "old"}))(t)
	_, receipt, err := session.RetrieveIn(ctx, r, "s", retrieve.Request{Text: "person 2"}, repokit.By)
	must.OK(t, err)
	repokit.DropBranch(t, r, "old")
	repokit.Branch(t, r, "theirs", "HEAD")
	repokit.Lines(t, r, `{"node":{"key":"p1","summary":"ours"}}`)
	repokit.CommitOn(t, r, "theirs", `{"node":{"key":"p1","summary":"theirs"}}`)
	merge := core.MergeOptions{CommitOptions: core.CommitOptions{Stamp: repokit.By}}
	res, err := merging.Merge(ctx, r, "theirs", merge)
	must.True(t, err != nil || len(res.Conflicts) != 0, "merge: %+v, %v; want one that waits", res, err)
	repokit.DropBranch(t, r, "theirs")
	must.Get(r.Stages().Add(ctx, state.ReadChanges(strings.NewReader(repokit.Person(9)), "x"),
		core.StageOptions{Stamp: repokit.By, Stage: "later"}))(t)
	// A lease on a block that no ref leads to.
	repokit.Branch(t, r, "leased", "HEAD")
	leased := repokit.CommitOn(t, r, "leased", repokit.Person(3)).Commit
	repokit.DropBranch(t, r, "leased")
	release := must.Get(r.Lease(ctx, leased))(t)
	repokit.Gc(t, r, 1)
	repokit.CheckClean(t, r)
	if res, err := session.Replay(ctx, r, "s"); err != nil || !res.Identical {
		t.Errorf("replay after a collection: %+v, %v", res, err)
	}
	_, _, err = session.Receipt(ctx, r, receipt)
	must.True(t, err == nil, "%v", err)
	must.Equal(t, repokit.Sizes(must.Get(r.At(ctx, pinned.Commit))(t))[0], 2, "the pinned commit")
	s := must.Get(r.At(ctx, leased))(t, "the leased commit")
	must.Equal(t, repokit.Sizes(s)[0], 2, "the leased commit")
	release()
	release()
	repokit.Gc(t, r, 1) // the snapshot is a lease of its own
	must.OK(t, nodesOf(s, 2), "a snapshot in use")
	runtime.KeepAlive(s)
	s = nil
	runtime.GC()
	runtime.GC()
	waitForCleanups()
	repokit.Gc(t, r, 1)
	has, err := st.Facts().Has(ctx, leased)
	must.True(t, err == nil && !has, "a released commit is still there: %v", err)
	must.Fail(t, must.Err(r.Lease(ctx, leased)), store.ErrNotFound)
}

func nodesOf(s *core.Snapshot, want int) error {
	n := 0
	for _, err := range s.Nodes(context.Background(), graph.ID{}) {
		if err != nil {
			return err
		}
		n++
	}
	if n != want {
		return fmt.Errorf("%d nodes, want %d", n, want)
	}
	return nil
}

// TestGCRefusesDamage keeps everything that a damaged block may lead to.
func TestGCRefusesDamage(t *testing.T) {
	st := mem.New()
	r := repokit.OverStore(t, st)
	c := repokit.Lines(t, r, repokit.Person(1))
	garbage := store.NewBlock(ipld.Raw, []byte("garbage"))
	must.OK(t, errors.Join(st.Facts().Put(t.Context(), garbage),
		st.Facts().(store.Deleter).Delete(t.Context(), c.Graph)))
	must.Fail(t, must.Err(care.GC(t.Context(), r, care.GCOptions{Stamp: repokit.By})), store.ErrCorrupt)
	has, err := st.Facts().Has(t.Context(), garbage.CID)
	must.True(t, has && err == nil, "it removed something")
}

// TestGCWithWriters collects continuously while others write blocks that were garbage a moment ago, and read.
func TestGCWithWriters(t *testing.T) {
	r, _ := repokit.OverMem(t)
	ctx := t.Context()
	repokit.Lines(t, r, repokit.Person(0))
	const writers, rounds = 3, 40
	var wg sync.WaitGroup
	var done atomic.Bool
	commit := func(text string) {
		_, err := r.Commit(ctx, state.ReadChanges(strings.NewReader(text), "x"),
			core.CommitOptions{Stamp: repokit.By})
		must.True(t, err == nil, "commit: %v", err)
	}
	for w := range writers {
		wg.Go(func() {
			for n := range rounds {
				commit(repokit.Person(1000*w + n + 1))
				// The same record again and again: garbage one moment, in use the next.
				commit(fmt.Sprintf(`{"node":{"key":"flip%d","type":"T","created":"2024-01-01"}}`, w))
				commit(fmt.Sprintf(`{"remove":{"node":"flip%d"}}`, w))
			}
		})
	}
	wg.Go(func() {
		for !done.Load() {
			s, err := r.Snapshot(ctx, "HEAD")
			if err == nil {
				_, err = rank.Retrieve(ctx, s, retrieve.Request{Text: "person lives"})
			}
			if err != nil {
				t.Errorf("retrieve: %v", err)
				return
			}
		}
	})
	collections := 0
	wg.Go(func() {
		for ; !done.Load(); collections++ {
			if _, err := care.GC(ctx, r, care.GCOptions{Stamp: repokit.By, KeepOps: 2}); err != nil {
				t.Errorf("gc: %v", err)
				return
			}
		}
	})
	wg.Go(func() {
		for !done.Load() {
			report, err := care.Fsck(ctx, r, care.FsckOptions{})
			if err != nil || len(report.Errors) > 0 {
				t.Errorf("fsck: %v %v", err, report.Errors)
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	})
	finished := make(chan struct{})
	go func() { wg.Wait(); close(finished) }()
	for i := 0; ; i++ {
		if n, _, _, _ := repokit.Head(t, r).Sizes(); n >= writers*rounds+1 || i > 3000 || t.Failed() {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	done.Store(true)
	<-finished
	s := repokit.Head(t, r)
	for w := range writers {
		for n := range rounds {
			repokit.NodeByKey(t, s, fmt.Sprintf("p%d", 1000*w+n+1))
		}
	}
}

func TestGCDue(t *testing.T) {
	r, _ := repokit.OverMem(t)
	due := func(keep int) bool {
		t.Helper()
		return must.Get(care.GCDue(t.Context(), r, care.GCOptions{KeepOps: keep}))(t)
	}
	for n := range 8 { // 9 operations
		repokit.Lines(t, r, repokit.Person(n))
	}
	must.True(t, due(4) && !due(5) && !due(0), "due for 4, 5 and all operations: %v, %v, %v", due(4), due(5), due(0))
	repokit.Gc(t, r, 4)
	must.True(t, !due(4), "due after a collection")
}

// TestFsckHorizon finds an operation behind the horizon missing that later ones need.
func TestFsckHorizon(t *testing.T) {
	st := mem.New()
	r := repokit.OverStore(t, st)
	for n := range 20 {
		repokit.Lines(t, r, repokit.Person(n))
	}
	kept := must.Get(r.OpLog().Find(t.Context(), "16"))(t)
	repokit.Gc(t, r, 3) // of 21: the horizon is 19, behind which 18 and 16 are kept
	repokit.CheckClean(t, r)
	must.OK(t, st.Facts().(store.Deleter).Delete(t.Context(), kept.CID))
	report, err := care.Fsck(t.Context(), r, care.FsckOptions{})
	must.True(t, err == nil && len(report.Errors) == 1 && report.Errors[0].CID == kept.CID,
		"fsck: %v, %v", report.Errors, err)
}

// TestRetrieveDuringPurge retrieves while indexes are dropped.
func TestRetrieveDuringPurge(t *testing.T) {
	r, _ := repokit.OverMem(t)
	for n := range 30 {
		repokit.Lines(t, r, repokit.Person(n))
	}
	s := repokit.Head(t, r)
	var done atomic.Bool
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for !done.Load() {
				_, err := rank.Retrieve(context.Background(), s, retrieve.Request{Text: "person lives"})
				if err != nil {
					t.Errorf("retrieve: %v", err)
					return
				}
			}
		})
	}
	for n := range 15 {
		must.Get(care.Purge(t.Context(), r, fmt.Sprintf("p%d", n), care.PurgeOptions{Stamp: repokit.By}))(t, "purge")
	}
	done.Store(true)
	wg.Wait()
}

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
			res := must.Get(care.GC(t.Context(), r, care.GCOptions{Stamp: repokit.By, KeepOps: keep, DryRun: true}))(t)
			stored = int64(res.Kept + res.Blocks)
			must.Equal(t, res.Blocks > 0, keep > 0, "keeping ", keep, " operations: ", res)
		})
		t.Logf("keeping %d operations: %v, %d one by one, of %d blocks", keep, w, w.Facts.Gets, stored)
		must.True(t, w.Facts.Gets <= 2*commits+20 && w.Facts.BlocksRead <= stored+4*commits,
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
		must.True(t, after == before, "%d blocks, want %d", after, before)
	}
	res, err := care.GC(t.Context(), r, care.GCOptions{Stamp: repokit.By, Grace: time.Hour})
	must.True(t, err == nil && res.Blocks == 0 && res.Kept >= before, "%+v, %v", res, err)
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
			res := must.Get(care.Purge(t.Context(), r, key, care.PurgeOptions{Stamp: repokit.By, DryRun: true}))(t)
			must.True(t, len(res.Erased) != 0, "purge of %s would erase nothing", key)
		})
		if most := passes*int64(stored) + 100; w.Facts.BlocksRead > most || w.Facts.BlocksRead < most-200 {
			t.Errorf("purge of %s reads %+v, want about %d passes over %d", key, w.Facts, passes, stored)
		}
	}
}

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
	known, err := found.ReadAll()
	must.Require(t, err == nil && known, "keeping %d: it does not know: %v", keep, err)
	must.OK(t, want.Mark())
	must.OK(t, want.List())
	for _, list := range [][2][]ipld.CID{{found.Roots, want.Roots}, {found.Rest, want.Rest}} {
		slices.SortFunc(list[0], ipld.CID.Compare)
		slices.SortFunc(list[1], ipld.CID.Compare)
		must.Same(t, list[0], list[1], "keeping ", keep)
		went += len(list[1])
	}
	must.True(t, *found.Res == *want.Res && found.KeptBytes == want.KeptBytes &&
		found.Marks.Texts.Len() == want.Marks.Texts.Len(), "keeping %d: %+v, want %+v", keep, *found.Res, *want.Res)
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
	must.True(t, went >= 2000, "%d blocks went in all: too few to tell", went)
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
			must.Get(r.Branches().Remove(t.Context(), b.Name, core.RefOptions{Stamp: repokit.RecordBy, Force: true}))(t)
		}
	}
	must.Equal(t, tree().Root(), first, "the view")
	whatFalls(t, r, 1)
}

// roomStore counts how often room was given back.
type roomStore struct {
	*mem.Store
	reclaimed int
}

func (s *roomStore) Reclaim(context.Context) error {
	s.reclaimed++
	return nil
}

// TestGCGivesBackRoom: the store is rewritten only if much was removed.
func TestGCGivesBackRoom(t *testing.T) {
	st := &roomStore{Store: mem.New()}
	r := repokit.OverStore(t, st)
	for n := range 3 {
		repokit.Lines(t, r, repokit.Person(n))
	}
	dry, err := care.GC(t.Context(), r, care.GCOptions{Stamp: repokit.By, KeepOps: 1, DryRun: true})
	must.OK(t, err, "a dry run: ", dry, ", rewritten")
	must.Equal(t, st.reclaimed, 0, "a dry run: ", dry, ", rewritten")
	var text string
	for n := range 500 {
		text += repokit.Person(100+n) + "\n"
	}
	repokit.Branch(t, r, "side", "HEAD")
	repokit.CommitOn(t, r, "side", text)
	repokit.DropBranch(t, r, "side")
	waitForCleanups()
	res := repokit.Gc(t, r, 1)
	must.True(t, res.Blocks >= 500 && st.reclaimed == 1, "%+v, rewritten %d times", res, st.reclaimed)
	repokit.Lines(t, r, text)
	repokit.Lines(t, r, repokit.Person(3)) // which leaves an operation and a few tree chunks behind
	res = repokit.Gc(t, r, 1)
	must.True(t, res.Blocks != 0 && st.reclaimed == 1, "little removed: %+v, rewritten %d times", res, st.reclaimed)
}

// lateStore does something else between giving a reader its head and letting it read.
type lateStore struct {
	*mem.Store
	meanwhile func()
}

func (s *lateStore) Head(ctx context.Context) (store.Head, error) {
	head, err := s.Store.Head(ctx)
	if do := s.meanwhile; do != nil {
		s.meanwhile = nil
		do()
	}
	return head, err
}

// TestGCOfWhatIsBeingRead: a reader overtaken by commits and a collection of all older operations reads the newest.
// Damage remains an error.
func TestGCOfWhatIsBeingRead(t *testing.T) {
	st := &lateStore{Store: mem.New()}
	r := repokit.OverStore(t, st)
	repokit.Lines(t, r, repokit.Person(0))
	var newest ipld.CID
	overtake := func() {
		for n := range 3 {
			newest = repokit.Lines(t, r, repokit.Person(n+1)).Commit
		}
		repokit.Gc(t, r, 1)
	}
	st.meanwhile = overtake
	must.Equal(t, repokit.Head(t, r).CID(), newest, "read")
	st.meanwhile = overtake
	must.Get(r.Refs(t.Context()))(t)
	now, err := st.Head(t.Context())
	if err == nil {
		err = st.Facts().(store.Deleter).Delete(t.Context(), now.Operation)
	}
	must.OK(t, err)
	must.Fail(t, must.Err(r.Snapshot(t.Context(), "HEAD")), store.ErrCorrupt)
}

// dropping drops all indexes once its cells were listed, like a concurrent repair.
type dropping struct {
	care.DerivedDeleter
	drop func() error
}

func (d *dropping) Cells(ctx context.Context, fn func(key, value ipld.CID) error) error {
	var cells [][2]ipld.CID
	err := d.DerivedDeleter.Cells(ctx, func(key, value ipld.CID) error {
		cells = append(cells, [2]ipld.CID{key, value})
		return nil
	})
	if drop := d.drop; err == nil && drop != nil {
		d.drop = nil
		err = drop()
	}
	for _, c := range cells {
		if err == nil {
			err = fn(c[0], c[1])
		}
	}
	return err
}

// TestCollectionMeetsRepair has a repair drop the indexes that a collection walks ahead of the locks.
func TestCollectionMeetsRepair(t *testing.T) {
	ctx := t.Context()
	by := state.Stamp{Author: "Tess Tester", Command: []string{"commit"}}
	r := must.Get(care.New(ctx, mem.New(), by, core.Options{}))(t)
	defer func() { _ = r.Close() }() // in memory
	for i := range 3 {
		changes := func(yield func(graph.Change, error) bool) {
			yield(graph.Change{Node: &graph.NodeChange{
				Key: fmt.Sprint("n", i), Type: "N", Summary: new("some words"),
			}}, nil)
		}
		must.Get(r.Commit(ctx, changes, core.CommitOptions{Stamp: by}))(t)
		must.Get(r.Indexes().Rebuild(ctx, string(graph.Head)))(t)
	}
	dropped := 0
	g := &care.Collector{Ctx: ctx, Repo: r, Res: &core.GCResult{}, Opt: care.GCOptions{
		Stamp: by, KeepOps: care.DefaultKeepOps, Progress: func(string, int) {},
	}}
	g.Derived = &dropping{r.Store.Derived().(care.DerivedDeleter), func() error { dropped++; return care.DropIndexes(ctx, r) }}
	g.Marks = care.NewMarker(ctx, r, g.Opt.Progress)
	must.OK(t, g.Mark())
	must.OK(t, g.SweepDerived(), "dropped")
	must.Equal(t, dropped, 1, "dropped")
	must.Get(r.Indexes().Rebuild(ctx, string(graph.Head)))(t)
}
