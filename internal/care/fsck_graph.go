package care

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/parallel"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/merge3"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view"
	"github.com/mnem-project/mnem/ipld"
)

// Refs completely checks the graphs of the newest commits: those that refs lead to now.
func (f *FsckRun) Refs() error {
	v, err := f.Repo.Current(f.Ctx)
	if err != nil {
		return f.looked(err)
	}
	for ref, err := range v.List(f.Ctx, "") {
		if err != nil {
			return f.looked(err)
		}
		if f.wholeImported(ref) {
			continue
		}
		namespace, _ := ref.Name.Split()
		tracked := namespace == graph.Remotes && f.kind(ref.Target) == state.RoleSession
		if ref.Symbolic == "" && namespace != graph.Sessions && !tracked && namespace != graph.Stages &&
			!ref.IsMerge() {
			f.whole(f.peel(ref.Target))
		}
		if _, branch := ref.Name.Branch(); branch {
			f.circles(ref)
		}
		if err := f.Ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// history checks all commits reachable from one that were not checked before, each by its changes against its first
// parent.
func (f *FsckRun) history(c ipld.CID) {
	todo := []ipld.CID{c}
	for len(todo) > 0 && f.Ctx.Err() == nil {
		c := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if f.Seen[c] {
			continue
		}
		f.Seen[c] = true
		s, err := f.Repo.At(f.Ctx, c)
		if err != nil {
			f.fail(c, FsckRecord, err)
			continue
		}
		f.Commit(s)
		if f.opt.Full {
			f.follow(s)
		}
		todo = append(todo, s.Record.Parents...)
		f.progress("commits", len(f.Seen))
	}
}

func (f *FsckRun) message(c ipld.CID, m commit.Message) {
	if _, err := commit.ReadMessage(f.Ctx, f.Repo.Facts(), m); err != nil {
		f.fail(c, FsckRecord, err)
	}
}

// Commit checks a commit's record, its graph's record, and its changes.
func (f *FsckRun) Commit(s *core.Snapshot) {
	f.message(s.Id, s.Record.Message)
	var parents []*commit.Commit
	for _, p := range s.Record.Parents {
		rec, err := f.Repo.ReadCommit(f.Ctx, p)
		if err != nil {
			f.fail(p, FsckRecord, err)
			return
		}
		parents = append(parents, rec)
	}
	if want := commit.HeightOver(parents...); s.Record.Height != want {
		f.add(s.Id, FsckRecord, "height %d, want %d", s.Record.Height, want)
	}
	g, err := commit.ReadGraph(f.Ctx, f.Repo.Facts(), s.State.Root)
	if err != nil {
		f.fail(s.State.Root, FsckRecord, err)
		return
	}
	if want := s.State.Record().Counts; g.Counts != want {
		f.add(s.State.Root, FsckCounts, "counts %+v, the trees have %+v", g.Counts, want)
	}
	if s.State.Out.Len() != s.State.Edges.Len() || s.State.In.Len() != s.State.Edges.Len() {
		f.add(s.State.Root, FsckAdjacency, "%d edges, %d outgoing, %d incoming",
			s.State.Edges.Len(), s.State.Out.Len(), s.State.In.Len())
	}
	parent := core.FirstCID(s.Record.Parents)
	before, err := f.Repo.At(f.Ctx, parent)
	if err != nil {
		f.fail(parent, FsckRecord, err)
		return
	}
	if s.State.Edges.Len() >= bulkEdges && s.State.Edges.Len() > 2*before.State.Edges.Len() {
		f.Bulks = append(f.Bulks, bulk{s, before.State})
	} else {
		f.change(s, before.State)
	}
	if s.State.Profile != before.State.Profile {
		f.profiles(s.State)
	}
}

// change checks what differs between the graph of a commit and the previous one. By induction over a history this
// checks every graph completely.
func (f *FsckRun) change(s *core.Snapshot, before *state.State) {
	f.changedNodes(s, before)
	var needy []state.Needs
	if !f.LikeWhole(s.State) && !f.goodEdges(s.State, before) {
		f.changedEdges(s, before)
		needy = append(needy, state.EdgeEnds(f.Ctx, s.State, before))
	}
	f.changedMarks(s, before)
	f.changedVectors(s, before)
	f.changedTexts(s, before)
	needy = append(needy, state.MarkTargets(s.State, before))
	err := state.EachDangling(f.Ctx, s.State, needy, func(d state.Dangling) error {
		f.add(s.Id, FsckDangling, "%v", d)
		return nil
	})
	if err != nil {
		f.fail(s.Id, FsckTree, err)
	}
}

func (f *FsckRun) changedNodes(s *core.Snapshot, before *state.State) {
	for c, err := range prolly.Diff(f.Ctx, before.Nodes, s.State.Nodes) {
		if err != nil {
			f.fail(s.Id, FsckTree, err)
			return
		}
		if c.New == nil {
			f.orphans(s, c.Key)
			continue
		}
		if _, ok := f.Known.Has(state.RoleNode, c.Key, c.New); ok {
			continue
		}
		readItem(f, c.New, commit.ReadNode, func(n *graph.Node) (err error) {
			if !bytes.Equal(n.ID[:], c.Key) {
				return fmt.Errorf("node %s is kept under %x", n.ID, c.Key)
			}
			_, err = s.State.Content(f.Ctx, n.Content)
			return err
		})
	}
}

// readItem returns the record that a tree value links to, nil for a bad one, which it reports.
func readItem[T any](
	f *FsckRun, item []byte, read func(context.Context, store.Getter, ipld.CID) (*T, error), check func(*T) error,
) *T {
	var rec *T
	c, err := state.LinkItem(item)
	if err == nil {
		rec, err = read(f.Ctx, f.Repo.Facts(), c)
	}
	if err == nil {
		err = check(rec)
	}
	if err != nil {
		f.fail(c, FsckRecord, err)
		return nil
	}
	return rec
}

// readEdge is readItem for an edge in the tree of edges.
func (f *FsckRun) readEdge(key, item []byte) *graph.Edge {
	return readItem(f, item, commit.ReadEdge, func(e *graph.Edge) error {
		if !bytes.Equal(e.ID[:], key) {
			return fmt.Errorf("edge %s is kept under %x", e.ID, key)
		}
		return nil
	})
}

func (f *FsckRun) orphans(s *core.Snapshot, id []byte) {
	left := []struct {
		what   string
		tree   *prolly.Map
		prefix []byte
	}{
		{"outgoing edge", s.State.Out, id},
		{"incoming edge", s.State.In, id},
		{"mark", s.State.Marks, graph.MarkKey(graph.OnNode, graph.ID(id))},
		{"embedding", s.State.Vectors, id},
	}
	for _, l := range left {
		for _, err := range l.tree.ScanPrefix(f.Ctx, l.prefix) {
			if err != nil {
				f.fail(s.Id, FsckTree, err)
			} else {
				f.add(s.Id, FsckDangling, "%s of node %s, which was removed", l.what, graph.ID(id))
			}
			break
		}
	}
}

// changedEdges checks the records of edges, and that the adjacency trees changed accordingly.
func (f *FsckRun) changedEdges(s *core.Snapshot, before *state.State) {
	if before.Edges.Len()+before.Out.Len()+before.In.Len() == 0 {
		f.firstEdges(s)
		return
	}
	out, in := make(map[string][]byte), make(map[string][]byte)
	for c, err := range prolly.Diff(f.Ctx, before.Edges, s.State.Edges) {
		if err != nil {
			f.fail(s.Id, FsckTree, err)
			return
		}
		for i, item := range [][]byte{c.Old, c.New} { // if both exist the new one decides
			if item == nil {
				continue
			}
			e := f.readEdge(c.Key, item)
			if e == nil {
				continue
			}
			var value []byte
			if i == 1 { // an explicitly given id may come back with other ends
				value = adjacency.Value(e)
			}
			out[string(adjacency.OutKey(e))] = value
			in[string(adjacency.InKey(e))] = value
		}
	}
	f.sameChange(s, "out", before.Out, s.State.Out, out)
	f.sameChange(s, "in", before.In, s.State.In, in)
}

// edgeBatch is how many edges of a first state are compared with the adjacency trees at a time: enough to read
// these in order, in memory independent of the number of edges.
const edgeBatch = 1 << 16

// firstEdges is changedEdges for a state without a predecessor. It is enough that every edge has its entries:
// commit checks that there are as many entries as edges.
func (f *FsckRun) firstEdges(s *core.Snapshot) {
	out, in := make(map[string][]byte), make(map[string][]byte)
	flush := func() {
		f.sameValues(s, "out", s.State.Out, out)
		f.sameValues(s, "in", s.State.In, in)
		clear(out)
		clear(in)
	}
	for kv, err := range s.State.Edges.Scan(f.Ctx, nil, nil) {
		if err != nil {
			f.fail(s.Id, FsckTree, err)
			return
		}
		e := f.readEdge(kv.Key, kv.Value)
		if e == nil {
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

// sameChange checks that a tree changed only at the keys of want, and has the wanted values there; nil is absent.
func (f *FsckRun) sameChange(s *core.Snapshot, name string, before, after *prolly.Map, want map[string][]byte) {
	for c, err := range prolly.Diff(f.Ctx, before, after) {
		if err != nil {
			f.fail(s.Id, FsckTree, err)
			return
		}
		if _, ok := want[string(c.Key)]; !ok {
			f.add(after.Root(), FsckAdjacency, "%s tree: key %x changed, but no edge did", name, c.Key)
		}
	}
	f.sameValues(s, name, after, want)
}

// sameValues checks that a tree has the wanted values; nil is absent.
func (f *FsckRun) sameValues(s *core.Snapshot, name string, after *prolly.Map, want map[string][]byte) {
	for _, key := range slices.Sorted(maps.Keys(want)) {
		value, _, err := after.Get(f.Ctx, []byte(key))
		if err != nil {
			f.fail(s.Id, FsckTree, err)
			return
		}
		if !bytes.Equal(value, want[key]) {
			f.add(after.Root(), FsckAdjacency, "%s tree: key %x is %x, the edge says %x", name, key, value, want[key])
		}
	}
}

func (f *FsckRun) changedMarks(s *core.Snapshot, before *state.State) {
	for c, err := range prolly.Diff(f.Ctx, before.Marks, s.State.Marks) {
		if err != nil {
			f.fail(s.Id, FsckTree, err)
			return
		}
		if c.New == nil {
			continue
		}
		readItem(f, c.New, commit.ReadMark, func(m *graph.Mark) error {
			if !bytes.Equal(graph.MarkKey(m.On, m.ID), c.Key) {
				return fmt.Errorf("mark on %s %s is kept under %x", m.On, m.ID, c.Key)
			}
			return nil
		})
	}
}

// changedVectors checks the records of embeddings, and that their nodes exist, in one pass: of all changes,
// embeddings touch the most chunks.
func (f *FsckRun) changedVectors(s *core.Snapshot, before *state.State) {
	for c, err := range prolly.Diff(f.Ctx, before.Vectors, s.State.Vectors) {
		if err != nil {
			f.fail(s.Id, FsckTree, err)
			return
		}
		if c.New == nil {
			continue
		}
		id, model, keyErr := graph.ParseEmbeddingKey(c.Key)
		if of := (state.Need{On: graph.OnNode, Id: id}); keyErr == nil {
			there, err := s.State.Has(f.Ctx, of)
			if err != nil {
				f.fail(s.Id, FsckTree, err)
				return
			}
			if !there {
				f.add(s.Id, FsckDangling, "%v", state.Dangling{What: "embedding", Key: c.Key, Missing: of})
			}
		}
		if _, ok := f.Known.Has(state.RoleEmbedding, []byte(model), c.New); ok && keyErr == nil {
			continue
		}
		readItem(f, c.New, commit.ReadEmbedding, func(e *graph.Embedding) error {
			if keyErr == nil && model != e.Model {
				return fmt.Errorf("embedding by %q is kept under %q", e.Model, model)
			}
			return keyErr
		})
	}
}

// whole completely checks the trees of a commit, and its indexes if it has them, concurrently.
func (f *FsckRun) whole(c ipld.CID) {
	s, err := f.Repo.At(f.Ctx, c)
	if err != nil {
		f.fail(c, FsckRecord, err)
		return
	}
	var checks []*view.IndexCheck
	scanned := make(map[ipld.CID]bool) // trees that are checked while they are read for another check
	watch := f.watchEdges(s.State)
	for _, k := range view.IndexKinds(f.Repo.Derived(), state.Fresh{}) {
		if check := f.indexCheck(s, k); check != nil {
			check.Watch = watch.over
			checks = append(checks, check)
			for _, m := range k.Trees(s.State) {
				scanned[m.Root()] = true
			}
		}
	}
	rest := watch.trees(scanned)
	for _, m := range rest {
		scanned[m.Root()] = true
	}
	// The function that records damage.
	all := []func() error{func() error { f.wholeTrees(c, s.State, scanned); return nil }}
	for _, check := range checks {
		all = append(all, func() error { check.Run(f.Ctx); return nil })
	}
	shapes := make([]bool, len(rest))
	for i, m := range rest {
		all = append(all, func() error { watch.read(f.Ctx, m, &shapes[i]); return nil })
	}
	_ = parallel.Do(all...)
	for _, check := range checks {
		for root, good := range check.Scanned {
			f.Trees[root] = f.Trees[root] || *good
		}
	}
	for i, m := range rest {
		f.Trees[m.Root()] = f.Trees[m.Root()] || shapes[i]
	}
	if watch.good() {
		f.good = append(f.good, s.State)
	}
	f.wholeTrees(c, s.State, nil) // reports what is wrong with trees that are not good
	for _, check := range checks {
		f.checked(check)
	}
	f.communities(s)
	f.digests(s, nil)
}

// wholeTrees completely checks the trees of a state, except some, concurrently.
func (f *FsckRun) wholeTrees(c ipld.CID, s *state.State, but map[ipld.CID]bool) {
	var trees []*prolly.Map
	for _, m := range []*prolly.Map{s.Nodes, s.Edges, s.Out, s.In, s.Marks, s.Vectors, s.Digests} {
		if f.Trees[m.Root()] || but[m.Root()] {
			continue
		}
		trees = append(trees, m)
		f.Trees[m.Root()] = true
	}
	errs := make([]error, len(trees))
	var wait sync.WaitGroup
	for i, m := range trees {
		wait.Go(func() { errs[i] = m.Check(f.Ctx) })
	}
	wait.Wait()
	for i, err := range errs {
		if err != nil {
			f.fail(trees[i].Root(), FsckTree, fmt.Errorf("commit %s: %w", c, err))
		}
	}
}

// index reports what is wrong with an index of a snapshot, if it exists.
func (f *FsckRun) index(s *core.Snapshot, k view.IndexKind) {
	if check := f.indexCheck(s, k); check != nil {
		check.Run(f.Ctx)
		f.checked(check)
	}
}

// indexCheck returns the check of an index of a snapshot, nil if there is none or it was checked.
func (f *FsckRun) indexCheck(s *core.Snapshot, k view.IndexKind) *view.IndexCheck {
	key := k.Key(s.State)
	if !key.Defined() || f.Trees[key] {
		return nil
	}
	f.Trees[key] = true
	derived := f.Repo.Store.Derived()
	manifest, err := derived.Cell(f.Ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		f.fail(s.Id, FsckIndex, err)
		return nil
	}
	return &view.IndexCheck{
		Kind: k, State: s.State, Commit: s.Id, Derived: derived, Manifest: manifest, Known: f.Known, Scanned: make(map[ipld.CID]*bool),
	}
}

// checked records the result of a check. If the index's source could not be read, nothing is known about the index.
func (f *FsckRun) checked(c *view.IndexCheck) {
	if c.Unread != nil {
		f.fail(c.Commit, FsckRecord, c.Unread)
		return
	}
	for _, w := range c.Wrong {
		f.add(c.Manifest, FsckIndex, "%s", w)
	}
	if c.Err != nil {
		f.add(c.Manifest, FsckIndex, "%v", c.Err)
	}
}

func (f *FsckRun) profiles(s *state.State) {
	if _, err := merge3.ReadProfiles(f.Ctx, f.Repo.Facts(), s.Profile); err != nil {
		f.fail(s.Profile, FsckRecord, err)
	}
}
