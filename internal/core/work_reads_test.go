package core_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/retrieve"
)

// TestWorkOfReads bounds what work reads that is not about everything, with nothing cached: ten times the memory may
// make it read twice as much, not ten times. Package synth does so for openings, retrievals, logs, commits and diffs.
func TestWorkOfReads(t *testing.T) {
	effort.Alone(t)
	ctx := context.Background()
	log := func(opt history.LogOptions, want int) func(*testing.T, *core.Repo) {
		return func(t *testing.T, r *core.Repo) {
			n, err := 0, error(nil)
			for _, err = range history.History(ctx, r, opt) {
				must.OK(t, err)
				n++
			}
			must.Equal(t, n, want, "commits")
		}
	}
	id := graph.NodeID("n7")
	last := make(map[string]int64)
	for _, n := range []int{1_000, effort.Pick(8_000, 10_000, 10_000)} {
		st := repokit.Memory(t, n)
		repokit.Measure(t, st, func(r *core.Repo) { repokit.Lines(t, r, `{"node":{"key":"n7","props":{"n":-1}}}`) })
		for _, c := range []struct {
			name string
			fn   func(*testing.T, *core.Repo)
			most int64
		}{
			{"blame", func(t *testing.T, r *core.Repo) {
				list, err := history.Blame(ctx, repokit.Head(t, r), id)
				must.Check(t, err == nil && len(list) != 0, "%v, %v", list, err)
			}, 60},
			{"titles", func(t *testing.T, r *core.Repo) {
				if got := repokit.TitleOf(t, r, history.Titler{Now: repokit.Head(t, r), Tip: repokit.Head(t, r)}); got == "" {
					t.Error("no title")
				}
			}, 60},
			{"log of a node", log(history.LogOptions{Node: id}, 2), 60},
			{"undo", func(t *testing.T, r *core.Repo) {
				must.Get(history.Undo(ctx, r, "", repokit.By))(t)
			}, 40},
		} {
			w := repokit.Measure(t, st, func(r *core.Repo) { c.fn(t, r) })
			reads := w.Facts.BlocksRead + w.Derived.BlocksRead
			t.Logf("%d nodes, %s: %v", n, c.name, w)
			before, ok := last[c.name]
			if reads > c.most || ok && reads > 2*before+10 {
				t.Errorf("%d nodes: %s read %d blocks, %d in a tenth of it, want %d at most",
					n, c.name, reads, before, c.most)
			}
			last[c.name] = reads
		}
	}
}

// TestWorkOfLongHistory bounds what the newest of a log and undo read where many commits came before,
// what blame reads for each commit that it goes back through, and what a collection reads.
func TestWorkOfLongHistory(t *testing.T) {
	ctx := context.Background()
	st := mem.New()
	const commits = 300
	r := must.Get(care.New(ctx, st, repokit.By, core.Options{}))(t)
	repokit.Lines(t, r, `{"node":{"key":"a","type":"T"}}`)
	for i := range commits {
		repokit.Lines(t, r, fmt.Sprintf(`{"node":{"key":"n%d","type":"T","summary":"note %d"}}`, i, i))
	}
	repokit.Lines(t, r, `{"node":{"key":"a","type":"U","replace":true}}`)
	newest := repokit.Measure(t, st, func(r *core.Repo) {
		for _, err := range history.Log(ctx, r, "HEAD") {
			must.OK(t, err)
			break
		}
	})
	undo := repokit.Measure(t, st, func(r *core.Repo) {
		must.Get(history.Undo(ctx, r, "", repokit.By))(t)
	})
	old := repokit.Measure(t, st, func(r *core.Repo) {
		must.Get(history.Blame(ctx, repokit.Head(t, r), graph.NodeID("a")))(t)
	})
	t.Logf("%d commits: newest of the log %v; undo %v; blame of the first %v", commits, newest, undo, old)
	must.Check(t, newest.Facts.BlocksRead <= 30 && undo.Facts.BlocksRead <= 40,
		"newest of the log %v, undo %v", newest, undo)
	// A commit, its graph and one path for each commit.
	must.Check(t, old.Facts.BlocksRead <= 6*commits, "blame of the first read %d blocks", old.Facts.BlocksRead)
	var kept int
	gc := repokit.Measure(t, st, func(r *core.Repo) {
		res := must.Get(care.GC(ctx, r, care.GCOptions{Stamp: repokit.By, KeepOps: 1, DryRun: true}))(t)
		kept = res.Kept + res.Blocks
	})
	t.Logf("gc of %d blocks: %v", kept, gc)
	// It reads each block once to mark what it leads to, and once to see whether it stays.
	if reads := gc.Facts.BlocksRead + gc.Derived.BlocksRead; reads > 2*int64(kept) {
		t.Errorf("gc of %d blocks read %d", kept, reads)
	}
}

// gated is a store whose derived blocks cannot be written until the gate opens.
type gated struct {
	store.Store
	waits func()
	gate  chan struct{}
}

func (g *gated) Derived() store.Derived { return gatedDerived{g.Store.Derived(), g} }

type gatedDerived struct {
	store.Derived
	g *gated
}

func (d gatedDerived) Put(ctx context.Context, blocks ...store.Block) error {
	d.g.waits()
	<-d.g.gate
	return d.Derived.Put(ctx, blocks...)
}

// TestReadersDoNotWait asks a memory whose index is open while someone makes the index of another.
func TestReadersDoNotWait(t *testing.T) {
	ctx := context.Background()
	st := mem.New()
	r := must.Get(care.New(ctx, st, repokit.By, core.Options{}))(t)
	repokit.Lines(t, r, `{"node":{"key":"a","type":"T","summary":"zebra"}}`)
	repokit.Lines(t, r, `{"node":{"key":"b","type":"T","summary":"zebra too"}}`)
	must.OK(t, st.Derived().Clear(ctx))
	_, err := rank.Retrieve(ctx, repokit.Head(t, r), retrieve.Request{Text: "zebra"}) // makes one
	must.OK(t, err)
	waiting, gate := make(chan struct{}), make(chan struct{})
	slow := must.Get(care.New(ctx, &gated{st, sync.OnceFunc(func() { close(waiting) }), gate}, repokit.By,
		core.Options{}))(t)
	must.Get(rank.Retrieve(ctx, repokit.Head(t, slow), retrieve.Request{Text: "zebra"}))(t)
	before := must.Get(slow.Snapshot(ctx, "HEAD~1"))(t)
	done := make(chan error)
	go func() {
		_, err := rank.Retrieve(ctx, before, retrieve.Request{Text: "zebra"})
		done <- err
	}()
	<-waiting
	a, err := rank.Retrieve(ctx, repokit.Head(t, slow), retrieve.Request{Text: "zebra"}) // would hang
	must.OK(t, err)
	must.Equal(t, len(a.Items), 2)
	close(gate)
	must.OK(t, <-done)
}
