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

// FsckKind is the kind of damage that fsck found.
type FsckKind string

const (
	FsckBlock     FsckKind = "block"     // bytes that do not match their CID, or are not canonical
	FsckMissing   FsckKind = "missing"   // a block that something links to is not there
	FsckTree      FsckKind = "tree"      // a tree with wrong shape, order or counts
	FsckCounts    FsckKind = "counts"    // a graph whose counts differ from its trees
	FsckAdjacency FsckKind = "adjacency" // out or in trees that do not match the edges
	FsckDangling  FsckKind = "dangling"  // an edge, mark or embedding of something that is not there
	FsckRecord    FsckKind = "record"    // a record with wrong content, or stored under the wrong key
	FsckOperation FsckKind = "operation" // a broken chain of operations, or a ref that leads nowhere
	FsckIndex     FsckKind = "index"     // an index that is not that of its graph
	FsckCircle    FsckKind = "circle"    // nodes of a branch that supersede each other in a cycle
	FsckStore     FsckKind = "store"     // damage in the store around the blocks
)

// FsckError is one fault.
type FsckError struct {
	CID     ipld.CID `json:"cid" shape:"null"` // of the bad block, or the one that leads to the damage; may be undefined
	Kind    FsckKind `json:"kind"`
	Message string   `json:"message"`
}

// FsckReport is the result of fsck.
type FsckReport struct {
	Blocks int         `json:"blocks"` // blocks read and verified, facts and derived
	Errors []FsckError `json:"errors"`
}

// FsckOptions configure fsck.
type FsckOptions struct {
	// Full checks that the trees and indexes of every commit are exactly those of its first parent with its changes
	// applied. Without it only the records that a commit changed are checked, and everything for the newest commit
	// of each ref.
	Full bool
	// Progress, if set, is called now and then on the calling goroutine.
	Progress func(what string, done int)
	// By is the author of the commits that Repair makes; without an author Repair changes no facts.
	By state.Stamp
}

// maxFsckErrors bounds a report: extensive damage need not be listed block by block.
const maxFsckErrors = 1000

// Fsck checks everything: the hash and form of every block, the chain of operations, every ref, commit, graph,
// session and receipt, the trees, the adjacency, and that each index of a checked graph answers like a rebuilt one.
// It changes nothing. The error is about checking, for instance a cancelled context; damage is in the report.
//
// It reads all blocks once in storage order and hashes them on all processors. In the same pass it computes what
// indexes must contain for nodes and embeddings. Then it reads the chunks of trees that a commit changed, and those
// of the newest commits once more. For a commit with most of the edges, which resembles the newest, it reads only
// the latter. In addition to the caches it uses up to 32 bytes for each stored node, edge and embedding.
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

// NewFsck prepares a check without running any steps; Fsck runs all of them.
func NewFsck(ctx context.Context, r *core.Repo, opt FsckOptions) *FsckRun {
	return &FsckRun{
		Ctx: ctx, Repo: r, opt: opt, Report: &FsckReport{},
		Seen: make(map[ipld.CID]bool), Trees: make(map[ipld.CID]bool),
		followed: make(map[ipld.CID]bool), Known: view.NewKnownRecords(), edits: prolly.NewCache(1 << 20),
	}
}

// FsckRun is one check: its report so far, and what it need not check again. It is not safe for concurrent use.
type FsckRun struct {
	Ctx    context.Context
	Repo   *core.Repo
	opt    FsckOptions
	Report *FsckReport
	Seen   map[ipld.CID]bool // commits, sessions and views checked
	Trees  map[ipld.CID]bool // trees checked from end to end, or followed from such
	// followed holds the keys of indexes that equal their predecessors with changes applied.
	followed map[ipld.CID]bool
	Known    *view.KnownRecords // of all blocks
	Bulks    []bulk             // commits that are checked last
	good     []*state.State     // states whose edges are all good
	after    *core.View         // the view checked last; operations are checked newest first
	edits    *prolly.Cache      // of trees before they are edited
}

// add records damage. Errors of the context are not damage.
func (f *FsckRun) add(c ipld.CID, kind FsckKind, format string, args ...any) {
	if f.Ctx.Err() == nil && len(f.Report.Errors) < maxFsckErrors {
		f.Report.Errors = append(f.Report.Errors, FsckError{c, kind, fmt.Sprintf(format, args...)})
	}
}

// fail records an error met while reading, naming the block it is about if known.
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

// looked distinguishes damage from what ends the check: it records damage.
func (f *FsckRun) looked(err error) error {
	if err == nil || f.Ctx.Err() != nil {
		return f.Ctx.Err()
	}
	f.fail(ipld.CID{}, FsckStore, err)
	return nil
}

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

// imported checks the target of an import's ref, and reports whether it is such a ref.
func (f *FsckRun) imported(ref core.Ref) bool {
	imported, ns, _ := ref.Name.SplitImported()
	switch {
	case imported == "":
		return false
	case ns == graph.Sessions:
		f.Session(ref.Target)
	case f.kind(ref.Target) == state.RoleReceipt:
		f.Receipt(ref.Target)
	default:
		f.history(f.peel(ref.Target))
	}
	return true
}

// wholeImported completely checks the trees of an import's ref if it leads to a commit, and reports whether it is
// such a ref.
func (f *FsckRun) wholeImported(ref core.Ref) bool {
	imported, ns, _ := ref.Name.SplitImported()
	if imported != "" && ns != graph.Sessions && f.kind(ref.Target) != state.RoleReceipt {
		f.whole(f.peel(ref.Target))
	}
	return imported != ""
}

func (f *FsckRun) peel(c ipld.CID) ipld.CID {
	if f.kind(c) != state.RoleTag {
		return c
	}
	tag, err := commit.ReadTag(f.Ctx, f.Repo.Facts(), c)
	if err != nil {
		f.fail(c, FsckRecord, err)
		return c
	}
	f.message(c, tag.Message)
	return tag.Target
}

// kind returns the role of a record that a ref names. An unreadable one counts as a commit: reading it as such
// reports the damage.
func (f *FsckRun) kind(c ipld.CID) state.Role {
	block, err := f.Repo.Facts().Get(f.Ctx, c)
	if err != nil || ipld.RecordKind(block) == commit.KindCommit {
		return state.RoleCommit
	}
	return state.NamedRole(block)
}
