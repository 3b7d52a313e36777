package repo

import (
	"context"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/store"
)

// circles finds nodes of a branch that supersede each other in a circle. None can be written now, but
// commits made before that was so may have some. Older commits stay as they are and are not looked at.
func (f *fsck) circles(ref Ref) {
	s, err := f.repo.At(f.ctx, ref.Target)
	if err != nil {
		return // named where the commit was checked
	}
	found, err := f.repo.allCircles(f.ctx, s.state)
	if err != nil {
		f.fail(ref.Target, FsckRecord, err)
		return
	}
	for _, circle := range found {
		names := make([]string, min(len(circle), maxCircle))
		for i := range names {
			names[i] = circle[i].String()
		}
		f.add(ref.Target, FsckCircle, "branch %s: %d nodes are hidden, each superseded by the next and the "+
			"last by the first: %s; --repair takes the oldest mark of them off",
			branchName(ref.Name), len(circle), strings.Join(names, ", "))
	}
}

// allCircles returns all circles of a state.
func (r *Repo) allCircles(ctx context.Context, s *state) ([][]graph.ID, error) {
	none, err := emptyTree(ctx, prolly.NewNodes(store.NewStage(r.facts(), 0), r.trees))
	if err != nil {
		return nil, err
	}
	return circles(ctx, none, s)
}

// breakCircles takes the oldest mark off each circle of nodes that supersede each other, in one commit
// for each branch that has some, and says what it did. What was said last stands then.
func (r *Repo) breakCircles(ctx context.Context, by Stamp) (done []string, err error) {
	branches, err := r.Branches(ctx)
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
		found, err := r.allCircles(ctx, s.state)
		if err != nil {
			return done, err
		}
		var changes []graph.Change
		for _, circle := range found {
			id, err := s.oldestMark(ctx, circle)
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
		}, CommitOptions{
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

// oldestMark returns the node of a circle whose mark is the oldest, of several that of the least id.
func (s *Snapshot) oldestMark(ctx context.Context, circle []graph.ID) (graph.ID, error) {
	var oldest *graph.Mark
	for _, id := range circle {
		c, err := lookup(ctx, s.state.marks, graph.MarkKey(graph.OnNode, id))
		if err != nil {
			return id, err
		}
		m, err := commit.ReadMark(ctx, s.state.get, c)
		if err != nil {
			return id, err
		}
		if oldest == nil || m.Time < oldest.Time || m.Time == oldest.Time && m.ID.Compare(oldest.ID) < 0 {
			oldest = m
		}
	}
	return oldest.ID, nil
}
