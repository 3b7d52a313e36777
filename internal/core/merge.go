package core

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/merge3"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// MergesInProgress begins the refs of merges that wait for conflicts to be resolved, before the name of the branch.
	MergesInProgress = graph.Conflicts + "merge/"
	// ClientMerges does for those of one client of a shared store, before its name and the branch's.
	ClientMerges = graph.Conflicts + "client/"
	// keptCommits begins the refs of commits that did not merge with the branch they were made
	// for, before its name and a number.
	keptCommits = graph.Conflicts + "commit/"
)

// MergeOptions says how a merge, a revert or a cherry-pick is done.
type MergeOptions struct {
	CommitOptions // Message: "" for one that names what is merged
	// Prefer, if set, resolves all conflicts at once.
	Prefer graph.Take
	// Newest resolves each conflict of a merge by what was changed last; it excludes Prefer.
	Newest bool
	// NoFastForward makes a merge commit also if the branch could simply move.
	NoFastForward bool
	// Verify, if set, is called with the commits that a merge brings into the branch, newest
	// first, before anything changes: its error refuses the merge. RequireSigned is made for it.
	// A revert and a cherry-pick bring no commits of others.
	Verify func(commits iter.Seq2[commit.LogEntry, error]) error
}

// Check returns an error that wraps state.ErrInvalid if Prefer is unknown or set with Newest, or if Base or
// Amend is set.
func (o *MergeOptions) Check() error {
	switch o.Prefer {
	case "", graph.TakeOurs, graph.TakeTheirs, graph.TakeBase:
	default:
		return state.Invalidf("prefer %q: want ours, theirs or base", o.Prefer)
	}
	if o.Newest && o.Prefer != "" {
		return state.Invalidf("prefer %q and newest exclude each other", o.Prefer)
	}
	if o.Base != nil || o.Amend {
		return state.Invalidf("a merge has neither a base of its own nor amends")
	}
	return nil
}

// Job describes a merge into a branch.
type Job struct {
	Verb    commit.Verb
	Base    *state.State
	Theirs  *Snapshot      // of no commit for the empty state
	Name    string         // of theirs, for people
	Message string         // the default
	Kept    commit.Message // the default if there is no other
}

// mergeRef returns the ref of a merge in progress on a branch: in a shared store the client's own.
func (v *View) mergeRef(branch graph.RefName) graph.RefName {
	if v.client != "" {
		return graph.RefName(ClientMerges + v.client + "/" + BranchName(branch))
	}
	return graph.RefName(MergesInProgress + BranchName(branch))
}

// MergeOn returns the merge in progress on a branch, and whether there is one: the client's own, else one without
// a client, which versions before clients began and any client may end.
func (v *View) MergeOn(ctx context.Context, branch graph.RefName) (Ref, bool, error) {
	ref, ok, err := v.Get(ctx, v.mergeRef(branch))
	if err == nil && !ok && v.client != "" {
		ref, ok, err = v.Get(ctx, graph.RefName(MergesInProgress+BranchName(branch)))
	}
	return ref, ok, err
}

// merging returns the branch and the client, "" for none, of a ref that names a merge in progress. For other refs
// it returns false.
func (r Ref) merging() (branch, client string, ok bool) {
	if branch, ok = strings.CutPrefix(string(r.Name), MergesInProgress); ok {
		return branch, "", true
	}
	if branch, ok = strings.CutPrefix(string(r.Name), ClientMerges); ok {
		client, branch, ok = strings.Cut(branch, "/")
	}
	return branch, client, ok
}

// MergesOn yields the merges in progress, on one branch unless that is empty.
func (v *View) MergesOn(ctx context.Context, branch string) iter.Seq2[Ref, error] {
	return func(yield func(Ref, error) bool) {
		for _, prefix := range []string{MergesInProgress, ClientMerges} {
			for ref, err := range v.List(ctx, prefix) {
				if on, _, ok := ref.merging(); err == nil && (!ok || branch != "" && on != branch) {
					continue
				}
				if !yield(ref, err) || err != nil {
					return
				}
			}
		}
	}
}

// Land makes the commit of a merge, after making sure that no edge of it dangles.
func (t *Tx) Land(
	ctx context.Context, ref Ref, head *Snapshot, next *state.State, also *Snapshot, opt CommitOptions,
	res *CommitResult,
) error {
	if err := state.NoneDangling(ctx, head.State, next); err != nil {
		return err
	}
	if also != nil {
		opt.Also = append(opt.Also, also)
		if err := t.DropKept(ctx, also.Id); err != nil {
			return err
		}
	}
	var err error
	if res.Secrets, err = t.Incoming(ctx, head.State, next, opt.Secrets); err != nil {
		return err
	}
	return t.Commit(ctx, ref, head, next, opt, res)
}

// DropKept removes the refs of the commits that were kept because they did not merge and that c has.
func (t *Tx) DropKept(ctx context.Context, c ipld.CID) error {
	for ref, err := range t.View.List(ctx, keptCommits) {
		if err != nil {
			return err
		}
		has, err := commit.IsAncestor(ctx, t.Stage, ref.Target, c)
		if err != nil {
			return err
		}
		if has {
			t.RemoveRef(ref.Name)
		}
	}
	return nil
}

// keep makes a commit of what did not merge with the branch it was made for, upon the commit it
// began at, under a ref of its own.
func (t *Tx) keep(
	ctx context.Context, ref Ref, base, head *Snapshot, next *state.State, m *merge3.Merged, opt CommitOptions,
) (*MergeError, error) {
	var res CommitResult
	name := graph.RefName(fmt.Sprintf("%s%s/%d", keptCommits, BranchName(ref.Name), t.Head.Seq+1))
	if err := graph.ValidateRef(name); err != nil {
		return nil, fmt.Errorf("%w: branch name too long to keep a conflict: %w", state.ErrInvalid, err)
	}
	opt.Amend = false
	if err := t.Commit(ctx, Ref{Name: name}, base, next, opt, &res); err != nil {
		return nil, err
	}
	list, err := t.Conflicts(ctx, m.Conflicts, head.State, next)
	return &MergeError{
		Verb: "commit", Branch: BranchName(ref.Name), Conflicts: list,
		Base: base.Id, Head: ref.Target, Kept: res.Commit, Ref: name,
	}, err
}

// MergeError is returned when two sides changed the same things differently. errors.Is(err, ErrConflict) holds.
type MergeError struct {
	Verb      string // merge, revert, cherry-pick or commit
	Name      string // what was merged, "" for a commit
	Branch    string
	Conflicts []Conflict
	Base      ipld.CID // the commit that the change was made against
	Head      ipld.CID // where the branch is
	// Kept is the commit that was kept, and Ref its name, if changes made for an older commit did
	// not merge: 'merge' that ref to resolve them.
	Kept ipld.CID
	Ref  graph.RefName
}

// MaxNamed bounds how many conflicting items an error names.
const MaxNamed = 10

// Error names at most MaxNamed of the items in conflict, with the fields that conflict.
func (e *MergeError) Error() string {
	var b strings.Builder
	switch {
	case e.Name != "":
		fmt.Fprintf(&b, "%s of %s: ", e.Verb, e.Name)
	case e.Kept.Defined():
		fmt.Fprintf(&b, "branch %s moved from %s to %s; the changes are kept as %s, %s: ",
			e.Branch, state.OrNone(e.Base), state.OrNone(e.Head), e.Kept, e.Ref)
	}
	for i, c := range e.Conflicts {
		if i == MaxNamed {
			fmt.Fprintf(&b, " and %d more", len(e.Conflicts)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %s", c.Kind, c.Item)
		if len(c.Fields) > 0 {
			fmt.Fprintf(&b, " (%s)", strings.Join(c.fieldNames(), ", "))
		}
	}
	if b.Len() == 0 {
		return "conflict"
	}
	return "conflict: " + b.String()
}

// Is reports whether target is ErrConflict.
func (e *MergeError) Is(target error) bool { return target == state.ErrConflict }

// InProgressError is returned if a merge is in progress on a branch: it must be continued or
// aborted first. errors.Is(err, ErrConflict) holds.
type InProgressError struct {
	Branch string
	Client string // of a shared store, that began it; "" for the caller, and where anybody can end it
}

// Error names the branch, and the client if one is given.
func (e *InProgressError) Error() string {
	if e.Client != "" {
		return fmt.Sprintf("a merge of client %s is in progress on branch %s", e.Client, e.Branch)
	}
	return fmt.Sprintf("a merge is in progress on branch %s", e.Branch)
}

// Is reports whether target is ErrConflict.
func (e *InProgressError) Is(target error) bool { return target == state.ErrConflict }
