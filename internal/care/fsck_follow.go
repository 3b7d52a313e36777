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

// follow checks all of a commit's state by what it changed: trees and indexes are functions of what
// they hold, so those of the first parent, which history checks too, with the changes applied must be
// the very ones that are there. What cannot be followed is looked at from end to end. So the cost of
// checking a whole history follows its changes.
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

// followLimit is how many changes of a tree are applied to the one before: a tree that changed more is
// read whole, which takes less memory.
const followLimit = 1 << 16

// followTrees checks that the trees of a state are those of the one before with their differences
// applied: a tree's shape is a function of its entries.
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
			whole = true // which says what is wrong
			continue
		}
		f.Trees[to.Root()] = true
	}
	if whole {
		f.wholeTrees(s.Id, s.State, nil)
	}
}

// edited is where trees are edited: what differs is wrong, and is kept nowhere.
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

// followIndex reports whether a state has no index of a kind, or the very one that the index of the
// state before becomes. Nothing is noted if it is not.
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
	// Most commits put no merge in its place: only one that did has it made again.
	if becomes(remade{}) || was.Defined() && becomes(f.remake(k, was)) {
		f.followed[key] = true
		return true
	}
	return false
}

// remade tells an update of an index which merge was made and is what it should be: that of a key. The
// zero value tells of none.
type remade struct{ key, merged ipld.CID }

// Merged implements segment.Later.
func (m remade) Merged(_ context.Context, key ipld.CID) (ipld.CID, error) {
	if key != m.key {
		return ipld.CID{}, nil
	}
	return m.merged, nil
}

// remake makes the merge again that an index waits for, and compares it with the one that is there.
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
