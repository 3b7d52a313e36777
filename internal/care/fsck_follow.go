package care

import (
	"context"
	"errors"

	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view"
	"github.com/mnem-project/mnem/ipld"
)

// follow checks a commit's whole state by its changes: trees and indexes are functions of their content, so applying
// the changes to those of the first parent, which history checks too, must give exactly the stored ones. What cannot be
// followed is checked completely. The cost of checking a history is therefore proportional to its changes.
func (f *FsckRun) follow(s *core.Snapshot) {
	if len(s.Record.Parents) == 0 {
		f.whole(s.Id)
		return
	}
	before, err := f.Repo.At(f.Ctx, s.Record.Parents[0])
	if err != nil {
		f.fail(s.Record.Parents[0], FsckRecord, err)
		return
	}
	f.followTrees(s, before.State)
	for _, k := range view.IndexKinds(f.Repo.Derived(), state.Fresh{}) {
		if !f.followIndex(k, before.State, s.State) {
			f.index(s, k)
		}
	}
	f.communities(s)
	f.digests(s, before.State)
}

// followLimit is how many changes are applied to the previous tree: a tree with more changes is read completely,
// which takes less memory.
const followLimit = 1 << 16

// followTrees checks that the trees of a state equal the previous ones with their differences applied: a tree's
// shape is a function of its entries.
func (f *FsckRun) followTrees(s *core.Snapshot, before *state.State) {
	nodes := f.edited()
	whole := false
	for _, pair := range [][2]*prolly.Map{
		{before.Nodes, s.State.Nodes}, {before.Edges, s.State.Edges}, {before.Out, s.State.Out},
		{before.In, s.State.In}, {before.Marks, s.State.Marks}, {before.Vectors, s.State.Vectors},
		{before.Digests, s.State.Digests},
	} {
		from, to := pair[0], pair[1]
		if f.Trees[to.Root()] || from.Root() == to.Root() {
			continue
		}
		same, err := f.followTree(nodes, from, to)
		if err != nil || !same {
			whole = true // that reports the fault
			continue
		}
		f.Trees[to.Root()] = true
	}
	if whole {
		f.wholeTrees(s.Id, s.State, nil)
	}
}

// edited returns nodes for editing trees without storing the result: whatever differs is wrong.
func (f *FsckRun) edited() *prolly.Nodes {
	return prolly.NewNodes(store.NewStage(f.Repo.Facts(), 0), f.edits)
}

func (f *FsckRun) followTree(nodes *prolly.Nodes, from, to *prolly.Map) (bool, error) {
	var edits []prolly.Edit
	for c, err := range prolly.Diff(f.Ctx, from, to) {
		if err != nil || len(edits) == followLimit {
			return false, err
		}
		edits = append(edits, prolly.Edit{Key: c.Key, Value: c.New})
	}
	tree, err := nodes.Load(f.Ctx, from.Root())
	if err != nil {
		return false, err
	}
	want, err := tree.Edit(f.Ctx, edits)
	return err == nil && want.Root() == to.Root(), err
}

// followIndex reports whether a state has no index of a kind, or exactly the one that the previous state's index
// becomes. It records nothing otherwise.
func (f *FsckRun) followIndex(k view.IndexKind, before, s *state.State) bool {
	key := k.Key(s)
	if !key.Defined() || f.followed[key] || key == k.Key(before) {
		return true
	}
	is, err := k.Manifest(f.Ctx, s)
	if err != nil {
		return errors.Is(err, store.ErrNotFound)
	}
	was, err := k.Manifest(f.Ctx, before)
	if err != nil {
		return false
	}
	becomes := func(merges remade) bool {
		blocks := store.NewStage(f.Repo.Store.Derived(), 0)
		c, err := k.Update(f.Ctx, blocks, was, before, s, merges)
		return err == nil && c == is
	}
	// Most commits replace no segment by a merge: only one that did has the merge repeated.
	if becomes(remade{}) || was.Defined() && becomes(f.remake(k, was)) {
		f.followed[key] = true
		return true
	}
	return false
}

// remade tells an index update which merge, by key, was repeated and found correct. The zero value names none.
type remade struct{ key, merged ipld.CID }

// Merged implements segment.Later.
func (m remade) Merged(_ context.Context, key ipld.CID) (ipld.CID, error) {
	if key != m.key {
		return ipld.CID{}, nil
	}
	return m.merged, nil
}

// remake repeats the merge that an index waits for, and compares it with the stored one.
func (f *FsckRun) remake(k view.IndexKind, manifest ipld.CID) remade {
	derived := f.Repo.Store.Derived()
	key, merged, err := k.Merge(f.Ctx, store.NewStage(derived, 0), manifest)
	if err != nil || !key.Defined() {
		return remade{}
	}
	if c, err := derived.Cell(f.Ctx, key); err != nil || c != merged {
		return remade{}
	}
	return remade{key, merged}
}
