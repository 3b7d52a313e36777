package synthkit

import (
	"context"
	"fmt"
	"iter"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/synth"
	"github.com/mnem-project/mnem/ipld"
)

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
