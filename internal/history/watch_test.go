package history_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
)

// watching pulls from a watch, which the end of the test stops.
func watching(t *testing.T, r *core.Repo, opt history.WatchOptions) (next func() (history.WatchedOp, error)) {
	t.Helper()
	pull, stop := iter.Pull2(history.Watch(t.Context(), r, opt))
	t.Cleanup(stop)
	return func() (history.WatchedOp, error) {
		op, err, ok := pull()
		must.Require(t, ok, "the watch ended without a word")
		return op, err
	}
}

// told is a short form of a watched operation: its number, and what moved.
func told(t *testing.T, op history.WatchedOp, err error) string {
	t.Helper()
	must.OK(t, err)
	text := fmt.Sprint(op.Operation.Seq)
	for _, m := range op.Refs {
		text += " " + string(m.Name)
	}
	for _, b := range op.Branches {
		text += fmt.Sprintf(" %s:", b.Name)
		if b.From == nil {
			text += "?"
			continue
		}
		n, e, err := b.From.Diff(b.To).Count(t.Context())
		must.OK(t, err)
		text += fmt.Sprintf("%d+%d-%d/%d", n.Added, n.Changed, n.Removed, e.Added)
	}
	return text
}

func TestWatchTellsWhatWasAndWhatComes(t *testing.T) {
	r := repokit.OpenMem(t)
	repokit.Fact(t, r, "", "one")
	all := watching(t, r, history.WatchOptions{Since: "0"})
	var got []string
	for range 2 {
		op, err := all()
		got = append(got, told(t, op, err))
	}
	two := repokit.Fact(t, r, "", "two")
	op, err := all()
	got = append(got, told(t, op, err))
	must.Equal(t, op.Branches[0].To.CID(), two, "operation")
	must.Equal(t, op.Operation.Actor, repokit.By.Author, "operation")
	must.Get(r.Branches().Create(t.Context(), "side", "HEAD", core.RefOptions{Stamp: repokit.By}))(t)
	repokit.Lines(t, r, `{"node":{"key":"one","summary":"more"}}`)
	must.Get(history.Undo(t.Context(), r, "", repokit.By))(t)
	for range 3 {
		op, err := all()
		got = append(got, told(t, op, err))
	}
	want := []string{
		"1 HEAD",
		"2 refs/heads/main refs/heads/main:1+0-0/0",
		"3 refs/heads/main refs/heads/main:1+0-0/0",
		"4 refs/heads/side refs/heads/side:?",
		"5 refs/heads/main refs/heads/main:0+1-0/0",
		"6 refs/heads/main refs/heads/main:0+1-0/0",
	}
	must.Same(t, got, want)
	for since, want := range map[string]string{
		op.CID.String(): want[3], "op:3": want[3], "@~1": want[5], "2": want[2],
	} {
		op, err := watching(t, r, history.WatchOptions{Since: since})()
		must.Equal(t, told(t, op, err), want, "since ", since)
	}
}

// TestWatchSaysWhereToRestart collects the operations at which a watch should begin, and those that a slow one
// had not reached.
func TestWatchSaysWhereToRestart(t *testing.T) {
	r, _ := repokit.OverMem(t)
	repokit.Fact(t, r, "", "one")
	first := must.Get(r.OpLog().Find(t.Context(), "2"))(t)
	slow := watching(t, r, history.WatchOptions{Since: "1"})
	op, err := slow()
	must.Equal(t, told(t, op, err), "2 refs/heads/main refs/heads/main:1+0-0/0")
	for i := range 20 {
		repokit.Fact(t, r, "", fmt.Sprint(i))
	}
	res := repokit.Gc(t, r, 5)
	lost := func(name string, err error) string {
		t.Helper()
		var lost *history.HorizonError
		must.Require(t, errors.As(err, &lost) && errors.Is(err, store.ErrNotFound), "%s: %v", name, err)
		must.Equal(t, lost.Seq, res.Horizon, name, ": restart from")
		return lost.Oldest.String()
	}
	// Operations read before the collection are reported; others are not skipped silently.
	for err == nil {
		before := op.Operation.Seq
		if op, err = slow(); err == nil && op.Operation.Seq != before+1 {
			t.Fatalf("operation %d after %d", op.Operation.Seq, before)
		}
	}
	oldest := lost("a slow watch", err)
	for _, since := range []string{"0", "2", first.CID.String(), fmt.Sprint(res.Horizon - 1)} {
		_, err := watching(t, r, history.WatchOptions{Since: since})()
		must.Equal(t, lost(since, err), oldest, "since ", since)
	}
	op = must.Get(watching(t, r, history.WatchOptions{Since: oldest})())(t, "from the oldest")
	must.Equal(t, op.Operation.Seq, res.Horizon+1, "from the oldest")
}

func TestWatchEnds(t *testing.T) {
	r := must.Get(care.New(t.Context(), mem.New(), repokit.By, core.Options{}))(t)
	ctx, cancel := context.WithCancel(t.Context())
	ends := make(chan error)
	for _, ctx := range []context.Context{ctx, t.Context()} {
		go func() {
			for _, err := range history.Watch(ctx, r, history.WatchOptions{}) {
				ends <- err
			}
		}()
	}
	cancel()
	must.Fail(t, <-ends, context.Canceled)
	must.OK(t, r.Close())
	must.Fail(t, <-ends, store.ErrClosed)
}

// TestWatchersSeeEveryOperation has writers commit concurrently while watchers follow, and one stops and resumes
// repeatedly: each sees every operation once and in order.
func TestWatchersSeeEveryOperation(t *testing.T) {
	const writers, each, watchers = 4, 25, 3
	r := repokit.OpenMem(t)
	repokit.Fact(t, r, "", "hub")
	last := uint64(2 + writers*each)
	var group sync.WaitGroup
	for w := range watchers {
		group.Go(func() {
			since, want := "2", uint64(3)
			for want <= last {
				steps := 0
				for op, err := range history.Watch(t.Context(), r, history.WatchOptions{Since: since}) {
					if err != nil {
						t.Error(err)
						return
					}
					if op.Operation.Seq != want {
						t.Errorf("watcher %d: operation %d, want %d", w, op.Operation.Seq, want)
						return
					}
					since, want = op.CID.String(), want+1
					if steps++; want > last || w == 0 && steps == 3 {
						break
					}
				}
			}
		})
	}
	for w := range writers {
		group.Go(func() {
			err := repokit.WriteFacts(t.Context(), r, fmt.Sprint("w", w), each)
			must.True(t, err == nil, "%v", err)
		})
	}
	group.Wait()
	var seen []graph.RefName
	op := must.Get(watching(t, r, history.WatchOptions{Since: fmt.Sprint(last - 1)})())(t)
	for _, b := range op.Branches {
		seen = append(seen, b.Name)
	}
	must.Same(t, seen, []graph.RefName{"refs/heads/main"})
}
