package synthkit

import (
	"context"
	"fmt"
	"iter"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory/remember"
	"github.com/mnem-project/mnem/internal/rank"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/synth"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// benchFacts returns MNEM_BENCH_FACTS, by default 10,000: how many facts the memory of the benchmarks has.
func benchFacts(b *testing.B) int {
	b.Helper()
	text := os.Getenv("MNEM_BENCH_FACTS")
	if text == "" {
		return 10_000
	}
	n, err := strconv.Atoi(text)
	must.Require(b, err == nil && n >= synth.LoadBatch && n <= synth.MaxNodes,
		"MNEM_BENCH_FACTS: %q is no number from %d to %d", text, synth.LoadBatch, synth.MaxNodes)
	return n
}

// question asks for one of n facts by words that it shares with many and a name of its own.
func (s *Synth) question(i, n int) string {
	f := strings.Fields(s.Fact(i * 7919 % n))
	return strings.Join([]string{"which host serves the", f[1], "of", f[18], f[19]}, " ")
}

// BenchmarkMemory times the main verbs in a memory on disk that grew as memories of agents do: see Load.
func BenchmarkMemory(b *testing.B) {
	facts := benchFacts(b)
	dir, w := b.TempDir(), &world{Synth: New(1, facts, 0, 0)}
	r, err := care.Init(b.Context(), dir, w.stamp(), core.Options{})
	if err == nil {
		err = w.Load(b.Context(), r, synth.LoadOptions{Author: "agent", Facts: facts - synth.LoadBatch, Commits: synth.LoadBatch})
	}
	if err == nil {
		err = r.Close()
	}
	must.OK(b, err)
	next := facts
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			within(b, dir, func(r *core.Repo) { must.OK(b, must.Err(r.Snapshot(b.Context(), "HEAD"))) })
		}
	})
	b.Run("retrieve-cold", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			within(b, dir, func(r *core.Repo) { w.retrieve(b, r, i) })
		}
	})
	within(b, dir, func(r *core.Repo) {
		b.Run("retrieve-warm", func(b *testing.B) {
			for i := range 100 {
				w.retrieve(b, r, i)
			}
			for i := 100; b.Loop(); i++ {
				w.retrieve(b, r, i)
			}
		})
		m := remember.New(r)
		add := func(b *testing.B, n int) {
			reqs := make([]remember.Request, n) // without times: a batch with some is decided one by one
			for i := range reqs {
				reqs[i].Text = w.Fact(next + i)
			}
			next += n
			opt := remember.WriteOptions{CommitOptions: core.CommitOptions{Stamp: synth.Stamp("agent", "remember")}}
			opt.Time = synth.FactTime(next)
			must.OK(b, must.Err(m.RememberAll(b.Context(), opt, reqs)))
		}
		b.Run("remember", func(b *testing.B) {
			for b.Loop() {
				add(b, 1)
			}
		})
		b.Run("remember-batch", func(b *testing.B) {
			for b.Loop() {
				add(b, synth.LoadBatch)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(synth.LoadBatch*b.N), "ns/fact")
		})
		b.Run("commit", func(b *testing.B) {
			for b.Loop() {
				must.OK(b, w.commitOne(b.Context(), r))
			}
		})
		few := &world{Synth: New(1, diffChanges, 0, 0)}
		_, err := r.Commit(b.Context(), few.Changes(), core.CommitOptions{Stamp: w.stamp(), Message: "few"})
		if err == nil {
			err = few.edit(b.Context(), r, 0, diffChanges)
		}
		must.OK(b, err)
		b.Run("diff", func(b *testing.B) {
			for b.Loop() {
				must.OK(b, walkDiff(b.Context(), r))
			}
		})
	})
}

// within opens a repository for fn.
func within(b *testing.B, dir string, fn func(*core.Repo)) {
	b.Helper()
	r := must.Get(care.Open(dir, core.Options{}))(b)
	fn(r)
	must.OK(b, r.Close())
}

// retrieve asks for a fact, which must find something.
func (w *world) retrieve(b *testing.B, r *core.Repo, i int) {
	b.Helper()
	s := must.Get(r.Snapshot(b.Context(), "HEAD"))(b)
	answer, err := rank.Retrieve(b.Context(), s, retrieve.Request{Text: w.question(i, w.Nodes)})
	must.Require(b, err == nil && len(answer.Items) != 0, "nothing found %v", err)
}

// diffChanges is how many nodes a diff is about.
const diffChanges = 100

// world changes a repository that holds the nodes of a Synth.
type world struct {
	*Synth
	added int64 // nodes and edits so far, so that each is new
}

// stamp is later than everything that is made up.
func (w *world) stamp() state.Stamp {
	return state.Stamp{Author: "bench", Command: []string{"bench", "perf"}, Time: synth.FactTime(synth.MaxNodes)}
}

// oneNode yields a node that was not there before.
func (w *world) oneNode() iter.Seq2[graph.Change, error] {
	i := w.Nodes + int(w.added)
	w.added++
	return func(yield func(graph.Change, error) bool) {
		n, err := w.Node(i)
		yield(graph.Change{Node: n}, err)
	}
}

func (w *world) commitOne(ctx context.Context, r *core.Repo) error {
	_, err := r.Commit(ctx, w.oneNode(), core.CommitOptions{Stamp: w.stamp(), Message: "one"})
	return err
}

// edit commits a change of a property of some nodes, spread over the memory.
func (w *world) edit(ctx context.Context, r *core.Repo, from, nodes int) error {
	w.added++
	step := w.Nodes / nodes
	changes := func(yield func(graph.Change, error) bool) {
		for i := range nodes {
			c := graph.Change{Node: &graph.NodeChange{Key: w.Key(from + i*step), Props: []ipld.Entry{
				{Key: "n", Value: ipld.IntValue(synth.MaxNodes + w.added)},
			}}}
			if !yield(c, nil) {
				return
			}
		}
	}
	_, err := r.Commit(ctx, changes, core.CommitOptions{Stamp: w.stamp(), Message: "edit"})
	return err
}

// walkDiff compares HEAD, which changed diffChanges nodes, with the commit before it.
func walkDiff(ctx context.Context, r *core.Repo) error {
	before, err := r.Snapshot(ctx, "HEAD~1")
	if err != nil {
		return err
	}
	after, err := r.Snapshot(ctx, "HEAD")
	if err != nil {
		return err
	}
	d, n := before.Diff(after), 0
	for _, err := range d.Nodes(ctx) {
		if err != nil {
			return err
		}
		n++
	}
	for _, err := range d.Edges(ctx) {
		if err != nil {
			return err
		}
	}
	if n != diffChanges {
		return fmt.Errorf("a diff of %d nodes, want %d", n, diffChanges)
	}
	return nil
}
