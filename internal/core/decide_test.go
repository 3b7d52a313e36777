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
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

var decideBy = state.Stamp{Author: "ann", Time: 1_767_323_045_000_000, Command: []string{"test"}}

func openDecide(t *testing.T) *core.Repo {
	t.Helper()
	r := must.Get(care.New(t.Context(), mem.New(), decideBy, core.Options{}))(t)
	t.Cleanup(func() {
		report, err := care.Fsck(context.Background(), r, care.FsckOptions{Full: true})
		must.True(t, err == nil && len(report.Errors) <= 0, "fsck: %v %+v", err, report)
	})
	return r
}

// queued waits until n callers wait for their turn.
func queued(q *core.Turns, n int) {
	for {
		q.Mu.Lock()
		have := q.Waiting.Len()
		q.Mu.Unlock()
		if have == n {
			return
		}
		runtime.Gosched()
	}
}

// addNode decides to add a node to those that are there, whose number is its summary.
func addNode(ctx context.Context, key string) func(*core.Snapshot) (*core.Decision, error) {
	return func(s *core.Snapshot) (*core.Decision, error) {
		n, _, _, _ := s.Sizes()
		summary := fmt.Sprint(n)
		return &core.Decision{Message: "add " + key, Changes: []graph.Change{
			{Node: &graph.NodeChange{Key: key, Type: "fact", Summary: &summary}}}}, nil
	}
}

// TestTurnsComeInOrder: writers of every kind are let in in the order in which they asked, and one that
// gives up holds up none.
func TestTurnsComeInOrder(t *testing.T) {
	const writers = 24
	r := openDecide(t)
	deciding, proceed := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := r.Decide(t.Context(), core.DecideOptions{CommitOptions: core.CommitOptions{Stamp: decideBy}},
			func(s *core.Snapshot) (*core.Decision, error) {
				close(deciding)
				<-proceed
				return addNode(t.Context(), "first")(s)
			})
		must.True(t, err == nil, "%v", err)
	})
	<-deciding
	var order []int // appended to within turns alone
	var want []int
	impatient, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	queue := &r.Writer.Turns
	for i := range writers {
		switch opt := (core.CommitOptions{Stamp: decideBy}); i % 4 {
		case 0:
			wg.Go(func() {
				_, err := r.Decide(t.Context(), core.DecideOptions{CommitOptions: opt},
					func(s *core.Snapshot) (*core.Decision, error) {
						order = append(order, i)
						return addNode(t.Context(), fmt.Sprint(i))(s)
					})
				must.True(t, err == nil, "%v", err)
			})
		case 1:
			wg.Go(func() {
				line := fmt.Sprintf(`{"node":{"key":"%d","type":"fact","summary":"by a commit"}}`, i)
				_, err := r.Commit(t.Context(), func(yield func(graph.Change, error) bool) {
					order = append(order, i)
					state.ReadChanges(strings.NewReader(line), "")(yield)
				}, opt)
				must.True(t, err == nil, "%v", err)
			})
		case 2:
			go func() {
				_, err := r.Decide(impatient, core.DecideOptions{CommitOptions: opt},
					func(*core.Snapshot) (*core.Decision, error) { return nil, errors.New("it had given up") })
				gone <- err
			}()
			queued(queue, i+1)
			continue
		case 3:
			wg.Go(func() {
				_, err := r.Transact(t.Context(), decideBy, func(t *core.Tx) error {
					order = append(order, i)
					return nil
				})
				must.True(t, err == nil, "%v", err)
			})
		}
		want = append(want, i)
		queued(queue, i+1)
	}
	cancel()
	for range writers / 4 {
		must.Fail(t, <-gone, context.Canceled)
	}
	close(proceed)
	wg.Wait()
	must.Same(t, order, want, "let in")
	must.True(t, queue.Taken <= 0 && queue.Waiting.Len() <= 0, "the turn is still taken")
}

// TestDecideOnTheNewest checks that a decision sees the commit its changes are applied to, and runs
// once under the write lock despite other writers; a long one first runs concurrently with them.
func TestDecideOnTheNewest(t *testing.T) {
	r := openDecide(t)
	ctx := t.Context()
	plain := core.DecideOptions{CommitOptions: core.CommitOptions{Stamp: decideBy}}
	for _, long := range []bool{false, true} {
		opt := plain
		opt.Long = long
		var seen []uint64
		res, err := r.Decide(ctx, opt, func(s *core.Snapshot) (*core.Decision, error) {
			n, _, _, _ := s.Sizes()
			seen = append(seen, n)
			if long && len(seen) == 1 { // another writer comes in between
				if _, err := r.Decide(ctx, plain, addNode(ctx, "between")); err != nil {
					return nil, err
				}
			}
			return addNode(ctx, fmt.Sprint("long ", long))(s)
		})
		must.OK(t, err)
		want := []uint64{0}
		if long {
			want = []uint64{1, 2}
		}
		must.Same(t, seen, want, "long ", long, ": decided on")
		must.Equal(t, res.Nodes.Added, 1, "long ", long, ": decided on")
	}
	s := must.Get(r.Snapshot(ctx, "HEAD"))(t)
	message, err := s.Message(ctx)
	n, _, _, _ := s.Sizes()
	must.True(t, err == nil && n == 3 && message == "add long true", "%d nodes, the newest by %q, %v", n, message, err)
	calls := 0
	long := plain
	long.Long = true
	must.Get(r.Decide(ctx, long, func(s *core.Snapshot) (*core.Decision, error) {
		calls++
		return addNode(ctx, "alone")(s)
	}))(t, "with no one else it was decided")
	must.Equal(t, calls, 1, "with no one else it was decided")
}

// TestDecideExpects: an Expect is held against the newest commit, and is the one way to be refused.
func TestDecideExpects(t *testing.T) {
	r := openDecide(t)
	ctx := t.Context()
	opt := core.DecideOptions{CommitOptions: core.CommitOptions{Stamp: decideBy}}
	first := must.Get(r.Decide(ctx, opt, addNode(ctx, "a")))(t)
	opt.Expect = &first.Commit
	must.Get(r.Decide(ctx, opt, addNode(ctx, "b")))(t)
	for _, long := range []bool{false, true} {
		opt.Long = long
		_, err := r.Decide(ctx, opt, func(*core.Snapshot) (*core.Decision, error) {
			t.Error("decided on a commit that was not expected")
			return &core.Decision{}, nil
		})
		var moved *state.ExpectError
		must.True(t, errors.As(err, &moved) && moved.Want == first.Commit,
			"long %t: %v, want an *ExpectError", long, err)
	}
	opt.Expect, opt.Base = nil, &first.Commit
	must.Fail(t, must.Err(r.Decide(ctx, opt, addNode(ctx, "c"))), state.ErrInvalid)
	opt.Base, opt.Branch = nil, "none"
	must.True(t, must.Err(r.Decide(ctx, opt, addNode(ctx, "c"))) != nil, "decided on a branch that is not there")
}

// TestCollectionsWaitInTurn: a collection that waits for another one ends when its caller gives up.
func TestCollectionsWaitInTurn(t *testing.T) {
	r := openDecide(t)
	must.OK(t, r.Collecting.Take(t.Context()))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := care.GC(ctx, r, care.GCOptions{})
		ended <- err
	}()
	queued(&r.Collecting, 1)
	must.Get(care.GC(t.Context(), r, care.GCOptions{NoWait: true}))(t, "one that does not wait")
	cancel()
	must.Fail(t, <-ended, context.Canceled)
	r.Collecting.Give()
	must.Get(care.GC(t.Context(), r, care.GCOptions{}))(t, "after it")
}

// busyStore is a store that calls asked before each lookup, so that a test can begin to use another commit.
type busyStore struct {
	store.Store
	facts busyFacts
}

func (s *busyStore) Facts() store.Blocks { return &s.facts }

type busyFacts struct {
	store.Blocks
	store.Deleter
	asked func() error
}

func (f *busyFacts) Has(ctx context.Context, c ipld.CID) (bool, error) {
	if f.asked != nil {
		if err := f.asked(); err != nil {
			return false, err
		}
	}
	return f.Blocks.Has(ctx, c)
}

// TestCollectionsDuringReads checks that a collection ends although readers keep opening other commits.
func TestCollectionsDuringReads(t *testing.T) {
	kept := mem.New()
	s := &busyStore{kept, busyFacts{Blocks: kept.Facts(), Deleter: kept.Facts().(store.Deleter)}}
	r := must.Get(care.New(t.Context(), s, decideBy, core.Options{}))(t)
	var commits []ipld.CID
	for i := range 40 {
		key := fmt.Sprint(i)
		res := must.Get(r.Decide(t.Context(), core.DecideOptions{CommitOptions: core.CommitOptions{Stamp: decideBy}},
			addNode(t.Context(), key)))(t)
		commits = append(commits, res.Commit)
	}
	read := 0
	s.facts.asked = func() error {
		if read == len(commits) {
			return errors.New("it looks again and again")
		}
		if r.Keep.Mu.TryLock() { // else others wait
			r.Keep.Mu.Unlock()
			r.Keep.Lease(commits[read])
			read++
		}
		return nil
	}
	r.Keep.Lease(ipld.Sum(ipld.DagCBOR, []byte("of a commit that is not there")))
	must.Get(care.GC(t.Context(), r, care.GCOptions{Stamp: decideBy}))(t)
	s.facts.asked = nil
}

// TestHeldTurn has a transaction without its signature keep the turn for the next one of its context: another writer that
// asked before that is after it, and the state that it builds upon is the same.
func TestHeldTurn(t *testing.T) {
	r := openDecide(t)
	ada := secret(t, 1)
	turn := &core.HeldTurn{Lease: time.Hour}
	ctx := core.WithTurn(t.Context(), turn)
	made := state.Signatures{}
	by := decideBy
	by.Sign = made.Sign
	commit := func(ctx context.Context, by state.Stamp, key string) (*core.CommitResult, error) {
		return r.Decide(ctx, core.DecideOptions{CommitOptions: core.CommitOptions{Stamp: by}, Long: true}, addNode(ctx, key))
	}
	_, err := commit(t.Context(), by, "signed")
	var lacks *state.UnsignedError
	must.Require(t, errors.As(err, &lacks) && !turn.Holds(), "%v, holds %t", err, turn.Holds())
	_, err = commit(ctx, by, "signed")
	must.Require(t, errors.As(err, &lacks) && turn.Holds(), "%v, holds %t", err, turn.Holds())
	var wg sync.WaitGroup
	var second *core.CommitResult
	wg.Go(func() {
		var err error
		second, err = commit(t.Context(), decideBy, "unsigned")
		must.True(t, err == nil, "%v", err)
	})
	queued(&r.Writer.Turns, 1)
	signature := must.Get(ada.Sign(lacks.Records[0]))(t)
	made.Add(lacks.Records[0], signature)
	first, err := commit(ctx, by, "signed")
	must.Require(t, err == nil && turn.Holds(), "%v, holds %t", err, turn.Holds())
	turn.End()
	turn.End() // it holds none any more
	wg.Wait()
	must.True(t, len(second.Parents) == 1 && second.Parents[0] == first.Commit,
		"the second is upon %v, want %v", second.Parents, first.Commit)
	must.True(t, r.Writer.Turns.Try(), "a turn was not given back")
	r.Writer.Turns.Give()
}

// TestHeldTurnEnds lets the lease of a turn run out.
func TestHeldTurnEnds(t *testing.T) {
	r := openDecide(t)
	turn := &core.HeldTurn{Lease: time.Millisecond}
	by := decideBy
	by.Sign = state.Signatures{}.Sign
	opt := core.DecideOptions{CommitOptions: core.CommitOptions{Stamp: by}}
	var lacks *state.UnsignedError
	_, err := r.Decide(core.WithTurn(t.Context(), turn), opt, addNode(t.Context(), "x"))
	must.Require(t, errors.As(err, &lacks), "%v", err)
	opt.Sign = nil
	_, err = r.Decide(t.Context(), opt, addNode(t.Context(), "y"))
	must.True(t, err == nil && !turn.Holds(), "%v, holds %t", err, turn.Holds())
}

// TestAnswersTakeTurns asks more questions at once than are answered at a time: the others wait, one that gives up
// leaves its place, and all are answered.
func TestAnswersTakeTurns(t *testing.T) {
	const most, asked = 2, 6
	ctx := t.Context()
	by := state.Stamp{Author: "ana", Time: 1, Command: []string{"test"}}
	var inside atomic.Int64
	proceed := make(chan struct{})
	count := func(string) int {
		inside.Add(1)
		defer inside.Add(-1)
		<-proceed
		return 1
	}
	r := must.Get(care.New(ctx, mem.New(), by, core.Options{Counters: retrieve.Counters{"slow": count}}))(t)
	n := r.Answering.Most
	must.Require(t, n >= runtime.GOMAXPROCS(0), "%d answers at a time leave processors idle", n)
	r.Answering.Most = most
	changes := state.ReadChanges(strings.NewReader(`{"node":{"key":"a","type":"T","summary":"harbour lights"}}`), "lines")
	must.Get(r.Commit(ctx, changes, core.CommitOptions{Stamp: by}))(t)
	s := must.Get(r.Snapshot(ctx, string(graph.Head)))(t)
	ask := func(ctx context.Context) error {
		answer, err := rank.Retrieve(ctx, s, retrieve.Request{Text: "harbour",
			OutputOptions: retrieve.OutputOptions{Tokenizer: "slow"}})
		if err == nil && len(answer.Items) != 1 {
			err = errors.New("no answer")
		}
		return err
	}
	waiting := func(n int) {
		for {
			r.Answering.Mu.Lock()
			got := r.Answering.Waiting.Len()
			r.Answering.Mu.Unlock()
			in := inside.Load()
			must.Require(t, in <= most, "%d answers at a time", in)
			if got == n && in == most {
				return
			}
			runtime.Gosched()
		}
	}
	var all sync.WaitGroup
	for range asked {
		all.Go(func() {
			err := ask(ctx)
			must.True(t, err == nil, "%v", err)
		})
	}
	waiting(asked - most)
	impatient, cancel := context.WithCancel(ctx)
	gone := make(chan error)
	go func() { gone <- ask(impatient) }()
	waiting(asked - most + 1)
	cancel()
	must.Fail(t, <-gone, context.Canceled)
	waiting(asked - most)
	close(proceed)
	all.Wait()
	must.True(t, r.Answering.Taken <= 0 && r.Answering.Waiting.Len() <= 0,
		"%d turns are still taken", r.Answering.Taken)
}
