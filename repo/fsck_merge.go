package repo

import (
	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// merge checks a merge in progress: its sides, what merged of them, and each conflict and how it
// was resolved.
func (f *fsck) merge(op ipld.CID, v *view, ref Ref) {
	c := ref.Target
	if f.seen[c] {
		return
	}
	f.seen[c] = true
	p, err := loadPending(f.ctx, f.repo.nodes(), f.repo.facts(), ref)
	if err != nil {
		f.fail(c, FsckRecord, err)
		return
	}
	f.message(c, p.rec.Message)
	f.history(p.rec.Ours)
	if p.rec.Theirs.Defined() {
		f.history(p.rec.Theirs)
	}
	s, err := f.repo.loadState(f.ctx, p.roots())
	if err != nil {
		f.fail(c, FsckRecord, err)
		return
	}
	f.wholeTrees(c, s, nil)
	f.profiles(s)
	if err := firstOf(p.conflicts.Check(f.ctx), p.resolutions.Check(f.ctx)); err != nil {
		f.fail(op, FsckTree, err)
		return
	}
	resolved := uint64(0)
	for con, err := range p.each(f.ctx, f.repo.facts()) {
		if err != nil {
			f.fail(c, FsckRecord, err)
			return
		}
		res, ok, err := p.resolution(f.ctx, con.Item)
		if err != nil {
			f.fail(c, FsckRecord, err)
		}
		if ok {
			resolved++
		}
		f.conflict(c, con, res)
	}
	if resolved != p.resolutions.Len() {
		f.add(c, FsckRecord, "%d resolutions, of conflicts %d", p.resolutions.Len(), resolved)
	}
}

// conflict checks that the records a conflict names are there and are what it is about.
func (f *fsck) conflict(merge ipld.CID, con *commit.Conflict, res commit.Resolution) {
	for _, c := range []ipld.CID{con.Base, con.Ours, con.Theirs, res.Record} {
		if !c.Defined() {
			continue
		}
		if id, err := f.itemID(con.Item, c); err != nil {
			f.fail(c, FsckRecord, err)
		} else if id != con.Item.ID {
			f.add(merge, FsckRecord, "conflict %s names a record of %s", con.Item, id)
		}
	}
}

// itemID returns the id that the record of an item says.
func (f *fsck) itemID(item graph.Item, c ipld.CID) (graph.ID, error) {
	get := f.repo.facts()
	switch item.Kind {
	case graph.NodeItem:
		n, err := commit.ReadNode(f.ctx, get, c)
		if err != nil {
			return graph.ID{}, err
		}
		return n.ID, nil
	case graph.EdgeItem:
		e, err := commit.ReadEdge(f.ctx, get, c)
		if err != nil {
			return graph.ID{}, err
		}
		return e.ID, nil
	}
	if item.Kind == graph.ProfileItem {
		_, err := readProfiles(f.ctx, get, c)
		return item.ID, err
	}
	m, err := commit.ReadMark(f.ctx, get, c)
	if err != nil {
		return graph.ID{}, err
	}
	return m.ID, nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
