package exchange

import (
	"errors"
	"fmt"
	"math"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// inRole returns the blocks of a role in the file, and those in the repository that it links to.
func (im *Importer) inRole(role state.Role) (all []ipld.CID) {
	for i := range im.file.blocks {
		if b := &im.file.blocks[i]; b.as == role {
			all = append(all, b.cid)
		}
	}
	for c, as := range im.outside {
		if as == role {
			all = append(all, c)
		}
	}
	return all
}

// trust marks the commits that refs of the repository reach: these are complete and sound. That a block is in the
// store does not prove this, as it may come from an unfinished write. It reads no commit below the lowest that the
// file involves.
func (im *Importer) trust() error {
	low, open := uint64(math.MaxUint64), make(map[ipld.CID]bool)
	for _, c := range im.inRole(state.RoleCommit) {
		rec, err := im.Over.ReadCommit(im.Ctx, c)
		if err != nil {
			return err
		}
		low = min(low, rec.Height)
		open[c] = true
	}
	todo, sessions, err := im.localRecords(len(im.inRole(state.RoleSession)) > 0)
	if err == nil {
		err = im.trustSessions(sessions)
	}
	if err != nil {
		return err
	}
	reached := make(map[ipld.CID]bool)
	for len(todo) > 0 && len(open) > 0 {
		c := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if reached[c] {
			continue
		}
		reached[c] = true
		rec, err := im.Repo.ReadCommit(im.Ctx, c)
		if err != nil {
			return err
		}
		if rec.Height < low {
			continue
		}
		im.f.Seen[c] = true
		delete(open, c)
		todo = append(todo, rec.Parents...)
	}
	return nil
}

// localRecords returns the commits that refs of the repository name. If the file has sessions it also returns the
// newest records of sessions and the commits that they name. Otherwise a commit that no other ref reaches is
// checked again.
func (im *Importer) localRecords(withSessions bool) (all, sessions []ipld.CID, err error) {
	v, err := im.Repo.Current(im.Ctx)
	if err != nil {
		return nil, nil, err
	}
	for ref, err := range v.List(im.Ctx, "") {
		if err != nil {
			return nil, nil, err
		}
		if ns, _ := ref.Name.Split(); ref.Symbolic != "" || ns == graph.Stages {
			continue
		}
		block, err := im.Repo.Facts().Get(im.Ctx, ref.Target)
		if err != nil {
			return nil, nil, err
		}
		switch ipld.RecordKind(block) {
		case commit.KindCommit:
			all = append(all, ref.Target)
		case commit.KindTag:
			tag, err := commit.ReadTag(im.Ctx, im.Repo.Facts(), ref.Target)
			if err != nil {
				return nil, nil, err
			}
			all = append(all, tag.Target)
		case retrieve.KindSession:
			if !withSessions {
				continue
			}
			named, err := session.LastCommits(im.Ctx, im.Repo, ref.Target)
			if err != nil {
				return nil, nil, err
			}
			all, sessions = append(all, named...), append(sessions, ref.Target)
		}
	}
	return all, sessions, nil
}

// commits checks every commit that is not known to be sound, parents before children: each check builds on the
// first parent's.
func (im *Importer) commits() error {
	done := 0
	todo := im.inRole(state.RoleCommit)
	for len(todo) > 0 {
		c := todo[len(todo)-1]
		if im.f.Seen[c] {
			todo = todo[:len(todo)-1]
			continue
		}
		rec, err := im.Over.ReadCommit(im.Ctx, c)
		if err != nil {
			return err
		}
		ready := true
		for _, p := range rec.Parents {
			if !im.f.Seen[p] {
				todo = append(todo, p)
				ready = false
			}
		}
		if !ready {
			continue
		}
		im.f.Seen[c] = true
		im.fresh = append(im.fresh, c)
		if err := im.commit(c); err != nil {
			return err
		}
		if err := im.verdict(); err != nil {
			return err
		}
		if done++; done%100 == 0 {
			im.opt.Progress("commits checked", done)
		}
	}
	return nil
}

// commit checks one commit whose parents are sound.
func (im *Importer) commit(c ipld.CID) error {
	s, err := im.Over.At(im.Ctx, c)
	if err != nil {
		return im.atCommit(c, err)
	}
	var parent ipld.CID
	if len(s.Record.Parents) > 0 {
		parent = s.Record.Parents[0]
	}
	before, err := im.Over.At(im.Ctx, parent)
	if err != nil {
		return im.atCommit(c, err)
	}
	if err := im.shapes(before.State, s.State); err != nil {
		return im.atCommit(c, err)
	}
	if s.Record.Vectors.Defined() && s.State.Vectors.Len() == 0 {
		return im.atCommit(c, fmt.Errorf("%w: a tree of embeddings without any", errShape))
	}
	if s.Record.Digests.Defined() && s.State.Digests.Len() == 0 {
		return im.atCommit(c, fmt.Errorf("%w: a tree of texts of digests without any", errShape))
	}
	im.f.Commit(s)
	return nil
}

// errShape marks a tree or commit that is not in canonical form.
var errShape = errors.New("not canonical")

// atCommit adds the commit of the file that an error is about, unless the error names a block itself, or is about
// the repository or reading.
func (im *Importer) atCommit(c ipld.CID, err error) error {
	err = im.explain(err)
	b := im.file.find(c)
	if b == nil || isFormat(err) {
		return err
	}
	var bad *store.CorruptError
	if errors.As(err, &bad) && im.file.find(bad.Want) == nil {
		return err
	}
	for _, content := range []error{errShape, store.ErrCorrupt, ipld.ErrInvalid, ipld.ErrCID} {
		if errors.Is(err, content) {
			return im.file.fault(b, "%v", err)
		}
	}
	return err
}

// shapes checks that the trees of a state have their canonical shape, given that those of the state before do.
func (im *Importer) shapes(before, after *state.State) error {
	trees := []struct {
		name          string
		before, after *prolly.Map
	}{
		{"nodes", before.Nodes, after.Nodes}, {"edges", before.Edges, after.Edges},
		{"out", before.Out, after.Out}, {"in", before.In, after.In},
		{"marks", before.Marks, after.Marks}, {"vectors", before.Vectors, after.Vectors},
		{"digests", before.Digests, after.Digests},
	}
	for _, t := range trees {
		if err := im.shape(t.before, t.after); err != nil {
			return fmt.Errorf("%s tree: %w", t.name, err)
		}
	}
	return nil
}

// shape checks one tree: by applying its changes to the previous tree, which must yield it, or by reading all of it
// if that is less work.
func (im *Importer) shape(before, after *prolly.Map) error {
	if before.Root() == after.Root() {
		return nil
	}
	edits := make([]prolly.Edit, 0, 16)
	for c, err := range prolly.Diff(im.Ctx, before, after) {
		if err != nil {
			return err
		}
		if edits = append(edits, prolly.Edit{Key: c.Key, Value: c.New}); len(edits) > maxShapeEdits {
			break
		}
	}
	if len(edits) > maxShapeEdits || uint64(len(edits)) > after.Len()/16 {
		return after.Check(im.Ctx)
	}
	made, err := before.Edit(im.Ctx, edits)
	if err == nil && made.Root() != after.Root() {
		err = fmt.Errorf("%w: the tree of these entries is %s", errShape, made.Root())
	}
	return err
}
