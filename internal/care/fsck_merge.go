package care

import (
	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/merge3"
	"github.com/mnem-project/mnem/ipld"
)

// merge checks a merge in progress: its sides, the merged part, and each conflict with its resolution.
func (f *FsckRun) merge(op ipld.CID, ref core.Ref) {
	c := ref.Target
	if f.Seen[c] {
		return
	}
	f.Seen[c] = true
	p, err := core.LoadPending(f.Ctx, f.Repo.Nodes(), f.Repo.Facts(), ref)
	if err != nil {
		f.fail(c, FsckRecord, err)
		return
	}
	f.message(c, p.Rec.Message)
	f.history(p.Rec.Ours)
	if p.Rec.Theirs.Defined() {
		f.history(p.Rec.Theirs)
	}
	s, err := f.Repo.LoadState(f.Ctx, p.Roots())
	if err != nil {
		f.fail(c, FsckRecord, err)
		return
	}
	f.wholeTrees(c, s, nil)
	f.profiles(s)
	if err := core.FirstOf(p.Conflicts.Check(f.Ctx), p.Resolutions.Check(f.Ctx)); err != nil {
		f.fail(op, FsckTree, err)
		return
	}
	resolved := uint64(0)
	for con, err := range p.Each(f.Ctx, f.Repo.Facts()) {
		if err != nil {
			f.fail(c, FsckRecord, err)
			return
		}
		res, ok, err := p.Resolution(f.Ctx, con.Item)
		if err != nil {
			f.fail(c, FsckRecord, err)
		}
		if ok {
			resolved++
		}
		f.conflict(c, con, res)
	}
	if resolved != p.Resolutions.Len() {
		f.add(c, FsckRecord, "%d resolutions, of conflicts %d", p.Resolutions.Len(), resolved)
	}
}

// conflict checks that the records of a conflict exist and belong to its item.
func (f *FsckRun) conflict(merge ipld.CID, con *commit.Conflict, res commit.Resolution) {
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

// itemID returns the id in an item's record.
func (f *FsckRun) itemID(item graph.Item, c ipld.CID) (graph.ID, error) {
	get := f.Repo.Facts()
	switch item.Kind {
	case graph.NodeItem:
		n, err := commit.ReadNode(f.Ctx, get, c)
		if err != nil {
			return graph.ID{}, err
		}
		return n.ID, nil
	case graph.EdgeItem:
		e, err := commit.ReadEdge(f.Ctx, get, c)
		if err != nil {
			return graph.ID{}, err
		}
		return e.ID, nil
	}
	if item.Kind == graph.ProfileItem {
		_, err := merge3.ReadProfiles(f.Ctx, get, c)
		return item.ID, err
	}
	m, err := commit.ReadMark(f.Ctx, get, c)
	if err != nil {
		return graph.ID{}, err
	}
	return m.ID, nil
}
