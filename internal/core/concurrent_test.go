package core_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/pebble"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/merging"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
)

// factsEach is how many facts each writer commits.
func factsEach(normal int) int { return effort.Pick(normal, 2*normal, 250) }

// checkFacts checks that all facts of all writers are in the head, and that history is one line.
func checkFacts(t *testing.T, r *core.Repo, writers []string, n int) {
	t.Helper()
	s := repokit.Head(t, r)
	got, want := repokit.Sizes(s), uint64(len(writers)*n)
	must.Require(t, got[0] == want+1 && got[1] == want, "sizes %v, want %d facts and their edges", got, want)
	hub := repokit.NodeByKey(t, s, "hub")
	for _, w := range writers {
		got, want := prop(t, hub, w).Int(), int64(n-1)/repokit.Stale*repokit.Stale
		must.True(t, got == want, "the hub has %d of %s, want %d", got, w, want)
		for i := range n {
			repokit.NodeByKey(t, s, fmt.Sprintf("%s-%d", w, i))
		}
	}
	commits := 0
	for e, err := range history.Log(t.Context(), r, "HEAD") {
		must.OK(t, err)
		commits++
		must.True(t, len(e.Commit.Parents) <= 1, "commit %s has %d parents", e.CID, len(e.Commit.Parents))
	}
	must.Equal(t, commits, (len(writers)*n + 1), "commits")
}

func TestConcurrentGoroutines(t *testing.T) {
	const writers = 8
	n := factsEach(12)
	r := repokit.OpenMem(t)
	repokit.Lines(t, r, `{"node":{"key":"hub","type":"Hub"}}`)
	var names []string
	errs := make([]error, writers)
	var all sync.WaitGroup
	for w := range writers {
		name := fmt.Sprintf("g%d", w)
		names = append(names, name)
		all.Go(func() { errs[w] = repokit.WriteFacts(t.Context(), r, name, n) })
	}
	all.Wait()
	must.OK(t, errors.Join(errs...))
	checkFacts(t, r, names, n)
}

// TestBase makes changes against commits that are no longer the newest.
func TestBase(t *testing.T) {
	r := repokit.OpenMem(t)
	first := repokit.Lines(t, r, repokit.TwoPeople)
	repokit.Lines(t, r, `{"node":{"key":"alice","props":{"a":1}}}`)
	commit := func(base ipld.CID, text string) (*core.CommitResult, error) {
		return r.Commit(t.Context(), state.ReadChanges(strings.NewReader(text), "x"),
			core.CommitOptions{Stamp: repokit.By, Base: &base})
	}
	res, err := commit(first.Commit, `{"node":{"key":"alice","props":{"b":2}}}`)
	must.Require(t, err == nil && res.Rebased && res.Nodes == (state.Counts{Changed: 1}), "%+v, %v", res, err)
	alice := repokit.NodeByKey(t, repokit.Head(t, r), "alice")
	must.Equal(t, prop(t, alice, "a").Int(), 1, "alice has ", alice.Props)
	must.Equal(t, prop(t, alice, "b").Int(), 2, "alice has ", alice.Props)
	res, err = commit(first.Commit, `{"node":{"key":"alice","props":{"b":2}}}`)
	must.True(t, err == nil && res.NoChange, "the same again: %+v, %v", res, err)
	before := repokit.Head(t, r).CID()
	_, err = commit(first.Commit, `{"node":{"key":"alice","props":{"a":3}}}`)
	var kept *core.MergeError
	must.Require(t, errors.As(err, &kept) && errors.Is(err, state.ErrConflict), "error %v, want a conflict", err)
	c := kept.Conflicts[0]
	if len(kept.Conflicts) != 1 || c.Label != "alice" || len(c.Fields) != 1 ||
		c.Fields[0].Ours.Int() != 1 || c.Fields[0].Theirs.Int() != 3 || c.Fields[0].Base != nil {
		t.Errorf("conflicts %+v", kept.Conflicts)
	}
	must.True(t, kept.Base == first.Commit && kept.Head == before && repokit.Head(t, r).CID() == before,
		"base %s, head %s", kept.Base, kept.Head)
	s := must.Get(r.At(t.Context(), kept.Kept))(t, "what was kept")
	must.Equal(t, s.Commit().Parents[0], first.Commit, "what was kept")
	must.Equal(t, prop(t, repokit.NodeByKey(t, s, "alice"), "a").Int(), 3, "kept")
	list, err := r.KeptCommits().List(t.Context())
	must.Require(t, err == nil && len(list) == 1 && list[0].Ref == kept.Ref && list[0].Branch == "main",
		"kept %+v, %v", list, err)
	merged, err := merging.Merge(t.Context(), r, string(kept.Ref), core.MergeOptions{
		CommitOptions: core.CommitOptions{Stamp: repokit.By}, Prefer: graph.TakeTheirs,
	})
	must.Require(t, err == nil && len(merged.Parents) == 2, "%+v, %v", merged, err)
	list, err = r.KeptCommits().List(t.Context())
	must.True(t, err == nil && len(list) == 0, "kept %+v, %v", list, err)
	none := ipld.CID{}
	res, err = r.Commit(t.Context(), state.ReadChanges(strings.NewReader(
		`{"node":{"key":"zoe","type":"Person"}}`), "x"),
		core.CommitOptions{Stamp: repokit.By, Base: &none})
	must.True(t, err == nil && res.Rebased, "against nothing: %+v, %v", res, err)
	_, err = commit(ipld.Sum(ipld.DagCBOR, []byte("x")), `{"remove":{"node":"zoe"}}`)
	must.True(t, err != nil, "a base that does not exist was accepted")
}

// beginnings counts the commits that were begun.
type beginnings struct {
	*pebble.Store
	begun atomic.Int32
}

func (s *beginnings) Begin(ctx context.Context, old, next store.Head, blocks ...store.Block) (func() error, error) {
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
			must.True(t, err == nil, "%v", err)
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
				n, _, _, _ := s.Sizes()
				must.True(t, n == writers+1, "decided on %d nodes, want all that were begun, %d", n, writers+1)
				return nil, no
			})
		must.Fail(t, err, no)
		ended.Add(1)
	})
	<-decided
	commit(0) // nothing new: not before the decision, since it has the next ones wait for the disk
	wg.Go(func() {
		_, err := care.GC(t.Context(), r, care.GCOptions{Stamp: repokit.By, KeepOps: 1})
		must.True(t, err == nil, "%v", err)
	})
	must.Equal(t, ended.Load(), 0, "commits ended before the disk did what they wait for")
	n, _, _, _ := repokit.Head(t, r).Sizes()
	must.True(t, n == 1, "readers see %d nodes, all but one not durable", n)
	close(release)
	wg.Wait()
	n, _, _, _ = repokit.Head(t, r).Sizes()
	must.True(t, n == writers+1, "%d nodes, want %d", n, writers)
	if n := syncs.Load(); n > 5 { // two or three for the commits, and those of the collection
		t.Errorf("%d syncs of the head for %d commits", n, writers)
	}
	repokit.CheckClean(t, r)
	must.OK(t, r.Close())
}
