package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/parallel"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/store"
)

// refs checks the graphs of the newest commits from end to end: all that refs lead to now.
func (f *fsck) refs() error {
	v, err := f.repo.current(f.ctx)
	if err != nil {
		return f.looked(err)
	}
	for ref, err := range v.list(f.ctx, "") {
		if err != nil {
			return f.looked(err)
		}
		if f.wholeImported(ref) {
			continue
		}
		namespace, _ := ref.Name.Split()
		tracked := namespace == graph.Remotes && f.kind(ref.Target) == roleSession
		if ref.Symbolic == "" && namespace != graph.Sessions && !tracked && namespace != graph.Stages &&
			!ref.isMerge() {
			f.whole(f.peel(ref.Target))
		}
		if _, branch := ref.Name.Branch(); branch {
			f.circles(ref)
		}
		if err := f.ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// history checks the commits that one reaches which were not checked before, parents included, by
// what each changed against its first parent.
func (f *fsck) history(c ipld.CID) {
	todo := []ipld.CID{c}
	for len(todo) > 0 && f.ctx.Err() == nil {
		c := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if f.seen[c] {
			continue
		}
		f.seen[c] = true
		s, err := f.repo.At(f.ctx, c)
		if err != nil {
			f.fail(c, FsckRecord, err)
			continue
		}
		f.commit(s)
		if f.opt.Full {
			f.follow(s)
		}
		todo = append(todo, s.commit.Parents...)
		f.progress("commits", len(f.seen))
	}
}

// message checks the message of a record.
func (f *fsck) message(c ipld.CID, m commit.Message) {
	if _, err := commit.ReadMessage(f.ctx, f.repo.facts(), m); err != nil {
		f.fail(c, FsckRecord, err)
	}
}

// commit checks a commit's record, its graph's record, and what it changed.
func (f *fsck) commit(s *Snapshot) {
	f.message(s.id, s.commit.Message)
	var parents []*commit.Commit
	for _, p := range s.commit.Parents {
		rec, err := f.repo.commit(f.ctx, p)
		if err != nil {
			f.fail(p, FsckRecord, err)
			return
		}
		parents = append(parents, rec)
	}
	if want := commit.HeightOver(parents...); s.commit.Height != want {
		f.add(s.id, FsckRecord, "height %d, want %d", s.commit.Height, want)
	}
	g, err := commit.ReadGraph(f.ctx, f.repo.facts(), s.state.root)
	if err != nil {
		f.fail(s.state.root, FsckRecord, err)
		return
	}
	if want := s.state.record().Counts; g.Counts != want {
		f.add(s.state.root, FsckCounts, "counts %+v, the trees have %+v", g.Counts, want)
	}
	if s.state.out.Len() != s.state.edges.Len() || s.state.in.Len() != s.state.edges.Len() {
		f.add(s.state.root, FsckAdjacency, "%d edges, %d outgoing, %d incoming",
			s.state.edges.Len(), s.state.out.Len(), s.state.in.Len())
	}
	var parent ipld.CID
	if len(s.commit.Parents) > 0 {
		parent = s.commit.Parents[0]
	}
	before, err := f.repo.At(f.ctx, parent)
	if err != nil {
		f.fail(parent, FsckRecord, err)
		return
	}
	if s.state.edges.Len() >= bulkEdges && s.state.edges.Len() > 2*before.state.edges.Len() {
		f.bulks = append(f.bulks, bulk{s, before.state})
	} else {
		f.change(s, before.state)
	}
	if s.state.profile != before.state.profile {
		f.profiles(s.state)
	}
}

// change checks what differs between the graph of a commit and one before it. By induction over a
// history it checks the whole of every graph.
func (f *fsck) change(s *Snapshot, before *state) {
	f.changedNodes(s, before)
	var needy []needs
	if !f.likeWhole(s.state) && !f.goodEdges(s.state, before) {
		f.changedEdges(s, before)
		needy = append(needy, edgeEnds(f.ctx, s.state, before))
	}
	f.changedMarks(s, before)
	f.changedVectors(s, before)
	f.changedTexts(s, before)
	needy = append(needy, markTargets(s.state, before))
	err := eachDangling(f.ctx, s.state, needy, func(d dangling) error {
		f.add(s.id, FsckDangling, "%v", d)
		return nil
	})
	if err != nil {
		f.fail(s.id, FsckTree, err)
	}
}

func (f *fsck) changedNodes(s *Snapshot, before *state) {
	for c, err := range prolly.Diff(f.ctx, before.nodes, s.state.nodes) {
		if err != nil {
			f.fail(s.id, FsckTree, err)
			return
		}
		if c.New == nil {
			f.orphans(s, c.Key)
			continue
		}
		if _, ok := f.known.has(roleNode, c.Key, c.New); ok {
			continue
		}
		n, at, err := readItem(f, c.New, commit.ReadNode)
		if err == nil && !bytes.Equal(n.ID[:], c.Key) {
			err = fmt.Errorf("node %s is kept under %x", n.ID, c.Key)
		}
		if err == nil {
			_, err = s.state.content(f.ctx, n.Content)
		}
		if err != nil {
			f.fail(at, FsckRecord, err)
		}
	}
}

// readItem reads the record that a tree value links to.
func readItem[T any](
	f *fsck, item []byte, read func(context.Context, store.Getter, ipld.CID) (*T, error),
) (*T, ipld.CID, error) {
	c, err := linkItem(item)
	if err != nil {
		return nil, c, err
	}
	rec, err := read(f.ctx, f.repo.facts(), c)
	return rec, c, err
}

// orphans checks that a removed node left no edge, mark or embedding behind.
func (f *fsck) orphans(s *Snapshot, id []byte) {
	left := []struct {
		what   string
		tree   *prolly.Map
		prefix []byte
	}{
		{"outgoing edge", s.state.out, id},
		{"incoming edge", s.state.in, id},
		{"mark", s.state.marks, graph.MarkKey(graph.OnNode, graph.ID(id))},
		{"embedding", s.state.vectors, id},
	}
	for _, l := range left {
		for _, err := range l.tree.ScanPrefix(f.ctx, l.prefix) {
			if err != nil {
				f.fail(s.id, FsckTree, err)
			} else {
				f.add(s.id, FsckDangling, "%s of node %s, which was removed", l.what, graph.ID(id))
			}
			break
		}
	}
}

// changedEdges checks the records of edges, and that the adjacency trees changed exactly as they
// did.
func (f *fsck) changedEdges(s *Snapshot, before *state) {
	if before.edges.Len()+before.out.Len()+before.in.Len() == 0 {
		f.firstEdges(s)
		return
	}
	out, in := make(map[string][]byte), make(map[string][]byte)
	for c, err := range prolly.Diff(f.ctx, before.edges, s.state.edges) {
		if err != nil {
			f.fail(s.id, FsckTree, err)
			return
		}
		for i, item := range [][]byte{c.Old, c.New} { // the new one decides where both are
			if item == nil {
				continue
			}
			e, at, err := readItem(f, item, commit.ReadEdge)
			if err == nil && !bytes.Equal(e.ID[:], c.Key) {
				err = fmt.Errorf("edge %s is kept under %x", e.ID, c.Key)
			}
			if err != nil {
				f.fail(at, FsckRecord, err)
				continue
			}
			var value []byte
			if i == 1 { // an id that was given may come back with other ends
				value = adjacency.Value(e)
			}
			out[string(adjacency.OutKey(e))] = value
			in[string(adjacency.InKey(e))] = value
		}
	}
	f.sameChange(s, "out", before.out, s.state.out, out)
	f.sameChange(s, "in", before.in, s.state.in, in)
}

// edgeBatch is how many edges of a first state are compared with the adjacency trees at once: enough
// to read these in order, with memory that does not grow with the number of edges.
const edgeBatch = 1 << 16

// firstEdges is changedEdges for a state before which there was none. That every edge has its
// entries is enough: commit checks that there are as many entries as edges.
func (f *fsck) firstEdges(s *Snapshot) {
	out, in := make(map[string][]byte), make(map[string][]byte)
	flush := func() {
		f.sameValues(s, "out", s.state.out, out)
		f.sameValues(s, "in", s.state.in, in)
		clear(out)
		clear(in)
	}
	for kv, err := range s.state.edges.Scan(f.ctx, nil, nil) {
		if err != nil {
			f.fail(s.id, FsckTree, err)
			return
		}
		e, at, err := readItem(f, kv.Value, commit.ReadEdge)
		if err == nil && !bytes.Equal(e.ID[:], kv.Key) {
			err = fmt.Errorf("edge %s is kept under %x", e.ID, kv.Key)
		}
		if err != nil {
			f.fail(at, FsckRecord, err)
			continue
		}
		out[string(adjacency.OutKey(e))] = adjacency.Value(e)
		in[string(adjacency.InKey(e))] = adjacency.Value(e)
		if len(out) == edgeBatch {
			flush()
		}
	}
	flush()
}

// sameChange checks that a tree changed at the keys of want and nowhere else, and has the values
// wanted there; nil is absent.
func (f *fsck) sameChange(s *Snapshot, name string, before, after *prolly.Map, want map[string][]byte) {
	for c, err := range prolly.Diff(f.ctx, before, after) {
		if err != nil {
			f.fail(s.id, FsckTree, err)
			return
		}
		if _, ok := want[string(c.Key)]; !ok {
			f.add(after.Root(), FsckAdjacency, "%s tree: key %x changed, but no edge did", name, c.Key)
		}
	}
	f.sameValues(s, name, after, want)
}

// sameValues checks that a tree has the values wanted; nil is absent.
func (f *fsck) sameValues(s *Snapshot, name string, after *prolly.Map, want map[string][]byte) {
	for _, key := range slices.Sorted(maps.Keys(want)) {
		value, _, err := after.Get(f.ctx, []byte(key))
		if err != nil {
			f.fail(s.id, FsckTree, err)
			return
		}
		if !bytes.Equal(value, want[key]) {
			f.add(after.Root(), FsckAdjacency, "%s tree: key %x is %x, the edge says %x", name, key,
				value, want[key])
		}
	}
}

func (f *fsck) changedMarks(s *Snapshot, before *state) {
	for c, err := range prolly.Diff(f.ctx, before.marks, s.state.marks) {
		if err != nil {
			f.fail(s.id, FsckTree, err)
			return
		}
		if c.New == nil {
			continue
		}
		m, at, err := readItem(f, c.New, commit.ReadMark)
		if err == nil && !bytes.Equal(graph.MarkKey(m.On, m.ID), c.Key) {
			err = fmt.Errorf("mark on %s %s is kept under %x", m.On, m.ID, c.Key)
		}
		if err != nil {
			f.fail(at, FsckRecord, err)
		}
	}
}

// changedVectors checks the records of embeddings, and that their nodes are there, in one pass: of all that
// changes, embeddings touch the most chunks.
func (f *fsck) changedVectors(s *Snapshot, before *state) {
	for c, err := range prolly.Diff(f.ctx, before.vectors, s.state.vectors) {
		if err != nil {
			f.fail(s.id, FsckTree, err)
			return
		}
		if c.New == nil {
			continue
		}
		id, model, keyErr := graph.ParseEmbeddingKey(c.Key)
		if of := (need{graph.OnNode, id}); keyErr == nil {
			there, err := s.state.has(f.ctx, of)
			if err != nil {
				f.fail(s.id, FsckTree, err)
				return
			}
			if !there {
				f.add(s.id, FsckDangling, "%v", dangling{"embedding", c.Key, of})
			}
		}
		if _, ok := f.known.has(roleEmbedding, []byte(model), c.New); ok && keyErr == nil {
			continue
		}
		e, at, err := readItem(f, c.New, commit.ReadEmbedding)
		if err == nil {
			if err = keyErr; err == nil && model != e.Model {
				err = fmt.Errorf("embedding by %q is kept under %q", e.Model, model)
			}
		}
		if err != nil {
			f.fail(at, FsckRecord, err)
		}
	}
}

// whole checks the trees of a commit from end to end, and its indexes where it has them, all at the same
// time.
func (f *fsck) whole(c ipld.CID) {
	s, err := f.repo.At(f.ctx, c)
	if err != nil {
		f.fail(c, FsckRecord, err)
		return
	}
	var checks []*indexCheck
	scanned := make(map[ipld.CID]bool) // trees that are checked while they are read for something else
	watch := f.watchEdges(s.state)
	for _, k := range indexKinds(f.repo.derived(), fresh{}) {
		if check := f.indexCheck(s, k); check != nil {
			check.watch = watch.over
			checks = append(checks, check)
			for _, m := range k.trees(s.state) {
				scanned[m.Root()] = true
			}
		}
	}
	rest := watch.trees(scanned)
	for _, m := range rest {
		scanned[m.Root()] = true
	}
	// The one that notes damage.
	all := []func() error{func() error { f.wholeTrees(c, s.state, scanned); return nil }}
	for _, check := range checks {
		all = append(all, func() error { check.run(f.ctx); return nil })
	}
	shapes := make([]bool, len(rest))
	for i, m := range rest {
		all = append(all, func() error { watch.read(f.ctx, m, &shapes[i]); return nil })
	}
	_ = parallel.Do(all...)
	for _, check := range checks {
		for root, good := range check.scanned {
			f.trees[root] = f.trees[root] || *good
		}
	}
	for i, m := range rest {
		f.trees[m.Root()] = f.trees[m.Root()] || shapes[i]
	}
	if watch.good() {
		f.good = append(f.good, s.state)
	}
	f.wholeTrees(c, s.state, nil) // it says what is wrong with those that are not good
	for _, check := range checks {
		f.checked(check)
	}
	f.communities(s)
	f.digests(s, nil)
}

// wholeTrees checks the trees of a state from end to end, at the same time, but for some.
func (f *fsck) wholeTrees(c ipld.CID, s *state, but map[ipld.CID]bool) {
	var trees []*prolly.Map
	for _, m := range []*prolly.Map{s.nodes, s.edges, s.out, s.in, s.marks, s.vectors, s.digests} {
		if f.trees[m.Root()] || but[m.Root()] {
			continue
		}
		trees = append(trees, m)
		f.trees[m.Root()] = true
	}
	errs := make([]error, len(trees))
	var wait sync.WaitGroup
	for i, m := range trees {
		wait.Go(func() { errs[i] = m.Check(f.ctx) })
	}
	wait.Wait()
	for i, err := range errs {
		if err != nil {
			f.fail(trees[i].Root(), FsckTree, fmt.Errorf("commit %s: %w", c, err))
		}
	}
}

// index reports what is wrong with an index of a snapshot, where there is one.
func (f *fsck) index(s *Snapshot, k indexKind) {
	if check := f.indexCheck(s, k); check != nil {
		check.run(f.ctx)
		f.checked(check)
	}
}

// indexCheck is an index that is compared with what it is of.
type indexCheck struct {
	kind     indexKind
	state    *state
	commit   ipld.CID // that has the state
	derived  store.Derived
	manifest ipld.CID
	known    *knownRecords
	scanned  map[ipld.CID]*bool // the roots of trees that were scanned, and whether all was good
	// watch, unless nil, sees the entries of a tree as they are scanned.
	watch func(context.Context, *prolly.Map, iter.Seq2[prolly.Entry, error]) iter.Seq2[prolly.Entry, error]

	wrong       []string
	unread, err error
}

// indexCheck returns the check of an index of a snapshot, nil where there is none or it was checked.
func (f *fsck) indexCheck(s *Snapshot, k indexKind) *indexCheck {
	key := k.key(s.state)
	if !key.Defined() || f.trees[key] {
		return nil
	}
	f.trees[key] = true
	derived := f.repo.store.Derived()
	manifest, err := derived.Cell(f.ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		f.fail(s.id, FsckIndex, err)
		return nil
	}
	return &indexCheck{
		kind: k, state: s.state, commit: s.id, derived: derived, manifest: manifest, known: f.known, scanned: make(map[ipld.CID]*bool),
	}
}

func (c *indexCheck) run(ctx context.Context) {
	c.wrong, c.unread, c.err = c.kind.verify(ctx, c)
}

// scan is a scanner that checks trees as well.
func (c *indexCheck) scan(ctx context.Context, m *prolly.Map) iter.Seq2[prolly.Entry, error] {
	good := new(bool)
	c.scanned[m.Root()] = good
	entries := m.ScanChecked(ctx, good)
	if c.watch == nil {
		return entries
	}
	return c.watch(ctx, m, entries)
}

// checked notes what a check found. What the index is of and could not be read says nothing about it.
func (f *fsck) checked(c *indexCheck) {
	if c.unread != nil {
		f.fail(c.commit, FsckRecord, c.unread)
		return
	}
	for _, w := range c.wrong {
		f.add(c.manifest, FsckIndex, "%s", w)
	}
	if c.err != nil {
		f.add(c.manifest, FsckIndex, "%v", c.err)
	}
}

// noting yields what seq does and keeps its error.
func noting[T any](seq iter.Seq2[T, error], failed *error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for v, err := range seq {
			if err != nil {
				*failed = err
			}
			if !yield(v, err) {
				return
			}
		}
	}
}
