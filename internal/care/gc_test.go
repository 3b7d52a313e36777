package care_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnem-project/mnem/graph"
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

// TestGC removes a branch and lets go of the operations that remember it.
func TestGC(t *testing.T) {
	r, st := repokit.OverMem(t)
	for n := range 40 {
		repokit.Lines(t, r, repokit.Person(n))
	}
	repokit.Branch(t, r, "side", "HEAD")
	side := repokit.CommitOn(t, r, "side", repokit.Person(100)+"\n"+repokit.Person(101))
	long := strings.Repeat("a long story ", 5000)
	repokit.CommitOn(t, r, "side", fmt.Sprintf(`{"node":{"key":"c","type":"Text","content":%q}}`, long))
	must.Get(rank.Retrieve(t.Context(), repokit.Head(t, r), retrieve.Request{Text: "person"}))(t)
	repokit.DropBranch(t, r, "side")
	before, derived := count(t, st)
	if res := repokit.Gc(t, r, 10); res.Blocks != 0 && res.Kept == 0 {
		t.Errorf("with the operations kept: %+v", res)
	}
	must.Get(r.At(t.Context(), side.Commit))(t, "a commit that a kept operation leads to")
	runtime.GC() // the snapshot above is not in use any more
	runtime.GC()
	waitForCleanups()
	dry := must.Get(care.GC(t.Context(), r, care.GCOptions{Stamp: repokit.By, KeepOps: 1, DryRun: true}))(t)
	res := repokit.Gc(t, r, 1)
	must.Check(t, res.Blocks >= 10 && res.Bytes >= int64(len(long)) && dry.Blocks != 0,
		"removed %+v, the dry run %+v", res, dry)
	after, derivedAfter := count(t, st)
	must.Check(t, after < before && derivedAfter <= derived,
		"%d blocks after %d, derived %d after %d", after, before, derivedAfter, derived)
	_, err := r.At(t.Context(), side.Commit)
	must.Fail(t, err, store.ErrCorrupt)
	_, err = r.Revisions().Resolve(t.Context(), side.Commit.String())
	must.Fail(t, err, store.ErrNotFound)
	if n, _, _, _ := repokit.Head(t, r).Sizes(); n != 40 {
		t.Errorf("%d nodes in the head", n)
	}
	for n := range 40 {
		must.Get(r.Snapshot(t.Context(), fmt.Sprintf("HEAD~%d", n)))(t)
	}
	if again := repokit.Gc(t, r, 1); again.Blocks > 3 { // the operation that moved the horizon, and its view
		t.Errorf("a second collection removed %+v", again)
	}
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
		if _, err := history.RestoreOperation(t.Context(), r, fmt.Sprint(last), repokit.By); err != nil {
			t.Errorf("restore the oldest operation: %v", err)
		}
		for {
			_, err := history.Undo(t.Context(), r, "", repokit.By)
			if errors.Is(err, history.ErrNothingToUndo) {
				break
			}
			must.OK(t, err)
		}
		_, err := r.Revisions().Resolve(t.Context(), "HEAD@{1990-01-01}")
		must.Fail(t, err, store.ErrNotFound)
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
		_, err := care.GC(t.Context(), r, opt)
		must.Fail(t, err, state.ErrInvalid, opt)
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
	if res, err := merging.Merge(ctx, r, "theirs", merge); err == nil && len(res.Conflicts) == 0 {
		t.Errorf("merge: %+v, %v; want one that waits", res, err)
	}
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
	if _, _, err := session.Receipt(ctx, r, receipt); err != nil {
		t.Error(err)
	}
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
	if has, err := st.Facts().Has(ctx, leased); err != nil || has {
		t.Errorf("a released commit is still there: %v", err)
	}
	_, err = r.Lease(ctx, leased)
	must.Fail(t, err, store.ErrNotFound)
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

// TestGCRemovesWhatACrashLeft removes blocks that never belonged to an operation.
func TestGCRemovesWhatACrashLeft(t *testing.T) {
	r, st := repokit.OverMem(t)
	repokit.Lines(t, r, repokit.Person(1))
	var size int64
	for n := range 5000 {
		b := store.NewBlock(ipld.Raw, fmt.Appendf(nil, "left by a crash %d", n))
		size += int64(len(b.Data))
		must.OK(t, st.Facts().Put(t.Context(), b))
	}
	must.OK(t, st.Derived().Put(t.Context(), store.NewBlock(ipld.Raw, []byte("derived"))))
	if res := repokit.Gc(t, r, 0); res.Blocks != 5001 || res.Bytes != size+7 {
		t.Errorf("removed %+v, want 5001 blocks of %d bytes", res, size+7)
	}
}

// TestGCRefusesDamage keeps everything that a damaged block may lead to.
func TestGCRefusesDamage(t *testing.T) {
	st := mem.New()
	r := repokit.OverStore(t, st)
	c := repokit.Lines(t, r, repokit.Person(1))
	garbage := store.NewBlock(ipld.Raw, []byte("garbage"))
	must.OK(t, errors.Join(st.Facts().Put(t.Context(), garbage),
		st.Facts().(store.Deleter).Delete(t.Context(), c.Graph)))
	_, err := care.GC(t.Context(), r, care.GCOptions{Stamp: repokit.By})
	must.Fail(t, err, store.ErrCorrupt)
	if has, err := st.Facts().Has(t.Context(), garbage.CID); !has || err != nil {
		t.Error("it removed something")
	}
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
		must.Check(t, err == nil, "commit: %v", err)
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
	t.Logf("%d collections", collections)
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
	if !due(4) || due(5) || due(0) {
		t.Errorf("due for 4, 5 and all operations: %v, %v, %v", due(4), due(5), due(0))
	}
	repokit.Gc(t, r, 4)
	must.Check(t, !due(4), "due after a collection")
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
	must.Check(t, err == nil && len(report.Errors) == 1 && report.Errors[0].CID == kept.CID,
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
		_, err := care.Purge(t.Context(), r, fmt.Sprintf("p%d", n), care.PurgeOptions{Stamp: repokit.By})
		must.OK(t, err, "purge")
	}
	done.Store(true)
	wg.Wait()
}
