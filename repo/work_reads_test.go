package repo_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
	"github.com/mnem-project/mnem/store/mem"
)

// TestWorkOfReads bounds what work reads that is not about everything, with nothing cached: ten times
// the memory may make it read twice as much, not ten times.
func TestWorkOfReads(t *testing.T) {
	effort.Alone(t)
	ctx := context.Background()
	ask := func(req retrieve.Request) func(*testing.T, *repo.Repo) {
		return func(t *testing.T, r *repo.Repo) {
			a, err := head(t, r).Retrieve(ctx, req)
			if err != nil || len(a.Items) == 0 {
				t.Errorf("%+v, %v", a, err)
			}
		}
	}
	log := func(opt repo.LogOptions, want int) func(*testing.T, *repo.Repo) {
		return func(t *testing.T, r *repo.Repo) {
			n, err := 0, error(nil)
			for _, err = range r.History(ctx, opt) {
				must(t, err)
				n++
			}
			if n != want {
				t.Errorf("%d commits, want %d", n, want)
			}
		}
	}
	id := graph.NodeID("n7")
	last := make(map[string]int64)
	for _, n := range []int{1_000, effort.Pick(8_000, 10_000, 10_000)} {
		st := memory(t, n)
		measure(t, st, func(r *repo.Repo) { lines(t, r, `{"node":{"key":"n7","props":{"n":-1}}}`) })
		for _, c := range []struct {
			name string
			fn   func(*testing.T, *repo.Repo)
			most int64
		}{
			{"opening", func(t *testing.T, r *repo.Repo) { head(t, r) }, 12},
			// 92 of 8,000 nodes, 50 plainly: the other 42 are of the 20 candidates that are compared
			// and the 50 that get bands.
			{"retrieval", ask(retrieve.Request{Text: "w77", Expand: new(0)}), 110},
			{"retrieval with expansion", ask(retrieve.Request{Text: "w77"}), 400},
			{"blame", func(t *testing.T, r *repo.Repo) {
				list, err := head(t, r).Blame(ctx, id)
				if err != nil || len(list) == 0 {
					t.Errorf("%v, %v", list, err)
				}
			}, 60},
			{"log", log(repo.LogOptions{}, 2), 60},
			{"titles", func(t *testing.T, r *repo.Repo) {
				if got := titleOf(t, r, repo.Titler{Now: head(t, r), Tip: head(t, r)}); got == "" {
					t.Error("no title")
				}
			}, 60},
			{"log of a node", log(repo.LogOptions{Node: id}, 2), 60},
			{"undo", func(t *testing.T, r *repo.Repo) {
				_, err := r.Undo(ctx, "", by)
				must(t, err)
			}, 40},
		} {
			w := measure(t, st, func(r *repo.Repo) { c.fn(t, r) })
			reads := w.facts.BlocksRead + w.derived.BlocksRead
			t.Logf("%d nodes, %s: %v", n, c.name, w)
			before, ok := last[c.name]
			if c.most > 100 {
				ok = false // it goes to as many nodes as its parameters say, where there are
			}
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
	r, err := repo.New(ctx, st, by, repo.Options{})
	must(t, err)
	lines(t, r, `{"node":{"key":"a","type":"T"}}`)
	for i := range commits {
		lines(t, r, fmt.Sprintf(`{"node":{"key":"n%d","type":"T","summary":"note %d"}}`, i, i))
	}
	lines(t, r, `{"node":{"key":"a","type":"U","replace":true}}`)
	newest := measure(t, st, func(r *repo.Repo) {
		for _, err := range r.Log(ctx, "HEAD") {
			must(t, err)
			break
		}
	})
	undo := measure(t, st, func(r *repo.Repo) {
		_, err := r.Undo(ctx, "", by)
		must(t, err)
	})
	old := measure(t, st, func(r *repo.Repo) {
		_, err := head(t, r).Blame(ctx, graph.NodeID("a"))
		must(t, err)
	})
	t.Logf("%d commits: newest of the log %v; undo %v; blame of the first %v", commits, newest, undo, old)
	if newest.facts.BlocksRead > 30 || undo.facts.BlocksRead > 40 {
		t.Errorf("newest of the log %v, undo %v", newest, undo)
	}
	// A commit, its graph and one path for each commit.
	if old.facts.BlocksRead > 6*commits {
		t.Errorf("blame of the first read %d blocks", old.facts.BlocksRead)
	}
	var kept int
	gc := measure(t, st, func(r *repo.Repo) {
		res, err := r.GC(ctx, repo.GCOptions{Stamp: by, KeepOps: 1, DryRun: true})
		must(t, err)
		kept = res.Kept + res.Blocks
	})
	t.Logf("gc of %d blocks: %v", kept, gc)
	// It reads each block once to mark what it leads to, and once to see whether it stays.
	if reads := gc.facts.BlocksRead + gc.derived.BlocksRead; reads > 2*int64(kept) {
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
	r, err := repo.New(ctx, st, by, repo.Options{})
	must(t, err)
	lines(t, r, `{"node":{"key":"a","type":"T","summary":"zebra"}}`)
	lines(t, r, `{"node":{"key":"b","type":"T","summary":"zebra too"}}`)
	must(t, st.Derived().Clear(ctx))
	_, err = head(t, r).Retrieve(ctx, retrieve.Request{Text: "zebra"}) // makes one
	must(t, err)
	waiting, gate := make(chan struct{}), make(chan struct{})
	slow, err := repo.New(ctx, &gated{st, sync.OnceFunc(func() { close(waiting) }), gate}, by,
		repo.Options{})
	must(t, err)
	_, err = head(t, slow).Retrieve(ctx, retrieve.Request{Text: "zebra"})
	must(t, err)
	before, err := slow.Snapshot(ctx, "HEAD~1")
	must(t, err)
	done := make(chan error)
	go func() {
		_, err := before.Retrieve(ctx, retrieve.Request{Text: "zebra"})
		done <- err
	}()
	<-waiting
	a, err := head(t, slow).Retrieve(ctx, retrieve.Request{Text: "zebra"}) // would hang
	if err != nil || len(a.Items) != 2 {
		t.Errorf("%+v, %v", a, err)
	}
	close(gate)
	must(t, <-done)
}

// TestWorkOfOperationLog bounds what telling all operations reads: each, and what it left of the refs,
// once.
func TestWorkOfOperationLog(t *testing.T) {
	ctx := context.Background()
	st := mem.New()
	const ops = 200
	r, err := repo.New(ctx, st, by, repo.Options{})
	must(t, err)
	for i := range ops {
		lines(t, r, fmt.Sprintf(`{"node":{"key":"n%d","type":"T"}}`, i))
	}
	for _, most := range []int{1, ops} {
		n := 0
		w := measure(t, st, func(r *repo.Repo) {
			for e, err := range r.Operations(ctx) {
				must(t, err)
				if len(e.Refs) == 0 {
					t.Errorf("operation %d moved nothing", e.Operation.Seq)
				}
				if n++; n == most {
					break
				}
			}
		})
		t.Logf("%d operations: %v", n, w)
		if n != most || w.facts.BlocksRead > int64(2*most+20) {
			t.Errorf("%d operations of %d read %v", n, most, w)
		}
	}
}
