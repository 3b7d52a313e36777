package care

import (
	"context"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
)

// circles finds nodes of a branch that supersede each other in a cycle. None can be written any more, but older
// commits may have some. Only the newest commit of a branch is checked.
func (f *FsckRun) circles(ref core.Ref) {
	s, err := f.Repo.At(f.Ctx, ref.Target)
	if err != nil {
		return // reported when the commit was checked
	}
	found, err := allCircles(f.Ctx, f.Repo, s.State)
	if err != nil {
		f.fail(ref.Target, FsckRecord, err)
		return
	}
	for _, circle := range found {
		names := make([]string, min(len(circle), state.MaxCircle))
		for i := range names {
			names[i] = circle[i].String()
		}
		f.add(ref.Target, FsckCircle, "branch %s: %d nodes are hidden, each superseded by the next and the "+
			"last by the first: %s; --repair takes the oldest mark of them off",
			core.BranchName(ref.Name), len(circle), strings.Join(names, ", "))
	}
}

// allCircles returns all cycles of a state.
func allCircles(ctx context.Context, r *core.Repo, s *state.State) ([][]graph.ID, error) {
	none, err := state.EmptyTree(ctx, prolly.NewNodes(store.NewStage(r.Facts(), 0), r.Trees))
	if err != nil {
		return nil, err
	}
	return state.Circles(ctx, none, s)
}

// breakCircles removes the oldest mark of each cycle of superseding nodes, in one commit for each affected branch,
// and describes what it did. The latest statement then wins.
func breakCircles(ctx context.Context, r *core.Repo, by state.Stamp) (done []string, err error) {
	branches, err := r.Branches().List(ctx)
	if err != nil {
		return nil, err
	}
	for _, b := range branches {
		if b.Name == string(graph.Head) || !b.Commit.Defined() {
			continue
		}
		s, err := r.At(ctx, b.Commit)
		if err != nil {
			return done, err
		}
		found, err := allCircles(ctx, r, s.State)
		if err != nil {
			return done, err
		}
		var changes []graph.Change
		for _, circle := range found {
			id, err := oldestMark(ctx, s, circle)
			if err != nil {
				return done, err
			}
			ref := &graph.MarkRef{Node: graph.Ref{ID: id}}
			changes = append(changes, graph.Change{Remove: &graph.Removal{Mark: ref}})
		}
		if len(changes) == 0 {
			continue
		}
		res, err := r.Commit(ctx, func(yield func(graph.Change, error) bool) {
			for _, c := range changes {
				if !yield(c, nil) {
					return
				}
			}
		}, core.CommitOptions{
			Stamp: by, Branch: b.Name, Expect: &b.Commit, Message: "fsck: show nodes that hid each other",
		})
		if err != nil {
			return done, err
		}
		done = append(done, fmt.Sprintf("took marks off branch %s by which nodes hid each other, of %d circles: commit %s",
			b.Name, len(changes), res.Commit))
	}
	return done, nil
}

// oldestMark returns the node of a cycle with the oldest mark; if several are equally old, the one with the least id.
func oldestMark(ctx context.Context, s *core.Snapshot, circle []graph.ID) (graph.ID, error) {
	var oldest *graph.Mark
	for _, id := range circle {
		c, err := state.Lookup(ctx, s.State.Marks, graph.MarkKey(graph.OnNode, id))
		if err != nil {
			return id, err
		}
		m, err := commit.ReadMark(ctx, s.State.Get, c)
		if err != nil {
			return id, err
		}
		if oldest == nil || m.Time < oldest.Time || m.Time == oldest.Time && m.ID.Compare(oldest.ID) < 0 {
			oldest = m
		}
	}
	return oldest.ID, nil
}
