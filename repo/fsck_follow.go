package repo

import (
	"context"
	"errors"

	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/store"
)

// follow checks all of a commit's state by what it changed: trees and indexes are functions of what
// they hold, so those of the first parent, which history checks too, with the changes applied must be
// the very ones that are there. What cannot be followed is looked at from end to end. So the cost of
// checking a whole history follows its changes.
func (f *fsck) follow(s *Snapshot) {
	if len(s.commit.Parents) == 0 {
		f.whole(s.id)
		return
	}
	before, err := f.repo.At(f.ctx, s.commit.Parents[0])
	if err != nil {
		f.fail(s.commit.Parents[0], FsckRecord, err)
		return
	}
	f.followTrees(s, before.state)
	for _, k := range indexKinds(f.repo.derived(), fresh{}) {
		if !f.followIndex(k, before.state, s.state) {
			f.index(s, k)
		}
	}
	f.communities(s)
	f.digests(s, before.state)
}

// followLimit is how many changes of a tree are applied to the one before: a tree that changed more is
// read whole, which takes less memory.
const followLimit = 1 << 16

// followTrees checks that the trees of a state are those of the one before with their differences
// applied: a tree's shape is a function of its entries.
func (f *fsck) followTrees(s *Snapshot, before *state) {
	nodes := f.edited()
	whole := false
	for _, pair := range [][2]*prolly.Map{
		{before.nodes, s.state.nodes}, {before.edges, s.state.edges}, {before.out, s.state.out},
		{before.in, s.state.in}, {before.marks, s.state.marks}, {before.vectors, s.state.vectors},
		{before.digests, s.state.digests},
	} {
		from, to := pair[0], pair[1]
		if f.trees[to.Root()] || from.Root() == to.Root() {
			continue
		}
		same, err := f.followTree(nodes, from, to)
		if err != nil || !same {
			whole = true // which says what is wrong
			continue
		}
		f.trees[to.Root()] = true
	}
	if whole {
		f.wholeTrees(s.id, s.state, nil)
	}
}

// edited is where trees are edited: what differs is wrong, and is kept nowhere.
func (f *fsck) edited() *prolly.Nodes {
	return prolly.NewNodes(store.NewStage(f.repo.facts(), 0), f.edits)
}

func (f *fsck) followTree(nodes *prolly.Nodes, from, to *prolly.Map) (bool, error) {
	var edits []prolly.Edit
	for c, err := range prolly.Diff(f.ctx, from, to) {
		if err != nil || len(edits) == followLimit {
			return false, err
		}
		edits = append(edits, prolly.Edit{Key: c.Key, Value: c.New})
	}
	tree, err := nodes.Load(f.ctx, from.Root())
	if err != nil {
		return false, err
	}
	want, err := tree.Edit(f.ctx, edits)
	return err == nil && want.Root() == to.Root(), err
}

// followIndex reports whether a state has no index of a kind, or the very one that the index of the
// state before becomes. Nothing is noted where it is not.
func (f *fsck) followIndex(k indexKind, before, s *state) bool {
	key := k.key(s)
	if !key.Defined() || f.followed[key] || key == k.key(before) {
		return true
	}
	is, err := k.manifest(f.ctx, s)
	if err != nil {
		return errors.Is(err, store.ErrNotFound)
	}
	was, err := k.manifest(f.ctx, before)
	if err != nil {
		return false
	}
	becomes := func(merges remade) bool {
		blocks := store.NewStage(f.repo.store.Derived(), 0)
		c, err := k.update(f.ctx, blocks, was, before, s, merges)
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

// Merged is of segment.Later.
func (m remade) Merged(_ context.Context, key ipld.CID) (ipld.CID, error) {
	if key != m.key {
		return ipld.CID{}, nil
	}
	return m.merged, nil
}

// remake makes the merge again that an index waits for, and compares it with the one that is there.
func (f *fsck) remake(k indexKind, manifest ipld.CID) remade {
	derived := f.repo.store.Derived()
	key, merged, err := k.merge(f.ctx, store.NewStage(derived, 0), manifest)
	if err != nil || !key.Defined() {
		return remade{}
	}
	if c, err := derived.Cell(f.ctx, key); err != nil || c != merged {
		return remade{}
	}
	return remade{key, merged}
}
