package perf

import (
	"context"
	"fmt"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
)

const (
	groupHub     = "hub"
	groupDiff    = "diff"
	groupHistory = "history"

	hubSamples  = 20  // for each run
	hubEdges    = 20  // of a bucket that are read
	diffChanges = 100 // nodes that differ
	blameEdits  = 20  // commits that change the node that is blamed
	logEntries  = 20  // newest commits that are listed
)

// hub reads the edges of the node that has most, and asks for it with expansion.
func (b *bench) hub(ctx context.Context) error {
	return withRepo(b.memory(), repo.Options{ReadOnly: true}, func(r *repo.Repo) error {
		s, err := r.Snapshot(ctx, "HEAD")
		if err != nil {
			return err
		}
		id := graph.NodeID(b.synth.Key(0))
		degree, err := s.Adjacency().Degree(ctx, id, adjacency.In, "")
		if err != nil {
			return err
		}
		b.add(Figure{Group: groupHub, Name: "edges to the node with most", Unit: Count,
			Stats: statsOf([]int64{int64(degree)})})
		req := retrieve.Request{Text: b.synth.Key(0)}
		var near, asked []int64
		for i := range b.samples(hubSamples) + 1 {
			b.step("hub", i, b.samples(hubSamples))
			took, err := timed(func() error { return firstEdges(ctx, s, id) })
			if err != nil {
				return err
			}
			question, err := timed(func() error {
				_, err := s.Retrieve(ctx, req)
				return err
			})
			if err != nil {
				return err
			}
			if i > 0 { // the first fills the caches
				near, asked = append(near, took), append(asked, question)
			}
		}
		b.add(Figure{Group: groupHub, Name: fmt.Sprintf("count and read %d of them", hubEdges),
			Unit: Nanoseconds, Stats: statsOf(near)})
		b.add(Figure{Group: groupHub, Name: "retrieve it and expand", Unit: Nanoseconds,
			Stats: statsOf(asked)})
		return nil
	})
}

// firstEdges does what 'mnem neighbors --in' does: it counts the edges, and reads the first with the
// nodes they come from.
func firstEdges(ctx context.Context, s *repo.Snapshot, id graph.ID) error {
	trees := s.Adjacency()
	if _, err := trees.Degree(ctx, id, adjacency.In, ""); err != nil {
		return err
	}
	n := 0
	for e, err := range trees.Bucket(ctx, id, adjacency.In, "", nil) {
		if err != nil {
			return err
		}
		if n == hubEdges {
			break
		}
		n++
		if _, _, err := s.Node(ctx, e.Other); err != nil {
			return err
		}
	}
	return nil
}

// edit commits a change of a property of some nodes, spread over the memory.
func (b *bench) edit(ctx context.Context, r *repo.Repo, from, nodes int) error {
	edits := b.added.Add(1)
	step := b.synth.Nodes / nodes
	changes := func(yield func(graph.Change, error) bool) {
		for i := range nodes {
			c := graph.Change{Node: &graph.NodeChange{Key: b.synth.Key(from + i*step), Props: []ipld.Entry{
				{Key: "n", Value: ipld.IntValue(MaxNodes + edits)},
			}}}
			if !yield(c, nil) {
				return
			}
		}
	}
	_, err := r.Commit(ctx, changes, repo.CommitOptions{Stamp: b.stamp(), Message: "edit"})
	return err
}

// diff compares two commits that differ in diffChanges nodes, with all their fields.
func (b *bench) diff(ctx context.Context) error {
	err := withRepo(b.memory(), repo.Options{}, func(r *repo.Repo) error {
		return b.edit(ctx, r, 0, diffChanges)
	})
	if err != nil {
		return err
	}
	var times []int64
	err = withRepo(b.memory(), repo.Options{ReadOnly: true}, func(r *repo.Repo) error {
		for i := range b.samples(hubSamples) + 1 {
			b.step("diff", i, b.samples(hubSamples))
			took, err := timed(func() error { return walkDiff(ctx, r) })
			if err != nil {
				return err
			}
			if i > 0 { // the first fills the caches
				times = append(times, took)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	b.add(Figure{Group: groupDiff, Name: fmt.Sprintf("diff of %d changes", diffChanges),
		Unit: Nanoseconds, Stats: statsOf(times), Bound: &Bound{Most: diffBound}})
	r, c, err := b.openCounted(ctx, b.memory())
	if err != nil {
		return err
	}
	if err = walkDiff(ctx, r); err == nil {
		b.addWork(groupDiff, "the diff, nothing cached", []Work{c.work()}, nil)
	}
	return closeAfter(r, err)
}

// walkDiff compares HEAD with the commit before it.
func walkDiff(ctx context.Context, r *repo.Repo) error {
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

// history edits one node some times and asks who did, and lists commits.
func (b *bench) history(ctx context.Context) error {
	at := b.synth.Nodes / 2
	id := graph.NodeID(b.synth.Key(at))
	err := withRepo(b.memory(), repo.Options{}, func(r *repo.Repo) error {
		for range blameEdits {
			if err := b.edit(ctx, r, at, 1); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return withRepo(b.memory(), repo.Options{ReadOnly: true}, func(r *repo.Repo) error {
		s, err := r.Snapshot(ctx, "HEAD")
		if err != nil {
			return err
		}
		commits, err := countLog(ctx, r, repo.LogOptions{}, 0)
		if err != nil {
			return err
		}
		b.add(Figure{Group: groupHistory, Name: "commits", Unit: Count,
			Stats: statsOf([]int64{int64(commits)})})
		for _, what := range []struct {
			name string
			fn   func() error
		}{
			{"blame of one node", func() error {
				_, err := s.Blame(ctx, id)
				return err
			}},
			{fmt.Sprintf("log, the newest %d", logEntries), func() error {
				_, err := countLog(ctx, r, repo.LogOptions{}, logEntries)
				return err
			}},
			{"log of one node", func() error {
				n, err := countLog(ctx, r, repo.LogOptions{Node: id}, 0)
				if err == nil && n < blameEdits {
					err = fmt.Errorf("a log of %d commits", n)
				}
				return err
			}},
		} {
			var times []int64
			for i := range b.opt.Runs + 1 {
				b.step(what.name, i, b.opt.Runs)
				took, err := timed(what.fn)
				if err != nil {
					return err
				}
				if i > 0 {
					times = append(times, took)
				}
			}
			b.add(Figure{Group: groupHistory, Name: what.name, Unit: Nanoseconds, Stats: statsOf(times)})
		}
		return nil
	})
}

// countLog lists commits, at most so many, 0 for all.
func countLog(
	ctx context.Context, r *repo.Repo, opt repo.LogOptions, most int,
) (n int, err error) {
	for _, err := range r.History(ctx, opt) {
		if err != nil {
			return n, err
		}
		if n++; n == most {
			break
		}
	}
	return n, nil
}
