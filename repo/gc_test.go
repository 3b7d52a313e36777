package repo_test

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
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
	"github.com/mnem-project/mnem/store/mem"
)

// overMem returns a repository in memory and its store.
func overMem(t testing.TB) (*repo.Repo, *mem.Store) {
	t.Helper()
	st := mem.New()
	r, err := repo.New(t.Context(), st, by, repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		checkClean(t, r)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r, st
}

func gc(t testing.TB, r *repo.Repo, keep int) *repo.GCResult {
	t.Helper()
	res, err := r.GC(context.Background(), repo.GCOptions{Stamp: by, KeepOps: keep})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// count returns the numbers of facts and derived blocks.
func count(t testing.TB, st store.Store) (facts, derived int) {
	t.Helper()
	for n, blocks := range map[*int]store.Blocks{&facts: st.Facts(), &derived: st.Derived()} {
		err := blocks.Iterate(t.Context(), ipld.CID{}, func(store.Block) error { *n++; return nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	return facts, derived
}

func person(n int) string {
	return fmt.Sprintf(`{"node":{"key":"p%d","type":"Person","summary":"person %d lives"}}`, n, n)
}

func branch(t testing.TB, r *repo.Repo, name, at string) {
	t.Helper()
	_, err := r.CreateBranch(t.Context(), name, at, repo.RefOptions{Stamp: by})
	if err != nil {
		t.Fatal(err)
	}
}

func commitOn(t testing.TB, r *repo.Repo, branch, text string) *repo.CommitResult {
	t.Helper()
	res, err := r.Commit(t.Context(), repo.ReadChanges(strings.NewReader(text), "x"),
		repo.CommitOptions{Stamp: by, Branch: branch})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func dropBranch(t testing.TB, r *repo.Repo, name string) {
	t.Helper()
	opt := repo.RefOptions{Stamp: by, Force: true}
	if _, err := r.RemoveBranch(t.Context(), name, opt); err != nil {
		t.Fatal(err)
	}
}

// TestGC removes a branch and lets go of the operations that remember it.
func TestGC(t *testing.T) {
	r, st := overMem(t)
	for n := range 40 {
		lines(t, r, person(n))
	}
	branch(t, r, "side", "HEAD")
	side := commitOn(t, r, "side", person(100)+"\n"+person(101))
	long := strings.Repeat("a long story ", 5000)
	commitOn(t, r, "side", fmt.Sprintf(`{"node":{"key":"c","type":"Text","content":%q}}`, long))
	if _, err := head(t, r).Retrieve(t.Context(), retrieve.Request{Text: "person"}); err != nil {
		t.Fatal(err)
	}
	dropBranch(t, r, "side")
	before, derived := count(t, st)
	if res := gc(t, r, 10); res.Blocks != 0 && res.Kept == 0 {
		t.Errorf("with the operations kept: %+v", res)
	}
	if _, err := r.At(t.Context(), side.Commit); err != nil {
		t.Errorf("a commit that a kept operation leads to: %v", err)
	}
	runtime.GC() // the snapshot above is not in use any more
	runtime.GC()
	waitForCleanups()
	dry, err := r.GC(t.Context(), repo.GCOptions{Stamp: by, KeepOps: 1, DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	res := gc(t, r, 1)
	if res.Blocks < 10 || res.Bytes < int64(len(long)) || dry.Blocks == 0 {
		t.Errorf("removed %+v, the dry run %+v", res, dry)
	}
	after, derivedAfter := count(t, st)
	if after >= before || derivedAfter > derived {
		t.Errorf("%d blocks after %d, derived %d after %d", after, before, derivedAfter, derived)
	}
	if _, err := r.At(t.Context(), side.Commit); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("a collected commit: %v", err)
	}
	if _, err := r.Resolve(t.Context(), side.Commit.String()); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a collected commit by name: %v", err)
	}
	if n, _, _, _ := head(t, r).Sizes(); n != 40 {
		t.Errorf("%d nodes in the head", n)
	}
	for n := range 40 {
		if _, err := r.Snapshot(t.Context(), fmt.Sprintf("HEAD~%d", n)); err != nil {
			t.Fatal(err)
		}
	}
	if again := gc(t, r, 1); again.Blocks > 3 { // the operation that moved the horizon, and its view
		t.Errorf("a second collection removed %+v", again)
	}
}

// waitForCleanups gives the goroutine that runs cleanups a moment.
func waitForCleanups() { time.Sleep(20 * time.Millisecond) }

// TestGCHorizon goes on after the log was cut short, again and again.
func TestGCHorizon(t *testing.T) {
	r, _ := overMem(t)
	for round := range 12 {
		for n := range 11 {
			lines(t, r, person(round*100+n))
		}
		res := gc(t, r, 5)
		n, last := 0, uint64(0)
		for rec, err := range r.Operations(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			n, last = n+1, rec.Operation.Seq
		}
		if last != res.Horizon || n != 6 { // the fifth newest, and the operation of the collection
			t.Fatalf("%d operations down to %d, horizon %d", n, last, res.Horizon)
		}
		for seq := range last + 6 {
			_, err := r.Operation(t.Context(), fmt.Sprint(seq))
			if kept := seq >= last; kept != (err == nil) || !kept && !errors.Is(err, store.ErrNotFound) {
				t.Errorf("operation %d, horizon %d: %v", seq, last, err)
			}
		}
		checkClean(t, r)
		if _, err := r.RestoreOperation(t.Context(), fmt.Sprint(last), by); err != nil {
			t.Errorf("restore the oldest operation: %v", err)
		}
		for {
			_, err := r.Undo(t.Context(), "", by)
			if errors.Is(err, repo.ErrNothingToUndo) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := r.Resolve(t.Context(), "HEAD@{1990-01-01}"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a time before the horizon: %v", err)
		}
	}
}

func TestGCGrace(t *testing.T) {
	r, _ := overMem(t)
	const minute = graph.Time(60_000_000)
	at := by
	for n := range 10 {
		at.Time += minute
		_, err := r.Commit(t.Context(), repo.ReadChanges(strings.NewReader(person(n)), "x"),
			repo.CommitOptions{Stamp: at})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		keep  int
		grace time.Duration
		want  uint64 // horizon, of 11 operations
	}{
		{1, 0, 11}, {3, 0, 9}, {3, 5 * time.Minute, 5}, {8, 5 * time.Minute, 4}, {0, 0, 1},
		{1, time.Hour, 1},
	} {
		res, err := r.GC(t.Context(), repo.GCOptions{
			Stamp: at, KeepOps: tt.keep, Grace: tt.grace, DryRun: true,
		})
		if err != nil || res.Horizon != tt.want {
			t.Errorf("keep %d, grace %s: horizon %d, %v, want %d", tt.keep, tt.grace, res.Horizon, err,
				tt.want)
		}
	}
	for _, opt := range []repo.GCOptions{{KeepOps: -1}, {Grace: -1}} {
		if _, err := r.GC(t.Context(), opt); !errors.Is(err, repo.ErrInvalid) {
			t.Errorf("%+v: %v", opt, err)
		}
	}
}

// TestGCKeeps leaves everything alone that something still leads to.
func TestGCKeeps(t *testing.T) {
	ctx := t.Context()
	r, st := overMem(t)
	lines(t, r, person(1))
	// A session with a pinned commit of a branch that goes, a stage, a merge that waits.
	branch(t, r, "old", "HEAD")
	pinned := commitOn(t, r, "old", person(2))
	if _, err := r.StartSession(ctx, "s", repo.SessionOptions{Stamp: by, At: "old"}); err != nil {
		t.Fatal(err)
	}
	_, receipt, err := r.RetrieveIn(ctx, "s", retrieve.Request{Text: "person 2"}, by)
	if err != nil {
		t.Fatal(err)
	}
	dropBranch(t, r, "old")
	branch(t, r, "theirs", "HEAD")
	lines(t, r, `{"node":{"key":"p1","summary":"ours"}}`)
	commitOn(t, r, "theirs", `{"node":{"key":"p1","summary":"theirs"}}`)
	merge := repo.MergeOptions{CommitOptions: repo.CommitOptions{Stamp: by}}
	if res, err := r.Merge(ctx, "theirs", merge); err == nil && len(res.Conflicts) == 0 {
		t.Errorf("merge: %+v, %v; want one that waits", res, err)
	}
	dropBranch(t, r, "theirs")
	_, err = r.StageChanges(ctx, repo.ReadChanges(strings.NewReader(person(9)), "x"),
		repo.StageOptions{Stamp: by, Stage: "later"})
	if err != nil {
		t.Fatal(err)
	}
	// A lease on what no ref leads to.
	branch(t, r, "leased", "HEAD")
	leased := commitOn(t, r, "leased", person(3)).Commit
	dropBranch(t, r, "leased")
	release, err := r.Lease(ctx, leased)
	if err != nil {
		t.Fatal(err)
	}
	gc(t, r, 1)
	checkClean(t, r)
	if res, err := r.Replay(ctx, "s"); err != nil || !res.Identical {
		t.Errorf("replay after a collection: %+v, %v", res, err)
	}
	if _, _, err := r.Receipt(ctx, receipt); err != nil {
		t.Error(err)
	}
	if s, err := r.At(ctx, pinned.Commit); err != nil || sizes(s)[0] != 2 {
		t.Errorf("the pinned commit: %v", err)
	}
	s, err := r.At(ctx, leased)
	if err != nil || sizes(s)[0] != 2 {
		t.Fatalf("the leased commit: %v", err)
	}
	release()
	release()
	gc(t, r, 1) // the snapshot is a lease of its own
	if err := nodesOf(s, 2); err != nil {
		t.Errorf("a snapshot in use: %v", err)
	}
	runtime.KeepAlive(s)
	s = nil
	runtime.GC()
	runtime.GC()
	waitForCleanups()
	gc(t, r, 1)
	if has, err := st.Facts().Has(ctx, leased); err != nil || has {
		t.Errorf("a released commit is still there: %v", err)
	}
	if _, err := r.Lease(ctx, leased); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("lease of what is gone: %v", err)
	}
}

func nodesOf(s *repo.Snapshot, want int) error {
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
	r, st := overMem(t)
	lines(t, r, person(1))
	var size int64
	for n := range 5000 {
		b := store.NewBlock(ipld.Raw, fmt.Appendf(nil, "left by a crash %d", n))
		size += int64(len(b.Data))
		if err := st.Facts().Put(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Derived().Put(t.Context(), store.NewBlock(ipld.Raw, []byte("derived"))); err != nil {
		t.Fatal(err)
	}
	if res := gc(t, r, 0); res.Blocks != 5001 || res.Bytes != size+7 {
		t.Errorf("removed %+v, want 5001 blocks of %d bytes", res, size+7)
	}
}

// TestGCRefusesDamage keeps what a damaged block may lead to.
func TestGCRefusesDamage(t *testing.T) {
	st := mem.New()
	r, err := repo.New(t.Context(), st, by, repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := lines(t, r, person(1))
	garbage := store.NewBlock(ipld.Raw, []byte("garbage"))
	if err := errors.Join(st.Facts().Put(t.Context(), garbage),
		st.Facts().(store.Deleter).Delete(t.Context(), c.Graph)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.GC(t.Context(), repo.GCOptions{Stamp: by}); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("collection of a damaged repository: %v", err)
	}
	if has, err := st.Facts().Has(t.Context(), garbage.CID); !has || err != nil {
		t.Error("it removed something")
	}
}

// TestGCBesideWriters collects without a pause while others write what was garbage a moment ago,
// and read.
func TestGCBesideWriters(t *testing.T) {
	r, _ := overMem(t)
	ctx := t.Context()
	lines(t, r, person(0))
	const writers, rounds = 3, 40
	var wg sync.WaitGroup
	var done atomic.Bool
	commit := func(text string) {
		_, err := r.Commit(ctx, repo.ReadChanges(strings.NewReader(text), "x"),
			repo.CommitOptions{Stamp: by})
		if err != nil {
			t.Errorf("commit: %v", err)
		}
	}
	for w := range writers {
		wg.Go(func() {
			for n := range rounds {
				commit(person(1000*w + n + 1))
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
				_, err = s.Retrieve(ctx, retrieve.Request{Text: "person lives"})
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
			if _, err := r.GC(ctx, repo.GCOptions{Stamp: by, KeepOps: 2}); err != nil {
				t.Errorf("gc: %v", err)
				return
			}
		}
	})
	wg.Go(func() {
		for !done.Load() {
			report, err := r.Fsck(ctx, repo.FsckOptions{})
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
		if n, _, _, _ := head(t, r).Sizes(); n >= writers*rounds+1 || i > 3000 || t.Failed() {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	done.Store(true)
	<-finished
	t.Logf("%d collections", collections)
	s := head(t, r)
	for w := range writers {
		for n := range rounds {
			nodeByKey(t, s, fmt.Sprintf("p%d", 1000*w+n+1))
		}
	}
}

func TestGCDue(t *testing.T) {
	r, _ := overMem(t)
	due := func(keep int) bool {
		t.Helper()
		yes, err := r.GCDue(t.Context(), repo.GCOptions{KeepOps: keep})
		if err != nil {
			t.Fatal(err)
		}
		return yes
	}
	for n := range 8 { // 9 operations
		lines(t, r, person(n))
	}
	if !due(4) || due(5) || due(0) {
		t.Errorf("due for 4, 5 and all operations: %v, %v, %v", due(4), due(5), due(0))
	}
	gc(t, r, 4)
	if due(4) {
		t.Error("due after a collection")
	}
}

// TestFsckHorizon finds an operation behind the horizon missing that later ones need.
func TestFsckHorizon(t *testing.T) {
	st := mem.New()
	r, err := repo.New(t.Context(), st, by, repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for n := range 20 {
		lines(t, r, person(n))
	}
	kept, err := r.Operation(t.Context(), "16")
	if err != nil {
		t.Fatal(err)
	}
	gc(t, r, 3) // of 21: the horizon is 19, behind which 18 and 16 are kept
	checkClean(t, r)
	if err := st.Facts().(store.Deleter).Delete(t.Context(), kept.CID); err != nil {
		t.Fatal(err)
	}
	report, err := r.Fsck(t.Context(), repo.FsckOptions{})
	if err != nil || len(report.Errors) != 1 || report.Errors[0].CID != kept.CID {
		t.Errorf("fsck: %v, %v", report.Errors, err)
	}
}

// TestRetrieveBesidePurge retrieves while indexes are dropped.
func TestRetrieveBesidePurge(t *testing.T) {
	r, _ := overMem(t)
	for n := range 30 {
		lines(t, r, person(n))
	}
	s := head(t, r)
	var done atomic.Bool
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for !done.Load() {
				_, err := s.Retrieve(context.Background(), retrieve.Request{Text: "person lives"})
				if err != nil {
					t.Errorf("retrieve: %v", err)
					return
				}
			}
		})
	}
	for n := range 15 {
		_, err := r.Purge(t.Context(), fmt.Sprintf("p%d", n), repo.PurgeOptions{Stamp: by})
		if err != nil {
			t.Errorf("purge: %v", err)
		}
	}
	done.Store(true)
	wg.Wait()
}
