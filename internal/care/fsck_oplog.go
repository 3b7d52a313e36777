package care

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/merge3"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

type opCheck struct {
	*FsckRun
	said reversals // of operations that were read
}

// Operations walks the chain of operations and checks every view and its refs.
func (f *FsckRun) Operations() error {
	head, err := f.Repo.Store.Head(f.Ctx)
	if err != nil {
		return f.looked(err)
	}
	if head.Seq == 0 {
		return nil
	}
	n := 0
	o, horizon, whole := opCheck{f, make(reversals)}, uint64(0), true
	var oldest *commit.Operation
	least := uint64(0) // the horizon of the operation after
	for e, err := range commit.Operations(f.Ctx, f.Repo.Facts(), head.Operation) {
		if err != nil {
			f.fail(head.Operation, FsckOperation, err)
			whole = false
			break
		}
		o.reversal(e)
		if n > 0 && e.Operation.Horizon > least {
			f.add(e.CID, FsckOperation, "horizon %d, and then %d", e.Operation.Horizon, least)
		}
		oldest, least = e.Operation, e.Operation.Horizon
		horizon = max(horizon, e.Operation.Horizon)
		if n == 0 && e.Operation.Seq != head.Seq {
			f.add(e.CID, FsckOperation, "head says operation %d, the record %d", head.Seq, e.Operation.Seq)
		}
		n++
		f.progress("operations", n)
		o.view(e.CID, e.Operation, n == 1)
		if err := f.Ctx.Err(); err != nil {
			return err
		}
	}
	if whole {
		o.unmet(horizon)
		o.behind(oldest)
	}
	return f.Ctx.Err()
}

// behind checks the operations kept behind the horizon, from the oldest in the log on.
func (f opCheck) behind(o *commit.Operation) {
	for _, seq := range commit.Kept(o.Seq) {
		next := o.Skip
		if o.Seq%2 == 1 {
			next = o.Parent
		}
		rec, err := commit.ReadOperation(f.Ctx, f.Repo.Facts(), next)
		if err == nil && rec.Seq != seq {
			err = fmt.Errorf("%w operation log: operation %d where %d must be", store.ErrCorrupt, rec.Seq, seq)
		}
		if err != nil {
			f.fail(next, FsckOperation, err)
			return
		}
		o = rec
	}
}

// view checks an operation's view and what its refs lead to. If its tree equals that of the next operation with the
// differences applied, it checks only the refs that differ and those that depend on other refs: the cost of a log
// is proportional to its changes. tip says whether it is the newest operation: the graphs of its refs are checked
// completely.
func (f opCheck) view(op ipld.CID, rec *commit.Operation, tip bool) {
	if f.Seen[rec.View] && !tip {
		return
	}
	f.Seen[rec.View] = true
	v, err := core.LoadView(f.Ctx, f.Repo.Nodes(), f.Repo.Facts(), store.Head{Seq: rec.Seq, Operation: op})
	if err == nil && f.after != nil {
		var same bool
		if same, err = f.followTree(f.edited(), f.after.Tree, v.Tree); err == nil && same {
			f.changedRefs(op, f.after, v)
			f.after = v
			return
		}
	}
	if v != nil {
		err = v.Tree.Check(f.Ctx)
	}
	if err != nil {
		f.fail(op, FsckOperation, err)
		return
	}
	f.listed(op, v, "")
	f.after = v
}

// changedRefs checks the refs of a view that differ from the next one.
func (f opCheck) changedRefs(op ipld.CID, after, v *core.View) {
	for c, err := range prolly.Diff(f.Ctx, after.Tree, v.Tree) {
		var ref core.Ref
		if err == nil && c.New != nil {
			ref, err = core.DecodeRef(string(c.Key), c.New)
		}
		if err != nil {
			f.fail(op, FsckOperation, err)
			return
		}
		if c.New != nil && !leads(ref) {
			f.ref(op, v, ref)
		}
	}
	f.listed(op, v, core.MergesInProgress)
	f.listed(op, v, core.ClientMerges)
	if head, ok, err := v.Get(f.Ctx, graph.Head); err != nil {
		f.fail(op, FsckOperation, err)
	} else if ok {
		f.ref(op, v, head)
	}
}

// leads reports whether a ref's validity depends on other refs.
func leads(r core.Ref) bool { return r.Name == graph.Head || r.IsMerge() }

func (f opCheck) listed(op ipld.CID, v *core.View, prefix string) {
	for ref, err := range v.List(f.Ctx, prefix) {
		if err != nil {
			f.fail(op, FsckOperation, err)
			return
		}
		f.ref(op, v, ref)
	}
}

func (f opCheck) ref(op ipld.CID, v *core.View, ref core.Ref) {
	if err := graph.ValidateRef(ref.Name); err != nil {
		f.add(op, FsckOperation, "ref %s: %v", ref.Name, err)
		return
	}
	if ref.Symbolic != "" {
		if _, ok := ref.Symbolic.Branch(); !ok || ref.Name != graph.Head {
			f.add(op, FsckOperation, "ref %s names %s: HEAD alone names a branch", ref.Name, ref.Symbolic)
		}
		if _, _, err := v.Resolve(f.Ctx, ref.Name); err != nil {
			f.fail(op, FsckOperation, err)
		}
		return
	}
	if f.imported(ref) {
		return
	}
	namespace, _ := ref.Name.Split()
	switch {
	case namespace == graph.Sessions || namespace == graph.Remotes && f.kind(ref.Target) == state.RoleSession:
		f.Session(ref.Target)
	case namespace == graph.Stages:
		f.stage(ref.Target)
	case ref.IsMerge():
		f.merge(op, ref)
	case namespace == graph.Tags || namespace == graph.Remotes:
		f.history(f.peel(ref.Target))
	default:
		f.history(ref.Target)
	}
}

// reversals maps the operations that newer ones claim to reverse to those.
type reversals map[ipld.CID][]commit.OpEntry

// reversal checks an operation, visited newest first, against the claims of newer ones, and records its own.
func (f opCheck) reversal(e commit.OpEntry) {
	for _, by := range f.said[e.CID] {
		if by.Operation.Redoes.Defined() != e.Operation.Undoes.Defined() {
			f.add(by.CID, FsckOperation, "operation %d takes back operation %d as what it is not",
				by.Operation.Seq, e.Operation.Seq)
		}
	}
	delete(f.said, e.CID)
	if back := core.Reversed(e.Operation); back.Defined() {
		f.said[back] = append(f.said[back], e)
	}
}

// unmet reports operations that were claimed to be reversed but are not in the log. With a horizon they may lie
// behind it.
func (f opCheck) unmet(horizon uint64) {
	if horizon > 1 {
		return
	}
	for _, c := range slices.SortedFunc(maps.Keys(f.said), ipld.CID.Compare) {
		by := f.said[c][0]
		f.add(by.CID, FsckOperation, "operation %d takes back %s, which is no older operation", by.Operation.Seq, c)
	}
}

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
	if err := cmp.Or(p.Conflicts.Check(f.Ctx), p.Resolutions.Check(f.Ctx)); err != nil {
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
