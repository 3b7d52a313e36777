package repo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"time"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// Errors to test for with errors.Is.
var (
	ErrNotFound = store.ErrNotFound // is returned when a repository, revision, node or session does not exist
	ErrExists   = fs.ErrExist       // is returned when Init finds a repository
	ErrCorrupt  = store.ErrCorrupt  // is returned when stored bytes are damaged or missing
	ErrBusy     = store.ErrBusy     // is returned when another process holds the repository beyond Options.Wait
	ErrReadOnly = store.ErrReadOnly // is returned by writes to a repository opened with Options.ReadOnly
	ErrConflict = state.ErrConflict // is returned when a ref moved, or changes do not merge
	ErrInvalid  = state.ErrInvalid  // is returned for bad input
	ErrSecret   = state.ErrSecret   // is returned when a change contains a credential
)

// Author says who makes a change, and what for.
type Author struct {
	Name  string // required for writes
	Agent string // the program that acts for the author, if any
	Task  string // what it works on, if anything
	// Time returns the time of a change, for its commits and the records in them; nil: the time of Options.Now.
	Time func() graph.Time
	// Sign signs the commits that are made, on the calling goroutine; nil leaves them unsigned.
	Sign commit.SignFunc
	// Guard may refuse the changes of an operation; nil for an author who may change anything.
	Guard Guard
	// AllowSecrets are ids of rules for credentials whose findings are written all the same.
	AllowSecrets []string
}

// Guard decides whether an operation may be recorded. It is called while other writers wait, once or more for
// each thing that the operation changes. Its first error refuses the whole operation.
type Guard func(Touch) error

// Touch is one thing that an operation changes.
type Touch struct {
	Kind string        // node, edge, profile, digest or tag
	Ref  graph.RefName // the branch, stage or tag; "" for an erasure, which changes all of history
	ID   graph.ID      // of the node or edge
	Type string        // its type: a change of the type is two touches
}

// Options says how a repository is opened. The zero value opens an existing one, but only an author with a name, and a
// clock, can write.
type Options struct {
	By Author // who makes changes
	// Now is the clock for recording and collecting operations, so that no author's time decides what is kept; safe for
	// concurrent use. nil: the times of the authors, for programs without a clock.
	Now      func() graph.Time
	ReadOnly bool          // change no byte; writes return ErrReadOnly
	Wait     time.Duration // how long to wait for another process to let go; 0: not at all
	Memory   int64         // bytes that all caches keep together; 0: 512 MiB
	Branch   string        // of a new repository: the branch that HEAD is on; "" for main
	// Counters are token counters that retrievals may name in addition to the built-in estimate.
	Counters retrieve.Counters
	// Meaning embeds written nodes, up to 64 in a commit, and the text of questions; nil: nothing is embedded.
	Meaning Meaning
}

func (o Options) core() core.Options {
	return core.Options{
		ReadOnly: o.ReadOnly, Wait: o.Wait, Memory: o.Memory, Branch: o.Branch, Counters: o.Counters,
		Now: o.Now,
	}
}

// Repo is an open repository. It is safe for concurrent use: readers never wait for writers, and writers take turns.
type Repo struct {
	core    *core.Repo
	by      Author
	now     func() graph.Time
	meaning Meaning
}

// Init makes a new repository in dir/.mnem and opens it. The error wraps ErrExists if there is one already.
func Init(ctx context.Context, dir string, opt Options) (*Repo, error) {
	r := &Repo{by: opt.By, now: opt.Now, meaning: opt.Meaning}
	c, err := care.Init(ctx, dir, r.stamp("init"), opt.core())
	if err != nil {
		return nil, err
	}
	if err := care.IgnoreInGit(dir); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	r.core = c
	return r, nil
}

// Open opens the repository in dir/.mnem. The error wraps ErrNotFound if there is none, ErrBusy if another process
// holds it, and ErrCorrupt if the newest acknowledged operation is not the stored one.
func Open(dir string, opt Options) (*Repo, error) {
	c, err := care.Open(dir, opt.core())
	if err != nil {
		return nil, err
	}
	return &Repo{core: c, by: opt.By, now: opt.Now, meaning: opt.Meaning}, nil
}

// New makes an empty repository in memory, which is gone when it is closed.
func New(ctx context.Context, opt Options) (*Repo, error) {
	r := &Repo{by: opt.By, now: opt.Now, meaning: opt.Meaning}
	c, err := care.New(ctx, mem.New(), r.stamp("init"), opt.core())
	if err != nil {
		return nil, err
	}
	r.core = c
	return r, nil
}

// As returns the same repository for another author. Close either, once.
func (r *Repo) As(by Author) *Repo {
	return &Repo{core: r.core, by: by, now: r.now, meaning: r.meaning}
}

// Close releases the repository. Snapshots of it must not be used afterwards.
func (r *Repo) Close() error { return r.core.Close() }

// stamp is who makes a change by a verb, for the operation log.
func (r *Repo) stamp(verb string) state.Stamp {
	by := state.Stamp{
		Author: r.by.Name, Agent: r.by.Agent, Task: r.by.Task, Sign: r.by.Sign, Command: []string{verb},
		Secrets: state.SecretOptions{Allow: r.by.AllowSecrets},
	}
	if r.meaning != nil {
		by.Meaning = r.meaning
	}
	if clock := r.clock(); clock != nil {
		by.Time = clock()
	}
	if guard := r.by.Guard; guard != nil {
		by.Guard = func(t state.Touch) error {
			return guard(Touch{Kind: string(t.Kind), Ref: t.Ref, ID: t.ID, Type: t.Type})
		}
	}
	return by
}

// clock returns the clock for changes, nil if there is none.
func (r *Repo) clock() func() graph.Time {
	if r.by.Time != nil {
		return r.by.Time
	}
	return r.now
}

// canWrite refuses an author without a name or a clock.
func (r *Repo) canWrite() error {
	switch {
	case r.by.Name == "":
		return fmt.Errorf("%w: no author: set Options.By", ErrInvalid)
	case r.clock() == nil:
		return fmt.Errorf("%w: no time: set Options.Now, or the Time of Options.By", ErrInvalid)
	}
	return nil
}

// Counts says how many things of a kind were added, changed and removed.
type Counts struct{ Added, Changed, Removed int }

func counts(c state.Counts) Counts { return Counts{c.Added, c.Changed, c.Removed} }

// CommitOptions says how changes are committed. The zero value commits to the branch that HEAD is on.
type CommitOptions struct {
	Message string
	Branch  string // "" for the branch that HEAD is on
	// Expect, unless nil, is the commit that the branch must be at; else the error wraps ErrConflict.
	Expect *ipld.CID
	// Amend replaces the newest commit by one with the same change id.
	Amend bool
}

func (r *Repo) options(verb string, opt CommitOptions) core.CommitOptions {
	return core.CommitOptions{
		Stamp: r.stamp(verb), Message: opt.Message, Branch: opt.Branch, Expect: opt.Expect, Amend: opt.Amend,
	}
}

// Committed describes a write.
type Committed struct {
	Commit   ipld.CID // the new commit, or the branch's old one if nothing changed; undefined if Conflicts remain
	Branch   string
	Nodes    Counts
	Edges    Counts
	NoChange bool // whether no commit was made
	// Conflicts are the items that both sides of a merge changed differently, resolved or waiting for Resolve.
	Conflicts []Conflict
}

func committed(res *core.CommitResult) *Committed {
	return &Committed{
		Commit: res.Commit, Branch: res.Branch, NoChange: res.NoChange,
		Nodes: counts(res.Nodes), Edges: counts(res.Edges),
	}
}

// Put commits nodes and edges as one change. A node with a key that exists replaces the fields that it gives.
// It refuses to write without facts, an author or a time.
func (r *Repo) Put(ctx context.Context, message string, facts ...Fact) (*Committed, error) {
	if len(facts) == 0 {
		return nil, fmt.Errorf("%w: no fact to put", ErrInvalid)
	}
	changes := func(yield func(graph.Change, error) bool) {
		for _, f := range facts {
			if !yield(changeOf(f)) {
				return
			}
		}
	}
	return r.commit(ctx, changes, CommitOptions{Message: message})
}

// Commit commits the change lines of a reader as one change, all or nothing. An error about a line is a
// *graph.LineError that names file and line; one about a branch that moved wraps ErrConflict.
func (r *Repo) Commit(ctx context.Context, in io.Reader, file string, opt CommitOptions) (*Committed, error) {
	return r.commit(ctx, state.ReadChanges(in, file), opt)
}

func (r *Repo) commit(ctx context.Context, changes state.Changes, opt CommitOptions) (*Committed, error) {
	if err := r.canWrite(); err != nil {
		return nil, err
	}
	res, err := r.core.Commit(ctx, changes, r.options("commit", opt))
	if err != nil {
		return nil, conflicting(err)
	}
	return committed(res), nil
}

// Snapshot returns the memory as a revision left it: a branch, tag, CID, unique CID prefix, REV~n or
// BRANCH@{time}. "" is HEAD.
func (r *Repo) Snapshot(ctx context.Context, rev string) (*Snapshot, error) {
	if rev == "" {
		rev = "HEAD"
	}
	s, err := r.core.Snapshot(ctx, rev)
	if err != nil {
		return nil, err
	}
	return &Snapshot{s, r.meaning}, nil
}

// Fsck checks everything stored and returns the faults, nothing if all is well.
func (r *Repo) Fsck(ctx context.Context, full bool) ([]Fault, error) {
	rep, err := care.Fsck(ctx, r.core, care.FsckOptions{Full: full})
	if err != nil {
		return nil, err
	}
	var faults []Fault
	for _, e := range rep.Errors {
		faults = append(faults, Fault{CID: e.CID, Kind: string(e.Kind), Message: e.Message})
	}
	return faults, nil
}

// Fault is one thing that Fsck found.
type Fault struct {
	CID     ipld.CID // of the bad block, or of the one that leads to the damage; may be undefined
	Kind    string
	Message string
}

// GC removes what neither refs nor the newest keepOps operations lead to, 0 meaning 10,000, unless it was there at
// any moment within the last grace. It returns how many blocks and bytes went.
func (r *Repo) GC(ctx context.Context, keepOps int, grace time.Duration) (blocks int, bytes int64, err error) {
	res, err := care.GC(ctx, r.core, care.GCOptions{Stamp: r.stamp("gc"), KeepOps: keepOps, Grace: grace})
	if err != nil {
		return 0, 0, err
	}
	return res.Blocks, res.Bytes, nil
}

// Purge erases the bytes of every version of a node permanently, and leaves a redaction with the reason in place of
// each block. It cannot be undone. It returns how many blocks were erased.
func (r *Repo) Purge(ctx context.Context, node, reason string) (blocks int, err error) {
	res, err := care.Purge(ctx, r.core, node, care.PurgeOptions{Stamp: r.stamp("purge"), Reason: reason})
	if err != nil {
		return 0, err
	}
	return len(res.Erased), nil
}

// Export writes commits, with their histories, to a CARv1 file: a revision, a range A..B, or everything for "".
// The same repository gives the same bytes on every machine.
func (r *Repo) Export(ctx context.Context, w io.Writer, rev string) (blocks int, err error) {
	res, err := exchange.Export(ctx, r.core, w, exchange.ExportOptions{Rev: rev, All: rev == ""})
	if err != nil {
		return 0, err
	}
	return res.Blocks, nil
}

// Import takes in a CARv1 file that Export wrote, all or nothing, once everything in it was checked. Its refs keep
// their names in an empty repository, and go to refs/imported/NAME/ in any other.
func (r *Repo) Import(ctx context.Context, in io.ReaderAt, size int64, name string) (newBlocks int, err error) {
	res, err := exchange.Import(ctx, r.core, in, size, exchange.ImportOptions{Stamp: r.stamp("import"), Fallback: name})
	if err != nil {
		return 0, err
	}
	return res.NewBlocks, nil
}

// ConflictError is returned by a merge that leaves conflicts, and by a commit whose branch moved if the changes do not
// merge with the branch's. It wraps ErrConflict.
type ConflictError struct {
	Branch    string
	Conflicts []Conflict
	Kept      ipld.CID      // the commit that holds the changes; undefined for a merge
	Ref       graph.RefName // the ref that keeps it: merge that to resolve them
	err       error
}

// Error returns the text of the error that Unwrap returns, which names the branch and the first conflicts.
func (e *ConflictError) Error() string { return e.err.Error() }

// Unwrap returns the error that was translated.
func (e *ConflictError) Unwrap() error { return e.err }

// conflicting gives an error about a merge its public form.
func conflicting(err error) error {
	var m *core.MergeError
	if !errors.As(err, &m) {
		return err
	}
	return &ConflictError{Branch: m.Branch, Conflicts: conflicts(m.Conflicts), Kept: m.Kept, Ref: m.Ref, err: err}
}

// seq converts each value of a sequence.
func seq[A, B any](in iter.Seq2[A, error], as func(A) B) iter.Seq2[B, error] {
	return func(yield func(B, error) bool) {
		for a, err := range in {
			var b B
			if err == nil {
				b = as(a)
			}
			if !yield(b, err) {
				return
			}
		}
	}
}
