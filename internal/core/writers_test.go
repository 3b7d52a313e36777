package core_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/pebble"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
)

// beginnings counts the commits that were begun.
type beginnings struct {
	*pebble.Store
	begun atomic.Int32
}

func (s *beginnings) Begin(
	ctx context.Context, old, next store.Head, blocks ...store.Block,
) (func() error, error) {
	durable, err := s.Store.Begin(ctx, old, next, blocks...)
	s.begun.Add(1)
	return durable, err
}

// TestWritersShareSyncs: writers who come while the disk is waited for become durable together, a
// commit that finds nothing to do waits for what it found, a decision that refuses for what it is about,
// and a collection for all of them.
func TestWritersShareSyncs(t *testing.T) {
	const writers = 12
	var counting, holding atomic.Bool
	var syncs atomic.Int32
	entered, release := make(chan struct{}), make(chan struct{})
	fs := testkit.NewCrashFS(nil, func(op testkit.Op) error {
		if counting.Load() && op.Kind == "syncdata" && strings.HasSuffix(op.Path, "/head") {
			syncs.Add(1)
			if holding.CompareAndSwap(true, false) {
				close(entered)
				<-release
			}
		}
		return nil
	})
	disk := must.Get(pebble.Open("/repo/.mnem", pebble.Options{FS: fs, Create: true}))(t)
	st := &beginnings{Store: disk}
	r := must.Get(care.New(t.Context(), st, repokit.By, core.Options{}))(t)
	repokit.Lines(t, r, repokit.Person(1000))
	counting.Store(true)
	holding.Store(true)
	var wg sync.WaitGroup
	var ended atomic.Int32
	commit := func(n int) {
		wg.Go(func() {
			_, err := r.Commit(t.Context(), state.ReadChanges(strings.NewReader(repokit.Person(n)), "x"),
				core.CommitOptions{Stamp: repokit.By})
			must.Check(t, err == nil, "%v", err)
			ended.Add(1)
		})
	}
	first := st.begun.Load()
	commit(0)
	<-entered
	for n := range writers - 1 {
		commit(n + 1)
	}
	for st.begun.Load() < first+writers {
		runtime.Gosched()
	}
	decided := make(chan struct{})
	wg.Go(func() {
		no := errors.New("refused")
		_, err := r.Decide(t.Context(), core.DecideOptions{CommitOptions: core.CommitOptions{Stamp: repokit.By}},
			func(s *core.Snapshot) (*core.Decision, error) {
				defer close(decided)
				if n, _, _, _ := s.Sizes(); n != writers+1 {
					t.Errorf("decided on %d nodes, want all that were begun, %d", n, writers+1)
				}
				return nil, no
			})
		must.Fail(t, err, no)
		ended.Add(1)
	})
	<-decided
	commit(0) // nothing new: not before the decision, since it has the next ones wait for the disk
	wg.Go(func() {
		if _, err := care.GC(t.Context(), r, care.GCOptions{Stamp: repokit.By, KeepOps: 1}); err != nil {
			t.Error(err)
		}
	})
	must.Equal(t, ended.Load(), 0, "commits ended before the disk did what they wait for")
	if n, _, _, _ := repokit.Head(t, r).Sizes(); n != 1 {
		t.Errorf("readers see %d nodes, all but one not durable", n)
	}
	close(release)
	wg.Wait()
	if n, _, _, _ := repokit.Head(t, r).Sizes(); n != writers+1 {
		t.Errorf("%d nodes, want %d", n, writers)
	}
	if n := syncs.Load(); n > 5 { // two or three for the commits, and those of the collection
		t.Errorf("%d syncs of the head for %d commits", n, writers)
	}
	repokit.CheckClean(t, r)
	must.OK(t, r.Close())
}
