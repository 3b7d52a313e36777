package core_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

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
	if n := r.Answering.Most; n < runtime.GOMAXPROCS(0) {
		t.Fatalf("%d answers at a time leave processors idle", n)
	}
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
			if err := ask(ctx); err != nil {
				t.Error(err)
			}
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
	must.Check(t, r.Answering.Taken <= 0 && r.Answering.Waiting.Len() <= 0,
		"%d turns are still taken", r.Answering.Taken)
}
