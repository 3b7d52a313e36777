package repo

import (
	"context"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/prolly"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
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
	CID     ipld.CID // of the bad block, or of the one that leads to the damage; may be undefined
	Kind    FsckKind
	Message string
}

// FsckReport is what fsck found.
type FsckReport struct {
	Blocks int // blocks read and verified, facts and derived
	Errors []FsckError
}

// FsckOptions says how thoroughly to look.
type FsckOptions struct {
	// Full checks that the trees and indexes of every commit are exactly those of its first parent
	// with its changes applied. Without it only the records that a commit changed are looked at; those
	// of the newest commit of each ref are checked from end to end in any case.
	Full bool
	// Progress, where given, is called now and then on the calling goroutine.
	Progress func(what string, done int)
	// By is who commits what Repair changes of the memory; without an author it changes nothing.
	By Stamp
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
func (r *Repo) Fsck(ctx context.Context, opt FsckOptions) (*FsckReport, error) {
	r.keep.still.RLock()
	defer r.keep.still.RUnlock()
	f := newFsck(ctx, r, opt)
	steps := []func() error{f.stored, f.redactions, f.operations, f.refs, f.bulky}
	for _, step := range steps {
		if err := step(); err != nil {
			return f.report, err
		}
	}
	return f.report, nil
}

func newFsck(ctx context.Context, r *Repo, opt FsckOptions) *fsck {
	return &fsck{
		ctx: ctx, repo: r, opt: opt, report: &FsckReport{},
		seen: make(map[ipld.CID]bool), trees: make(map[ipld.CID]bool),
		followed: make(map[ipld.CID]bool), known: newKnownRecords(), edits: prolly.NewCache(1 << 20),
	}
}

type fsck struct {
	ctx    context.Context
	repo   *Repo
	opt    FsckOptions
	report *FsckReport
	seen   map[ipld.CID]bool // commits, sessions and views checked
	trees  map[ipld.CID]bool // trees checked from end to end, or followed from such
	// followed are the keys of indexes that are what those before them become.
	followed map[ipld.CID]bool
	known    *knownRecords // of all blocks
	bulks    []bulk        // commits that are checked last
	good     []*state      // states all of whose edges are good
	after    *view         // that was checked last; the operations come newest first
	edits    *prolly.Cache // of trees before they are edited
}

// add notes damage. Errors of the context are not damage.
func (f *fsck) add(c ipld.CID, kind FsckKind, format string, args ...any) {
	if f.ctx.Err() == nil && len(f.report.Errors) < maxFsckErrors {
		f.report.Errors = append(f.report.Errors, FsckError{c, kind, fmt.Sprintf(format, args...)})
	}
}

// fail notes an error met while reading, naming the block it is about where it tells.
func (f *fsck) fail(c ipld.CID, kind FsckKind, err error) {
	var bad *store.CorruptError
	var missing *MissingError
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

func (f *fsck) progress(what string, done int) {
	if f.opt.Progress != nil && done%1000 == 0 {
		f.opt.Progress(what, done)
	}
}

// looked tells damage from what ends the looking: damage is noted.
func (f *fsck) looked(err error) error {
	if err == nil || f.ctx.Err() != nil {
		return f.ctx.Err()
	}
	f.fail(ipld.CID{}, FsckStore, err)
	return nil
}

// redactions checks what was left of erased blocks.
func (f *fsck) redactions() error {
	e, ok := f.repo.store.(store.Eraser)
	if !ok {
		return nil
	}
	err := e.Redactions(f.ctx, func(r store.Redaction) error {
		if _, err := decodeRedaction(r.CID, r.Stub); err != nil {
			f.add(r.CID, FsckRecord, "%v", err)
		}
		return nil
	})
	return f.looked(err)
}

// operations walks the chain of operations and checks every view and what it names.
func (f *fsck) operations() error {
	head, err := f.repo.store.Head(f.ctx)
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
	for e, err := range commit.Operations(f.ctx, f.repo.facts(), head.Operation) {
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
		if err := f.ctx.Err(); err != nil {
			return err
		}
	}
	if whole {
		f.unmet(said, horizon)
		f.behind(oldest)
	}
	return f.ctx.Err()
}

// behind checks the operations behind the horizon that are kept, from the oldest of the log on.
func (f *fsck) behind(o *commit.Operation) {
	for _, seq := range commit.Kept(o.Seq) {
		next := o.Skip
		if o.Seq%2 == 1 {
			next = o.Parent
		}
		rec, err := commit.ReadOperation(f.ctx, f.repo.facts(), next)
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
func (f *fsck) view(op ipld.CID, rec *commit.Operation, tip bool) {
	if f.seen[rec.View] && !tip {
		return
	}
	f.seen[rec.View] = true
	v, err := loadView(f.ctx, f.repo.nodes(), f.repo.facts(), store.Head{Seq: rec.Seq, Operation: op})
	if err == nil && f.after != nil {
		var same bool
		if same, err = f.followTree(f.edited(), f.after.tree, v.tree); err == nil && same {
			f.changedRefs(op, f.after, v)
			f.after = v
			return
		}
	}
	if v != nil {
		err = v.tree.Check(f.ctx)
	}
	if err != nil {
		f.fail(op, FsckOperation, err)
		return
	}
	f.listed(op, v, "")
	f.after = v
}

// changedRefs checks the refs of a view that are not those of the one after.
func (f *fsck) changedRefs(op ipld.CID, after, v *view) {
	for c, err := range prolly.Diff(f.ctx, after.tree, v.tree) {
		var ref Ref
		if err == nil && c.New != nil {
			ref, err = decodeRef(string(c.Key), c.New)
		}
		if err != nil {
			f.fail(op, FsckOperation, err)
			return
		}
		if c.New != nil && !ref.leads() {
			f.ref(op, v, ref)
		}
	}
	f.listed(op, v, mergesInProgress)
	f.listed(op, v, clientMerges)
	if head, ok, err := v.get(f.ctx, graph.Head); err != nil {
		f.fail(op, FsckOperation, err)
	} else if ok {
		f.ref(op, v, head)
	}
}

// leads reports whether a ref is right or wrong by what other refs are.
func (r Ref) leads() bool { return r.Name == graph.Head || r.isMerge() }

// listed checks the refs of a view under a prefix.
func (f *fsck) listed(op ipld.CID, v *view, prefix string) {
	for ref, err := range v.list(f.ctx, prefix) {
		if err != nil {
			f.fail(op, FsckOperation, err)
			return
		}
		f.ref(op, v, ref)
	}
}

func (f *fsck) ref(op ipld.CID, v *view, ref Ref) {
	if err := graph.ValidateRef(ref.Name); err != nil {
		f.add(op, FsckOperation, "ref %s: %v", ref.Name, err)
		return
	}
	if ref.Symbolic != "" {
		if _, ok := ref.Symbolic.Branch(); !ok || ref.Name != graph.Head {
			f.add(op, FsckOperation, "ref %s names %s: HEAD alone names a branch", ref.Name,
				ref.Symbolic)
		}
		if _, _, err := v.resolve(f.ctx, ref.Name); err != nil {
			f.fail(op, FsckOperation, err)
		}
		return
	}
	if f.imported(ref) {
		return
	}
	namespace, _ := ref.Name.Split()
	switch {
	case namespace == graph.Sessions || namespace == graph.Remotes && f.kind(ref.Target) == roleSession:
		f.session(ref.Target)
	case namespace == graph.Stages:
		f.stage(ref.Target)
	case ref.isMerge():
		f.merge(op, v, ref)
	case namespace == graph.Tags || namespace == graph.Remotes:
		f.history(f.peel(ref.Target))
	default:
		f.history(ref.Target)
	}
}

// session checks a session's chain and its receipts.
func (f *fsck) session(c ipld.CID) {
	for c.Defined() && !f.seen[c] && f.ctx.Err() == nil {
		f.seen[c] = true
		e, err := readSession(f.ctx, f.repo.facts(), c)
		if err != nil {
			f.fail(c, FsckRecord, err)
			return
		}
		if e.Record.Commit.Defined() {
			f.history(e.Record.Commit)
		}
		if e.Record.Receipt.Defined() {
			f.receipt(e.Record.Receipt)
		}
		if e.Record.Prev.Defined() {
			prev, err := readSession(f.ctx, f.repo.facts(), e.Record.Prev)
			if err == nil && prev.Record.Seq != e.Record.Seq-1 {
				f.add(c, FsckRecord, "session record %d follows %d", e.Record.Seq, prev.Record.Seq)
			}
		}
		c = e.Record.Prev
	}
}

func (f *fsck) receipt(c ipld.CID) {
	rec, _, err := f.repo.Receipt(f.ctx, c)
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

func (f *fsck) stage(c ipld.CID) {
	if f.seen[c] {
		return
	}
	f.seen[c] = true
	rec, err := commit.ReadStage(f.ctx, f.repo.facts(), c)
	if err != nil {
		f.fail(c, FsckRecord, err)
		return
	}
	if rec.Base.Defined() {
		f.history(rec.Base)
	}
	s, err := f.repo.loadState(f.ctx, roots{graph: rec.Graph, vectors: rec.Vectors})
	if err != nil {
		f.fail(c, FsckRecord, err)
		return
	}
	f.wholeTrees(c, s, nil)
}
