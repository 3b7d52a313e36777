package repo

import (
	"bytes"
	"context"
	"iter"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/parallel"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
)

// bulkEdges is how many edges a commit has at least that is a bulk.
const bulkEdges = 1 << 10

// bulk is a commit that has more than twice the edges of the state before. What it has is mostly there in
// the newest commit still, whose trees are read from end to end in any case, so that it is checked after that.
type bulk struct {
	s      *Snapshot
	before *state
}

// bulky checks the commits that were left for last.
func (f *fsck) bulky() error {
	for _, b := range f.bulks {
		f.change(b.s, b.before)
		if err := f.ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// nearShare is how many edges a state has at least for each chunk that is read to compare it with another
// one: two chunks of edges, of which it has a whole tree to read otherwise.
const nearShare = 32

// likeWhole reports whether the edges of a state are good by what it has otherwise than a state that was
// read from end to end and has good ones, of which most are the same.
func (f *fsck) likeWhole(s *state) bool {
	return slices.ContainsFunc(f.good, func(g *state) bool {
		return f.near(g, s) && f.goodEdges(s, g) && f.noneLeft(s, g)
	})
}

// near reports whether two states have most nodes and edges in common.
func (f *fsck) near(a, b *state) bool {
	most := b.edges.Len() / nearShare
	for _, pair := range [][2]*prolly.Map{{a.nodes, b.nodes}, {a.edges, b.edges}} {
		n, exact, err := prolly.CountDiffWithin(f.ctx, pair[0], pair[1], int(most))
		if err != nil || !exact || n.Removed > most {
			return false
		}
	}
	return true
}

// noneLeft reports whether a state has no edges of nodes that it does not have and another one has.
func (f *fsck) noneLeft(s, other *state) bool {
	for c, err := range prolly.Diff(f.ctx, other.nodes, s.nodes) {
		if err != nil {
			return false
		}
		for _, tree := range []*prolly.Map{s.out, s.in} {
			if c.New != nil {
				break
			}
			for range tree.ScanPrefix(f.ctx, c.Key) {
				return false
			}
		}
	}
	return true
}

// goodEdges reports whether the records of changed edges are good, the adjacency trees changed
// exactly as they did, and the ends of new ones are there: from what is known of the records, by the
// sums of hashes of entries, each tree read once in its order, all three at the same time. What it cannot
// say so of is looked at one by one.
func (f *fsck) goodEdges(s, before *state) bool {
	edges, out, in := f.edgeSums(s)
	sums := []*treeSum{edges, out, in}
	_ = parallel.Do(
		func() error { edges.differences(f.ctx, before.edges, s.edges); return nil },
		func() error { out.differences(f.ctx, before.out, s.out); return nil },
		func() error { in.differences(f.ctx, before.in, s.in); return nil },
	)
	return addUp(sums)
}

// addUp reports whether the sums of the trees of edges, out and in are good and fit.
func addUp(sums []*treeSum) bool {
	for _, t := range sums {
		if !t.good {
			return false
		}
	}
	return sums[0].sum == sums[1].sum+sums[2].sum
}

// treeSum adds up the hashes of the entries that edges have, or that a tree out or in has.
type treeSum struct {
	of   func(key, value []byte) (entries uint64, ok bool)
	ends *prolly.Map // which has what the keys of new entries begin with; nil where that is no node
	end  []byte      // the last one that is there
	sum  uint64
	good bool // whether all entries could be added
}

func (f *fsck) edgeSums(s *state) (edges, out, in *treeSum) {
	tree := func(name byte) *treeSum {
		of := func(key, value []byte) (uint64, bool) { return f.known.entry(name, key, value), true }
		return &treeSum{of: of, ends: s.nodes}
	}
	known := func(key, item []byte) (uint64, bool) { return f.known.has(roleEdge, key, item) }
	return &treeSum{of: known}, tree('o'), tree('i')
}

// differences adds what a tree got, less what it lost.
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

// add adds an entry, and reports whether it could and the node it is about is there.
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

// over yields entries of a whole tree, and adds them.
func (t *treeSum) over(
	ctx context.Context, entries iter.Seq2[prolly.Entry, error],
) iter.Seq2[prolly.Entry, error] {
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

// edgeWatch adds up the edges of a state and the entries of its trees out and in while these are read from
// end to end. Nil watches nothing.
type edgeWatch struct {
	maps []*prolly.Map // edges, out and in
	sums []*treeSum    // of these
}

// watchEdges returns a watch of a state that a bulk may be like, nil for others.
func (f *fsck) watchEdges(s *state) *edgeWatch {
	maps := []*prolly.Map{s.edges, s.out, s.in}
	like := func(b bulk) bool { return b.s.state.edges.Len() >= s.edges.Len()/2 }
	read := func(m *prolly.Map) bool { return f.trees[m.Root()] }
	if s.out.Root() == s.in.Root() || !slices.ContainsFunc(f.bulks, like) || slices.ContainsFunc(maps, read) {
		return nil
	}
	edges, out, in := f.edgeSums(s)
	return &edgeWatch{maps, []*treeSum{edges, out, in}}
}

// trees returns the trees that are watched and not among others.
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

// over yields the entries of a tree, and adds them where it is watched.
func (w *edgeWatch) over(
	ctx context.Context, m *prolly.Map, entries iter.Seq2[prolly.Entry, error],
) iter.Seq2[prolly.Entry, error] {
	if w == nil || !slices.Contains(w.maps, m) {
		return entries
	}
	return w.sums[slices.Index(w.maps, m)].over(ctx, entries)
}

// read reads a tree that is watched, and sets shape where that is good.
func (w *edgeWatch) read(ctx context.Context, m *prolly.Map, shape *bool) {
	for _, err := range w.over(ctx, m, m.ScanChecked(ctx, shape)) {
		if err != nil {
			return
		}
	}
}

// good reports whether all edges are good: their records, the trees out and in, and their ends.
func (w *edgeWatch) good() bool { return w != nil && addUp(w.sums) }
