package care

import (
	"context"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/prolly"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/view"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// FsckKind says what kind of damage fsck found.
type FsckKind string

const (
	FsckBlock     FsckKind = "block"     // bytes that do not match their CID, or are not canonical
	FsckMissing   FsckKind = "missing"   // a block that something links to is not there
	FsckTree      FsckKind = "tree"      // a tree whose shape, order or counts are wrong
	FsckCounts    FsckKind = "counts"    // a graph whose counts are not those of its trees
	FsckAdjacency FsckKind = "adjacency" // out or in trees that are not those of the edges
	FsckDangling  FsckKind = "dangling"  // an edge, mark or embedding of something that is not there
	FsckRecord    FsckKind = "record"    // a record that is wrong, or not where it says it is
	FsckOperation FsckKind = "operation" // a broken chain of operations, or a ref that leads nowhere
	FsckIndex     FsckKind = "index"     // an index that is not that of its graph
	FsckCircle    FsckKind = "circle"    // nodes of a branch that hide each other: superseded in a circle
	FsckStore     FsckKind = "store"     // damage in the store around the blocks
)

// FsckError is one thing that is wrong.
type FsckError struct {
	CID     ipld.CID `json:"cid" shape:"null"` // of the bad block, or the one that leads to the damage; may be undefined
	Kind    FsckKind `json:"kind"`
	Message string   `json:"message"`
}

// FsckReport is what fsck found.
type FsckReport struct {
	Blocks int         `json:"blocks"` // blocks read and verified, facts and derived
	Errors []FsckError `json:"errors"`
}

// FsckOptions says how thoroughly to look.
type FsckOptions struct {
	// Full checks that the trees and indexes of every commit are exactly those of its first parent
	// with its changes applied. Without it only the records that a commit changed are looked at; those
	// of the newest commit of each ref are checked from end to end in any case.
	Full bool
	// Progress, if set, is called now and then on the calling goroutine.
	Progress func(what string, done int)
	// By is who commits what Repair changes of the memory; without an author it changes nothing.
	By state.Stamp
}

// maxFsckErrors bounds a report: damage that breaks everything need not be told block by block.
const maxFsckErrors = 1000

// Fsck checks everything: the hash and form of every block, the chain of operations, every ref,
// commit, graph, session and receipt, the trees, the adjacency, and that each index of a checked
// graph answers as one made anew would. It changes nothing. The error is about looking, as a
// cancelled context; damage is in the report.
//
// All blocks are read once in the order in which they are stored, and hashed on all processors, where
// also what indexes must hold of nodes and embeddings is worked out; after that the chunks of trees are
// read where a commit changed them and those of the newest commits once more: of a commit of most edges,
// which is much the same as these, there alone. Beside the caches it keeps up to 32 bytes for each node,
// edge and embedding that is stored.
func Fsck(ctx context.Context, r *core.Repo, opt FsckOptions) (*FsckReport, error) {
	r.Keep.Still.RLock()
	defer r.Keep.Still.RUnlock()
	f := NewFsck(ctx, r, opt)
	steps := []func() error{f.Stored, f.redactions, f.Operations, f.Refs, f.bulky}
	for _, step := range steps {
		if err := step(); err != nil {
			return f.Report, err
		}
	}
	return f.Report, nil
}

// NewFsck prepares a check that runs none of its steps yet; Fsck runs all of them.
func NewFsck(ctx context.Context, r *core.Repo, opt FsckOptions) *FsckRun {
	return &FsckRun{
		Ctx: ctx, Repo: r, opt: opt, Report: &FsckReport{},
		Seen: make(map[ipld.CID]bool), Trees: make(map[ipld.CID]bool),
		followed: make(map[ipld.CID]bool), Known: view.NewKnownRecords(), edits: prolly.NewCache(1 << 20),
	}
}

// FsckRun is one check: its report so far and what it need not check again. It is not safe for concurrent use.
type FsckRun struct {
	Ctx    context.Context
	Repo   *core.Repo
	opt    FsckOptions
	Report *FsckReport
	Seen   map[ipld.CID]bool // commits, sessions and views checked
	Trees  map[ipld.CID]bool // trees checked from end to end, or followed from such
	// followed are the keys of indexes that are what those before them become.
	followed map[ipld.CID]bool
	Known    *view.KnownRecords // of all blocks
	Bulks    []bulk             // commits that are checked last
	good     []*state.State     // states all of whose edges are good
	after    *core.View         // that was checked last; the operations come newest first
	edits    *prolly.Cache      // of trees before they are edited
}

// add notes damage. Errors of the context are not damage.
func (f *FsckRun) add(c ipld.CID, kind FsckKind, format string, args ...any) {
	if f.Ctx.Err() == nil && len(f.Report.Errors) < maxFsckErrors {
		f.Report.Errors = append(f.Report.Errors, FsckError{c, kind, fmt.Sprintf(format, args...)})
	}
}

// fail notes an error met while reading, naming the block it is about where it tells.
func (f *FsckRun) fail(c ipld.CID, kind FsckKind, err error) {
	var bad *store.CorruptError
	var missing *state.MissingError
	switch {
	case errors.Is(err, store.ErrRedacted):
		return // erased on purpose
	case errors.As(err, &bad):
		c, kind = bad.Want, FsckBlock
	case errors.As(err, &missing):
		c, kind = missing.CID, FsckMissing
	}
	f.add(c, kind, "%v", err)
}

func (f *FsckRun) progress(what string, done int) {
	if f.opt.Progress != nil && done%1000 == 0 {
		f.opt.Progress(what, done)
	}
}

// looked tells damage from what ends the looking: damage is noted.
func (f *FsckRun) looked(err error) error {
	if err == nil || f.Ctx.Err() != nil {
		return f.Ctx.Err()
	}
	f.fail(ipld.CID{}, FsckStore, err)
	return nil
}

// redactions checks what was left of erased blocks.
func (f *FsckRun) redactions() error {
	e, ok := f.Repo.Store.(store.Eraser)
	if !ok {
		return nil
	}
	err := e.Redactions(f.Ctx, func(r store.Redaction) error {
		if _, err := state.DecodeRedaction(r.CID, r.Stub); err != nil {
			f.add(r.CID, FsckRecord, "%v", err)
		}
		return nil
	})
	return f.looked(err)
}

// Operations walks the chain of operations and checks every view and what it names.
func (f *FsckRun) Operations() error {
	head, err := f.Repo.Store.Head(f.Ctx)
	if err != nil {
		return f.looked(err)
	}
	if head.Seq == 0 {
		return nil
	}
	n := 0
	said, horizon, whole := make(reversals), uint64(0), true
	var oldest *commit.Operation
	least := uint64(0) // the horizon of the operation after
	for e, err := range commit.Operations(f.Ctx, f.Repo.Facts(), head.Operation) {
		if err != nil {
			f.fail(head.Operation, FsckOperation, err)
			whole = false
			break
		}
		f.reversal(said, e)
		if n > 0 && e.Operation.Horizon > least {
			f.add(e.CID, FsckOperation, "horizon %d, and then %d", e.Operation.Horizon, least)
		}
		oldest, least = e.Operation, e.Operation.Horizon
		horizon = max(horizon, e.Operation.Horizon)
		if n == 0 && e.Operation.Seq != head.Seq {
			f.add(e.CID, FsckOperation, "head says operation %d, the record %d", head.Seq,
				e.Operation.Seq)
		}
		n++
		f.progress("operations", n)
		f.view(e.CID, e.Operation, n == 1)
		if err := f.Ctx.Err(); err != nil {
			return err
		}
	}
	if whole {
		f.unmet(said, horizon)
		f.behind(oldest)
	}
	return f.Ctx.Err()
}

// behind checks the operations behind the horizon that are kept, from the oldest of the log on.
func (f *FsckRun) behind(o *commit.Operation) {
	for _, seq := range commit.Kept(o.Seq) {
		next := o.Skip
		if o.Seq%2 == 1 {
			next = o.Parent
		}
		rec, err := commit.ReadOperation(f.Ctx, f.Repo.Facts(), next)
		if err == nil && rec.Seq != seq {
			err = fmt.Errorf("%w operation log: operation %d where %d must be", store.ErrCorrupt,
				rec.Seq, seq)
		}
		if err != nil {
			f.fail(next, FsckOperation, err)
			return
		}
		o = rec
	}
}

// view checks an operation's view, and what its refs lead to. Of one whose tree is that of the
// operation after with its differences applied, only the refs that differ are looked at, and those
// that lead to others of the view: the cost of a log follows what it changed. tip says whether it is
// the newest: the graphs it leads to are checked from end to end.
func (f *FsckRun) view(op ipld.CID, rec *commit.Operation, tip bool) {
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

// changedRefs checks the refs of a view that are not those of the one after.
func (f *FsckRun) changedRefs(op ipld.CID, after, v *core.View) {
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

// leads reports whether a ref is right or wrong by what other refs are.
func leads(r core.Ref) bool { return r.Name == graph.Head || r.IsMerge() }

// listed checks the refs of a view under a prefix.
func (f *FsckRun) listed(op ipld.CID, v *core.View, prefix string) {
	for ref, err := range v.List(f.Ctx, prefix) {
		if err != nil {
			f.fail(op, FsckOperation, err)
			return
		}
		f.ref(op, v, ref)
	}
}

func (f *FsckRun) ref(op ipld.CID, v *core.View, ref core.Ref) {
	if err := graph.ValidateRef(ref.Name); err != nil {
		f.add(op, FsckOperation, "ref %s: %v", ref.Name, err)
		return
	}
	if ref.Symbolic != "" {
		if _, ok := ref.Symbolic.Branch(); !ok || ref.Name != graph.Head {
			f.add(op, FsckOperation, "ref %s names %s: HEAD alone names a branch", ref.Name,
				ref.Symbolic)
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
		f.merge(op, v, ref)
	case namespace == graph.Tags || namespace == graph.Remotes:
		f.history(f.peel(ref.Target))
	default:
		f.history(ref.Target)
	}
}

// Session checks a session's chain and its receipts.
func (f *FsckRun) Session(c ipld.CID) {
	for c.Defined() && !f.Seen[c] && f.Ctx.Err() == nil {
		f.Seen[c] = true
		e, err := session.ReadSession(f.Ctx, f.Repo.Facts(), c)
		if err != nil {
			f.fail(c, FsckRecord, err)
			return
		}
		if e.Record.Commit.Defined() {
			f.history(e.Record.Commit)
		}
		if e.Record.Receipt.Defined() {
			f.Receipt(e.Record.Receipt)
		}
		if e.Record.Prev.Defined() {
			prev, err := session.ReadSession(f.Ctx, f.Repo.Facts(), e.Record.Prev)
			if err == nil && prev.Record.Seq != e.Record.Seq-1 {
				f.add(c, FsckRecord, "session record %d follows %d", e.Record.Seq, prev.Record.Seq)
			}
		}
		c = e.Record.Prev
	}
}

// Receipt checks a receipt and the histories of its commits. An unavailable ranking version is not damage.
func (f *FsckRun) Receipt(c ipld.CID) {
	rec, _, err := session.Receipt(f.Ctx, f.Repo, c)
	if err != nil && !errors.Is(err, retrieve.ErrRankingVersion) {
		f.fail(c, FsckRecord, err)
		return
	}
	if rec == nil {
		return
	}
	for _, at := range rec.Commits {
		f.history(at)
	}
}

func (f *FsckRun) stage(c ipld.CID) {
	if f.Seen[c] {
		return
	}
	f.Seen[c] = true
	rec, err := commit.ReadStage(f.Ctx, f.Repo.Facts(), c)
	if err != nil {
		f.fail(c, FsckRecord, err)
		return
	}
	if rec.Base.Defined() {
		f.history(rec.Base)
	}
	s, err := f.Repo.LoadState(f.Ctx, state.Roots{Graph: rec.Graph, Vectors: rec.Vectors})
	if err != nil {
		f.fail(c, FsckRecord, err)
		return
	}
	f.wholeTrees(c, s, nil)
}
