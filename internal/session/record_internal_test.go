package session_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/pebble"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	sessionpkg "github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// recorded8 is a repository with an answer and the sessions s0 to s7, whose syncs are counted.
func recorded8(t *testing.T) (*core.Repo, *retrieve.Answer, *atomic.Int32) {
	t.Helper()
	syncs := new(atomic.Int32)
	fs := testkit.NewCrashFS(nil, func(op testkit.Op) error {
		if strings.HasPrefix(op.Kind, "sync") {
			syncs.Add(1)
		}
		return nil
	})
	disk := must.Get(pebble.Open("/repo/.mnem", pebble.Options{FS: fs, Create: true}))(t)
	r := must.Get(care.New(t.Context(), disk, repokit.RecordBy, core.Options{}))(t)
	t.Cleanup(func() {
		report, err := care.Fsck(context.Background(), r, care.FsckOptions{})
		must.True(t, err == nil && len(report.Errors) <= 0, "fsck: %v %v", err, report)
		must.OK(t, r.Close())
	})
	changes := state.ReadChanges(strings.NewReader(`{"node":{"key":"a","type":"Note","summary":"alpha"}}`), "x")
	must.Get(r.Commit(t.Context(), changes, core.CommitOptions{Stamp: repokit.RecordBy}))(t)
	for n := range 8 {
		_, err := sessionpkg.StartSession(t.Context(), r, fmt.Sprintf("s%d", n), sessionpkg.SessionOptions{Stamp: repokit.RecordBy, Follow: true})
		must.OK(t, err)
	}
	s := must.Get(r.Snapshot(t.Context(), "HEAD"))(t)
	answer := must.Get(rank.Retrieve(t.Context(), s, retrieve.Request{Text: "alpha"}))(t)
	return r, answer, syncs
}

// heldTurn runs fn while the turn is taken, and gives it when n receipts wait for it.
func heldTurn(t *testing.T, r *core.Repo, n int, fn func()) {
	t.Helper()
	must.OK(t, r.Writer.Turns.Take(t.Context()))
	fn()
	for waiting := 0; waiting < n; runtime.Gosched() {
		r.Records.Mu.Lock()
		waiting = len(r.Records.Waiting)
		r.Records.Mu.Unlock()
	}
	r.Writer.Turns.Give()
}

// TestReceiptsShareOperations: receipts that wait together, of several sessions and two of one, become one
// operation and one sync of the log; each session has its chain, in request order.
func TestReceiptsShareOperations(t *testing.T) {
	const rounds, clients = 4, 8
	r, answer, syncs := recorded8(t)
	before := must.Get(r.Store.Head(t.Context()))(t)
	syncs.Store(0)
	for range rounds {
		var wg sync.WaitGroup
		heldTurn(t, r, clients, func() {
			for n := range clients {
				wg.Go(func() {
					_, err := sessionpkg.Record(t.Context(), r, fmt.Sprintf("s%d", n/2), answer, repokit.RecordBy)
					must.True(t, err == nil, "%v", err)
				})
			}
		})
		wg.Wait()
	}
	n := syncs.Load()
	after := must.Get(r.Store.Head(t.Context()))(t)
	must.Equal(t, (after.Seq - before.Seq), rounds, "operations for")
	must.True(t, 10*n <= 3*rounds*clients, "%d syncs for %d receipts, want at most 3 for 10", n, rounds*clients)
	for n := range 4 {
		e := must.Get(sessionpkg.Session(t.Context(), r, fmt.Sprintf("s%d", n)))(t)
		must.Equal(t, e.Record.Seq, 2*rounds, "session s", n, " has record")
	}
}

// TestReceiptsFailAlone: only the caller of an invalid receipt gets its error, a caller that gives up while it
// waits has recorded nothing, and receipts of several authors become separate operations.
func TestReceiptsFailAlone(t *testing.T) {
	r, answer, _ := recorded8(t)
	must.Get(sessionpkg.EndSession(t.Context(), r, "s2", repokit.RecordBy))(t)
	before := must.Get(r.Store.Head(t.Context()))(t)
	gone, giveUp := context.WithCancel(t.Context())
	other := repokit.RecordBy
	other.Author = "frank"
	errs := make([]error, 5)
	cids := make([]ipld.CID, 5)
	var wg sync.WaitGroup
	heldTurn(t, r, 4, func() {
		left := make(chan struct{})
		for n, by := range []state.Stamp{repokit.RecordBy, repokit.RecordBy, repokit.RecordBy, other, repokit.RecordBy} {
			ctx := t.Context()
			if n == 4 {
				ctx = gone
			}
			wg.Go(func() {
				cids[n], errs[n] = sessionpkg.Record(ctx, r, fmt.Sprintf("s%d", n), answer, by)
				if n == 4 {
					close(left)
				}
			})
		}
		giveUp()
		<-left
	})
	wg.Wait()
	must.Fail(t, errs[2], state.ErrInvalid, "ended session")
	must.Fail(t, errs[4], context.Canceled, "ended session")
	for _, n := range []int{0, 1, 3} {
		e, err := sessionpkg.Session(t.Context(), r, fmt.Sprintf("s%d", n))
		must.True(t, err == nil && errs[n] == nil && e.Record.Receipt == cids[n] && cids[n].Defined(),
			"session s%d: %v, %v, receipt %s, want %s", n, err, errs[n], e.Record.Receipt, cids[n])
	}
	must.Equal(t, must.Get(sessionpkg.Session(t.Context(), r, "s4"))(t).Record.Seq, 0, "session s4")
	after := must.Get(r.Store.Head(t.Context()))(t)
	must.Equal(t, after.Seq-before.Seq, 3, "operations")
}

// TestReceiptsOfAPanic: if the goroutine that records for several panics, the others end too, and the next one is
// recorded.
func TestReceiptsOfAPanic(t *testing.T) {
	r, answer, _ := recorded8(t)
	var wg sync.WaitGroup
	var ended atomic.Int32
	heldTurn(t, r, 2, func() {
		wg.Go(func() {
			defer func() { _ = recover(); ended.Add(1) }()
			e := &core.RecordEntry{Session: "s0", By: repokit.RecordBy, Done: make(chan struct{})} // without a receipt
			_ = sessionpkg.RecordTogether(t.Context(), r, e)
		})
		wg.Go(func() {
			defer func() { _ = recover(); ended.Add(1) }()
			must.True(t, must.Err(sessionpkg.Record(t.Context(), r, "s1", answer, repokit.RecordBy)) != nil,
				"recorded together with what panics")
		})
	})
	wg.Wait()
	must.Equal(t, ended.Load(), 2, "ended")
	must.Get(sessionpkg.Record(t.Context(), r, "s2", answer, repokit.RecordBy))(t)
}

// TestReceiptsOvertakeNone: later requests of the same session do not overtake one that needs its own turn.
func TestReceiptsOvertakeNone(t *testing.T) {
	other := repokit.RecordBy
	other.Author = "adam"
	var q core.RecordQueue
	entry := func(session string, by state.Stamp) *core.RecordEntry {
		e := &core.RecordEntry{Session: session, By: by}
		sessionpkg.Add(&q, e)
		return e
	}
	first := entry("s", repokit.RecordBy)
	second := entry("s", other)
	third := entry("s", repokit.RecordBy)
	apart := entry("t", repokit.RecordBy)
	for i, c := range []struct {
		turn *core.RecordEntry
		want []*core.RecordEntry
	}{{first, []*core.RecordEntry{first, apart}}, {second, []*core.RecordEntry{second}}, {third, []*core.RecordEntry{third}}, {apart, nil}} {
		must.Same(t, sessionpkg.Take(&q, c.turn), c.want, "turn ", i, " takes")
	}
}

// TestReceiptsBeginWithTheOldest: if an older receipt of the session does not fit into the turn, the turn records
// that one first, and then its own.
func TestReceiptsBeginWithTheOldest(t *testing.T) {
	other := repokit.RecordBy
	other.Author = "adam"
	var q core.RecordQueue
	entry := func(session string, by state.Stamp) *core.RecordEntry {
		e := &core.RecordEntry{Session: session, By: by}
		sessionpkg.Add(&q, e)
		return e
	}
	first, apart, second, third := entry("s", repokit.RecordBy), entry("t", other), entry("s", other), entry("s", repokit.RecordBy)
	for i, want := range [][]*core.RecordEntry{{first}, {apart, second}, {third}, nil} {
		must.Same(t, sessionpkg.Take(&q, third), want, "take ", i)
	}
	var many []*core.RecordEntry
	for range sessionpkg.MaxTogether + 1 {
		many = append(many, entry("u", repokit.RecordBy))
	}
	for i, want := range [][]*core.RecordEntry{many[:sessionpkg.MaxTogether], many[sessionpkg.MaxTogether:], nil} {
		must.Same(t, sessionpkg.Take(&q, many[sessionpkg.MaxTogether]), want, "take ", i, " of many")
	}

	r, answer, _ := recorded8(t)
	var wg sync.WaitGroup
	heldTurn(t, r, 3, func() {
		for n, by := range []state.Stamp{repokit.RecordBy, other, repokit.RecordBy} {
			draft := must.Get(sessionpkg.Draft(answer))(t)
			draft.Time = by.Time + graph.Time(n)
			e := &core.RecordEntry{Session: "s0", Draft: draft, By: by, Done: make(chan struct{})}
			sessionpkg.Add(&r.Records, e)
			wg.Go(func() {
				if n < 2 { // their turns follow that of the last
					err := sessionpkg.Wait(e)
					must.True(t, err == nil, "%v", err)
					return
				}
				err := r.Writer.Turns.Take(t.Context())
				must.True(t, err == nil, "%v", err)
				for _, end := range sessionpkg.RecordInTurn(t.Context(), r, e) {
					end()
				}
				err = sessionpkg.Wait(e)
				must.True(t, err == nil, "%v", err)
			})
		}
	})
	wg.Wait()
	e, err := sessionpkg.Session(t.Context(), r, "s0")
	for n := 2; n >= 0 && err == nil; n-- {
		must.Equal(t, e.Record.Seq, int64(n+1), "record")
		must.Equal(t, e.Record.Actor, []string{"erin", "adam", "erin"}[n], "record")
		e, err = sessionpkg.ReadSession(t.Context(), r.Facts(), e.Record.Prev)
	}
	must.OK(t, err)
}
