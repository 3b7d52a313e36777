package core_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

// fakeClock is the clock of a repository in a test.
type fakeClock struct{ at graph.Time }

func (c *fakeClock) now() graph.Time         { return c.at }
func (c *fakeClock) advance(d time.Duration) { c.at += graph.Time(d.Microseconds()) }

// openClocked returns a repository whose operations are timed by a clock.
func openClocked(t *testing.T) (*core.Repo, *fakeClock) {
	t.Helper()
	clock := &fakeClock{repokit.By.Time}
	r := must.Get(care.New(t.Context(), mem.New(), repokit.By, core.Options{Now: clock.now}))(t)
	t.Cleanup(func() { repokit.CheckClean(t, r) })
	return r, clock
}

// commitTimed makes a commit of a time.
func commitTimed(t *testing.T, r *core.Repo, at graph.Time, n int) *core.CommitResult {
	t.Helper()
	stamp := repokit.By
	stamp.Time = at
	return must.Get(r.Commit(t.Context(), state.ReadChanges(strings.NewReader(repokit.Person(n)), "x"),
		core.CommitOptions{Stamp: stamp}))(t)
}

// operationTime returns the time of the newest operation.
func operationTime(t *testing.T, r *core.Repo) graph.Time {
	t.Helper()
	op := must.Get(r.OpLog().Find(t.Context(), "@"))(t)
	return op.Operation.Time
}

// TestOperationsAreTimedByTheClock: the time that a caller gives is the commit's, and an operation is
// never before the one before it.
func TestOperationsAreTimedByTheClock(t *testing.T) {
	r, clock := openClocked(t)
	start := clock.at
	for i, tt := range []struct {
		given   graph.Time
		advance time.Duration
		want    time.Duration // after start
	}{
		{0, time.Minute, time.Minute},
		{start + 1e15, time.Minute, 2 * time.Minute},
		{start, -time.Hour, 2 * time.Minute}, // the clock was set back
		{start, 2 * time.Hour, time.Hour + 2*time.Minute},
	} {
		clock.advance(tt.advance)
		res := commitTimed(t, r, tt.given, i)
		got, want := operationTime(t, r), start+graph.Time(tt.want.Microseconds())
		must.True(t, got == want, "commit of time %d: operation at %d, want %d", tt.given, got, want)
		s := must.Get(r.At(t.Context(), res.Commit))(t)
		must.Equal(t, s.Commit().Time, tt.given, "commit has time")
	}
}

// TestGraceHoldsWhateverCallersSay removes a branch and then does, with random times of callers, what
// may have shortened the grace: what was there until a moment ago can be brought back.
func TestGraceHoldsWhateverCallersSay(t *testing.T) {
	const grace = 14 * 24 * time.Hour
	for seed := range uint64(40) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			ctx, rng := t.Context(), rand.New(rand.NewPCG(seed, 5))
			r, clock := openClocked(t)
			odd := func() graph.Time {
				return []graph.Time{0, repokit.By.Time, clock.at, clock.at + 1e15, 4e15}[rng.IntN(5)]
			}
			commitTimed(t, r, odd(), 1)
			repokit.Branch(t, r, "kept", "HEAD")
			kept := repokit.CommitOn(t, r, "kept", repokit.Person(2)).Commit
			clock.advance(2 * grace) // all so far is old
			repokit.DropBranch(t, r, "kept")
			for n := range 1 + rng.IntN(8) {
				clock.advance(time.Duration(rng.Int64N(int64(grace / 10))))
				commitTimed(t, r, odd(), 10+n)
			}
			at := repokit.By
			at.Time = odd()
			must.Get(care.GC(ctx, r, care.GCOptions{Stamp: at, KeepOps: 1, Grace: grace}))(t)
			_, err := r.Revisions().Resolve(ctx, kept.String())
			must.Require(t, err == nil, "a branch that was removed within the grace is erased: %v", err)
			clock.advance(2 * grace)
			must.Get(care.GC(ctx, r, care.GCOptions{Stamp: at, KeepOps: 1, Grace: grace}))(t)
			must.Fail(t, must.Err(r.Revisions().Resolve(ctx, kept.String())), store.ErrNotFound)
		})
	}
}

// TestGCDueWithinTheGrace checks that no collection is due while it would keep the whole log.
func TestGCDueWithinTheGrace(t *testing.T) {
	r, clock := openClocked(t)
	for n := range 9 {
		commitTimed(t, r, repokit.By.Time, n)
	}
	opt := care.GCOptions{Stamp: repokit.By, KeepOps: 2, Grace: time.Hour}
	for _, want := range []bool{false, true} {
		due := must.Get(care.GCDue(t.Context(), r, opt))(t)
		must.True(t, due == want, "%d after the last: due %v", clock.at-repokit.By.Time, due)
		clock.advance(2 * time.Hour)
	}
}

// TestGraceOfOddTimes collects logs whose operations have times that no clock gave, as programs
// recorded that took an operation's time from its caller.
func TestGraceOfOddTimes(t *testing.T) {
	const day = graph.Time(24 * 3600 * 1_000_000)
	now := repokit.By.Time + 100*day
	for _, tt := range []struct {
		name  string
		times []graph.Time // days before now, of the operations
		want  uint64       // horizon with a grace of 14 days
	}{
		{"a clock", []graph.Time{50, 40, 30, 20, 10, 0}, 4},
		{"one in the past", []graph.Time{50, 40, 30, 9000, 10, 0}, 3},
		{"one in the past, of long ago", []graph.Time{50, 9000, 40, 30, 20, 10, 0}, 5},
		{"the newest in the past", []graph.Time{50, 40, 30, 9000}, 3},
		{"all but the first in the past", []graph.Time{50, 9000, 8000, 7000}, 1},
		{"one in the future", []graph.Time{50, 40, -9000, 30, 20, 10, 0}, 5},
		{"the newest in the future", []graph.Time{50, 40, 30, -9000}, 3},
		{"from one on in the future", []graph.Time{50, 40, 30, -9000, -9000, -9000}, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			st := mem.New()
			for _, ago := range tt.times {
				forgeOperation(t, st, now-ago*day)
			}
			r := must.Get(care.New(context.Background(), st, repokit.By,
				core.Options{Now: func() graph.Time { return now }}))(t)
			repokit.CheckClean(t, r)
			res := must.Get(care.GC(t.Context(), r, care.GCOptions{
				Stamp: repokit.By, KeepOps: 1, Grace: 14 * 24 * time.Hour, DryRun: true,
			}))(t, "horizon")
			must.Equal(t, res.Horizon, tt.want, "horizon")
		})
	}
}

// forgeOperation adds an operation of any time to the log of a store.
func forgeOperation(t *testing.T, st store.Store, at graph.Time) {
	t.Helper()
	ctx := t.Context()
	head := must.Get(st.Head(ctx))(t)
	op := must.Get(commit.NextOperation(ctx, st.Facts(), head))(t)
	nodes := prolly.NewNodes(st.Facts(), nil)
	view := must.Get(nodes.Build(ctx, func(yield func(prolly.Entry, error) bool) {
		yield(prolly.Entry{Key: []byte(graph.Head), Value: ipld.AppendString(nil, "refs/heads/main")}, nil)
	}))(t)
	op.View, op.Time, op.Actor, op.Command = view.Root(), at, repokit.By.Author, repokit.By.Command
	block := store.NewBlock(ipld.DagCBOR, op.Encode())
	next := store.Head{Seq: op.Seq, Operation: block.CID}
	must.OK(t, st.Commit(ctx, head, next, block))
}
