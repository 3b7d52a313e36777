package care

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/parallel"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// bulkEdges is the least number of edges of a bulk commit.
const bulkEdges = 1 << 10

// bulk is a commit that more than doubles the number of edges. Most of its edges are usually still in the newest
// commit, whose trees are read completely in any case, so it is checked after that.
type bulk struct {
	S      *core.Snapshot
	before *state.State
}

func (f *FsckRun) bulky() error {
	for _, b := range f.Bulks {
		f.change(b.S, b.before)
		if err := f.Ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// nearShare is the least number of edges of a state for each chunk read to compare it with another: two chunks of
// edges, as opposed to reading the whole tree.
const nearShare = 32

// LikeWhole reports whether the edges of a state are good, judged by its differences from a similar state that was
// read completely and has good edges.
func (f *FsckRun) LikeWhole(s *state.State) bool {
	return slices.ContainsFunc(f.good, func(g *state.State) bool {
		return f.near(g, s) && f.goodEdges(s, g) && f.noneLeft(s, g)
	})
}

// near reports whether two states have most nodes and edges in common.
func (f *FsckRun) near(a, b *state.State) bool {
	most := b.Edges.Len() / nearShare
	for _, pair := range [][2]*prolly.Map{{a.Nodes, b.Nodes}, {a.Edges, b.Edges}} {
		n, exact, err := prolly.CountDiffWithin(f.Ctx, pair[0], pair[1], int(most))
		if err != nil || !exact || n.Removed > most {
			return false
		}
	}
	return true
}

// noneLeft reports whether a state has no edges at nodes that only another state has.
func (f *FsckRun) noneLeft(s, other *state.State) bool {
	for c, err := range prolly.Diff(f.Ctx, other.Nodes, s.Nodes) {
		if err != nil {
			return false
		}
		for _, tree := range []*prolly.Map{s.Out, s.In} {
			if c.New != nil {
				break
			}
			for range tree.ScanPrefix(f.Ctx, c.Key) {
				return false
			}
		}
	}
	return true
}

// goodEdges reports whether the records of changed edges are good, the adjacency trees changed accordingly, and the
// ends of new edges exist. It uses what is known of the records and compares sums of hashes of entries, reading the
// three trees concurrently, each once in order. If it returns false, edges must be checked one by one.
func (f *FsckRun) goodEdges(s, before *state.State) bool {
	edges, out, in := f.edgeSums(s)
	sums := []*treeSum{edges, out, in}
	_ = parallel.Do(
		func() error { edges.differences(f.Ctx, before.Edges, s.Edges); return nil },
		func() error { out.differences(f.Ctx, before.Out, s.Out); return nil },
		func() error { in.differences(f.Ctx, before.In, s.In); return nil },
	)
	return addUp(sums)
}

// addUp reports whether the sums of the edges, out and in trees are good and match.
func addUp(sums []*treeSum) bool {
	for _, t := range sums {
		if !t.good {
			return false
		}
	}
	return sums[0].sum == sums[1].sum+sums[2].sum
}

// treeSum adds up the hashes of adjacency entries, computed from edges or read from an out or in tree.
type treeSum struct {
	of   func(key, value []byte) (entries uint64, ok bool)
	ends *prolly.Map // the tree that has the node at the beginning of each new key; nil for no check
	end  []byte      // the last one that is there
	sum  uint64
	good bool // whether all entries could be added
}

func (f *FsckRun) edgeSums(s *state.State) (edges, out, in *treeSum) {
	tree := func(name byte) *treeSum {
		of := func(key, value []byte) (uint64, bool) { return f.Known.Entry(name, key, value), true }
		return &treeSum{of: of, ends: s.Nodes}
	}
	known := func(key, item []byte) (uint64, bool) { return f.Known.Has(state.RoleEdge, key, item) }
	return &treeSum{of: known}, tree('o'), tree('i')
}

func (t *treeSum) differences(ctx context.Context, before, after *prolly.Map) {
	for c, err := range prolly.Diff(ctx, before, after) {
		if err != nil || c.Old != nil && !t.less(c.Key, c.Old) || c.New != nil && !t.add(ctx, c.Key, c.New) {
			return
		}
	}
	t.good = true
}

func (t *treeSum) less(key, value []byte) bool {
	entries, ok := t.of(key, value)
	t.sum -= entries
	return ok
}

// add adds an entry, and reports whether it is valid and its node exists.
func (t *treeSum) add(ctx context.Context, key, value []byte) bool {
	entries, ok := t.of(key, value)
	t.sum += entries
	if !ok || t.ends == nil || len(key) < graph.IDLen || bytes.Equal(t.end, key[:graph.IDLen]) {
		return ok
	}
	t.end = key[:graph.IDLen]
	_, ok, err := t.ends.Get(ctx, t.end)
	return ok && err == nil
}

// over yields the entries of a whole tree, and adds them.
func (t *treeSum) over(ctx context.Context, entries iter.Seq2[prolly.Entry, error]) iter.Seq2[prolly.Entry, error] {
	return func(yield func(prolly.Entry, error) bool) {
		good := true
		for kv, err := range entries {
			good = good && err == nil && t.add(ctx, kv.Key, kv.Value)
			if !yield(kv, err) {
				return
			}
		}
		t.good = good
	}
}

// edgeWatch adds up the edges of a state and the entries of its out and in trees while these are read completely. A
// nil edgeWatch does nothing.
type edgeWatch struct {
	maps []*prolly.Map // edges, out and in
	sums []*treeSum    // of these
}

// watchEdges returns a watch of a state that a bulk commit may resemble, or nil.
func (f *FsckRun) watchEdges(s *state.State) *edgeWatch {
	maps := []*prolly.Map{s.Edges, s.Out, s.In}
	like := func(b bulk) bool { return b.S.State.Edges.Len() >= s.Edges.Len()/2 }
	read := func(m *prolly.Map) bool { return f.Trees[m.Root()] }
	if s.Out.Root() == s.In.Root() || !slices.ContainsFunc(f.Bulks, like) || slices.ContainsFunc(maps, read) {
		return nil
	}
	edges, out, in := f.edgeSums(s)
	return &edgeWatch{maps, []*treeSum{edges, out, in}}
}

func (w *edgeWatch) trees(but map[ipld.CID]bool) (maps []*prolly.Map) {
	if w == nil {
		return nil
	}
	for _, m := range w.maps {
		if !but[m.Root()] {
			maps = append(maps, m)
		}
	}
	return maps
}

// over yields the entries of a tree, and adds them if it is watched.
func (w *edgeWatch) over(
	ctx context.Context, m *prolly.Map, entries iter.Seq2[prolly.Entry, error],
) iter.Seq2[prolly.Entry, error] {
	if w == nil || !slices.Contains(w.maps, m) {
		return entries
	}
	return w.sums[slices.Index(w.maps, m)].over(ctx, entries)
}

// read reads a watched tree, and sets shape if its shape is good.
func (w *edgeWatch) read(ctx context.Context, m *prolly.Map, shape *bool) {
	for _, err := range w.over(ctx, m, m.ScanChecked(ctx, shape)) {
		if err != nil {
			return
		}
	}
}

// good reports whether all edges are good: their records, the out and in trees, and their ends.
func (w *edgeWatch) good() bool { return w != nil && addUp(w.sums) }

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
		res, err := r.Commit(ctx, core.Each(changes), core.CommitOptions{
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
