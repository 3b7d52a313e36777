package repo

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// mergesInProgress begins the refs of merges that wait for conflicts to be resolved, before
	// the name of the branch.
	mergesInProgress = graph.Conflicts + "merge/"
	// clientMerges does for those of one client of a shared store, before its name and the branch's.
	clientMerges = graph.Conflicts + "client/"
	// keptCommits begins the refs of commits that did not merge with the branch they were made
	// for, before its name and a number.
	keptCommits = graph.Conflicts + "commit/"
)

// MergeOptions says how a merge, a revert or a cherry-pick is done.
type MergeOptions struct {
	CommitOptions // Message: "" for one that names what is merged
	// Prefer, where given, resolves all conflicts at once.
	Prefer graph.Take
	// Newest resolves each conflict of a merge by what was changed last; it excludes Prefer.
	Newest bool
	// NoFastForward makes a merge commit also where the branch could simply move.
	NoFastForward bool
	// Verify, where given, is called with the commits that a merge brings into the branch, newest
	// first, before anything changes: its error refuses the merge. RequireSigned is made for it.
	// A revert and a cherry-pick bring no commits of others.
	Verify func(commits iter.Seq2[commit.LogEntry, error]) error
}

func (o *MergeOptions) check() error {
	switch o.Prefer {
	case "", graph.TakeOurs, graph.TakeTheirs, graph.TakeBase:
	default:
		return invalidf("prefer %q: want ours, theirs or base", o.Prefer)
	}
	if o.Newest && o.Prefer != "" {
		return invalidf("prefer %q and newest exclude each other", o.Prefer)
	}
	if o.Base != nil || o.Amend {
		return invalidf("a merge has neither a base of its own nor amends")
	}
	return nil
}

// MergeResult tells what a merge, a revert or a cherry-pick did.
type MergeResult struct {
	CommitResult              // Commit is undefined where conflicts remain
	FastForward    bool       // whether the branch simply moved
	UpToDate       bool       // whether there was nothing to merge
	Conflicts      []Conflict // all of them, resolved by Prefer or waiting, in item order
	VectorsDropped int        // embeddings that fit no merged node
}

// job is what is to be merged into a branch.
type job struct {
	verb    commit.Verb
	base    *state
	theirs  *Snapshot      // of no commit for the empty state
	name    string         // of theirs, for people
	message string         // the default
	kept    commit.Message // the default where there is no other
}

// Merge merges a revision into a branch: three-way, per field, property, edge and mark. Where the
// branch has nothing of its own it simply moves. Where both sides changed one thing differently
// and opt.Prefer does not decide, the merge is kept in progress (see PendingMerge) and a
// *MergeError comes with the result; the branch has not moved then.
func (r *Repo) Merge(ctx context.Context, rev string, opt MergeOptions) (*MergeResult, error) {
	return r.integrate(ctx, opt, func(t *tx, ref Ref, head *Snapshot, res *MergeResult) (*job, error) {
		c, err := r.resolve(ctx, t.view, rev)
		if err != nil {
			return nil, err
		}
		if err := t.verifyTheirs(ctx, opt, c, head.id); err != nil {
			return nil, err
		}
		done, err := t.fastForward(ctx, ref, head, c, opt, res)
		if done || err != nil {
			return nil, err
		}
		j := &job{
			verb: commit.VerbMerge, name: rev,
			message: fmt.Sprintf("merge %s into %s", rev, branchName(ref.Name)),
		}
		if j.base, err = t.mergeBase(ctx, head.id, c); err != nil {
			return nil, err
		}
		j.theirs, err = t.at(ctx, c)
		return j, err
	})
}

// fastForward moves a branch to a commit that has all of it, and does nothing for one that it has.
func (t *tx) fastForward(
	ctx context.Context, ref Ref, head *Snapshot, c ipld.CID, opt MergeOptions, res *MergeResult,
) (done bool, err error) {
	get := t.repo.facts()
	var has bool
	if head.id.Defined() {
		if has, err = commit.IsAncestor(ctx, get, c, head.id); err != nil {
			return false, err
		}
	}
	if has {
		res.UpToDate, res.NoChange = true, true
		res.Commit, res.Graph, res.Parents = head.id, head.Graph(), head.commit.Parents
		return true, t.dropKept(ctx, c)
	}
	if head.id.Defined() {
		forward, err := commit.IsAncestor(ctx, get, head.id, c)
		if err != nil || !forward || opt.NoFastForward {
			return false, err
		}
	}
	next, err := t.at(ctx, c)
	if err != nil {
		return false, err
	}
	res.FastForward = true
	res.Commit, res.Graph, res.Parents = c, next.Graph(), next.commit.Parents
	if res.Nodes, res.Edges, err = head.Diff(next).Count(ctx); err != nil {
		return false, err
	}
	if res.Secrets, err = t.incoming(ctx, head.state, next.state, opt.Secrets); err != nil {
		return false, err
	}
	t.setRef(ref.Name, c)
	return true, t.dropKept(ctx, c)
}

// integrate merges what prepare finds into a branch, in one operation.
func (r *Repo) integrate(
	ctx context.Context, opt MergeOptions,
	prepare func(*tx, Ref, *Snapshot, *MergeResult) (*job, error),
) (*MergeResult, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	said, err := checkTexts(opt.Stamp, opt.Message)
	if err != nil {
		return nil, err
	}
	res := &MergeResult{}
	var failed *MergeError
	_, err = r.transact(ctx, opt.Stamp, func(t *tx) error {
		*res, failed = MergeResult{}, nil
		ref, head, err := t.base(ctx, opt.CommitOptions)
		if err != nil {
			return err
		}
		res.Branch = branchName(ref.Name)
		if err := t.noMerge(ctx, ref); err != nil {
			return err
		}
		j, err := prepare(t, ref, head, res)
		if err != nil || j == nil {
			return err
		}
		failed, err = t.mergeJob(ctx, ref, head, j, opt, res)
		return err
	})
	res.Secrets.add(said.Findings...)
	switch {
	case err != nil:
		return nil, err
	case failed != nil:
		return res, failed
	}
	return res, nil
}

// noMerge returns an error where a merge is in progress on a branch.
func (t *tx) noMerge(ctx context.Context, ref Ref) error {
	_, ok, err := t.view.mergeOn(ctx, ref.Name)
	if err == nil && ok {
		err = &InProgressError{Branch: branchName(ref.Name)}
	}
	return err
}

// mergeRef returns the ref of a merge in progress on a branch: in a shared store the client's own.
func (v *view) mergeRef(branch graph.RefName) graph.RefName {
	if v.client != "" {
		return graph.RefName(clientMerges + v.client + "/" + branchName(branch))
	}
	return graph.RefName(mergesInProgress + branchName(branch))
}

// mergeOn returns the merge in progress on a branch, and whether there is one: the client's own, else one of no
// client, as versions that knew none began it, which whoever ends it takes.
func (v *view) mergeOn(ctx context.Context, branch graph.RefName) (Ref, bool, error) {
	ref, ok, err := v.get(ctx, v.mergeRef(branch))
	if err == nil && !ok && v.client != "" {
		ref, ok, err = v.get(ctx, graph.RefName(mergesInProgress+branchName(branch)))
	}
	return ref, ok, err
}

// merging returns the branch that a ref is of a merge in progress on, and whose, "" for nobody's. For other refs it
// returns false.
func (r Ref) merging() (branch, client string, ok bool) {
	if branch, ok = strings.CutPrefix(string(r.Name), mergesInProgress); ok {
		return branch, "", true
	}
	if branch, ok = strings.CutPrefix(string(r.Name), clientMerges); ok {
		client, branch, ok = strings.Cut(branch, "/")
	}
	return branch, client, ok
}

// mergesOn yields the merges in progress, on one branch unless that is empty.
func (v *view) mergesOn(ctx context.Context, branch string) iter.Seq2[Ref, error] {
	return func(yield func(Ref, error) bool) {
		for _, prefix := range []string{mergesInProgress, clientMerges} {
			for ref, err := range v.list(ctx, prefix) {
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

// mergeJob merges and makes a commit, or keeps the merge in progress and returns what conflicts.
func (t *tx) mergeJob(
	ctx context.Context, ref Ref, head *Snapshot, j *job, opt MergeOptions, res *MergeResult,
) (*MergeError, error) {
	if opt.Message == "" {
		opt.Message, opt.kept = j.message, j.kept
	}
	if err := opt.keep(); err != nil {
		return nil, err
	}
	m, err := mergeStates(ctx, t.stage, j.base, head.state, j.theirs.state)
	if err != nil {
		return nil, err
	}
	if j.parent() == nil { // a commit of its own, which would write what was erased anew
		if err := noneErased(ctx, head.state, m.state); err != nil {
			return nil, err
		}
	}
	res.VectorsDropped = m.dropped
	if res.Conflicts, err = t.conflicts(ctx, m.conflicts, head.state, j.theirs.state); err != nil {
		return nil, err
	}
	next := m.state
	switch {
	case len(m.conflicts) > 0 && opt.Prefer == "" && !(opt.Newest && j.parent() != nil):
		err := t.suspend(ctx, ref, head, j, m, opt)
		return &MergeError{
			Verb: string(j.verb), Name: j.name, Branch: res.Branch, Conflicts: res.Conflicts,
			Base: head.id, Head: head.id,
		}, err
	case len(m.conflicts) > 0:
		if next, err = t.prefer(ctx, head, j, m, opt, res); err != nil {
			return nil, err
		}
	}
	return nil, t.land(ctx, ref, head, next, j.parent(), opt.CommitOptions, &res.CommitResult)
}

// prefer resolves all conflicts of a merge as its options say.
func (t *tx) prefer(
	ctx context.Context, head *Snapshot, j *job, m *merged, opt MergeOptions, res *MergeResult,
) (*state, error) {
	take := func(graph.Item) graph.Take { return opt.Prefer }
	if opt.Newest {
		chosen, err := t.newest(ctx, m.conflicts, head.id, j.theirs.id)
		if err != nil {
			return nil, err
		}
		take = func(item graph.Item) graph.Take { return chosen[item] }
	}
	all := func(item graph.Item) (commit.Resolution, bool) { return commit.Resolution{Take: take(item)}, true }
	next, more, err := t.resolve(ctx, m, head.state, j.theirs.state, opt.Stamp, all)
	if err != nil {
		return nil, err
	}
	res.VectorsDropped += more
	for i := range res.Conflicts {
		res.Conflicts[i].Resolution = string(take(res.Conflicts[i].Item))
	}
	return next, nil
}

// parent returns the second parent of the commit that a job makes, nil for none.
func (j *job) parent() *Snapshot {
	if j.verb == commit.VerbMerge {
		return j.theirs
	}
	return nil
}

// land makes the commit of a merge, after making sure that no edge of it dangles.
func (t *tx) land(
	ctx context.Context, ref Ref, head *Snapshot, next *state, also *Snapshot, opt CommitOptions,
	res *CommitResult,
) error {
	if err := noneDangling(ctx, head.state, next); err != nil {
		return err
	}
	if also != nil {
		opt.also = append(opt.also, also)
		if err := t.dropKept(ctx, also.id); err != nil {
			return err
		}
	}
	var err error
	if res.Secrets, err = t.incoming(ctx, head.state, next, opt.Secrets); err != nil {
		return err
	}
	return t.commit(ctx, ref, head, next, opt, res)
}

// dropKept removes the refs of the commits that were kept because they did not merge and that c
// has.
func (t *tx) dropKept(ctx context.Context, c ipld.CID) error {
	for ref, err := range t.view.list(ctx, keptCommits) {
		if err != nil {
			return err
		}
		has, err := commit.IsAncestor(ctx, t.stage, ref.Target, c)
		if err != nil {
			return err
		}
		if has {
			t.removeRef(ref.Name)
		}
	}
	return nil
}

// keep makes a commit of what did not merge with the branch it was made for, upon the commit it
// began at, under a ref of its own.
func (t *tx) keep(
	ctx context.Context, ref Ref, base, head *Snapshot, next *state, m *merged, opt CommitOptions,
) (*MergeError, error) {
	var res CommitResult
	name := graph.RefName(fmt.Sprintf("%s%s/%d", keptCommits, branchName(ref.Name), t.head.Seq+1))
	if err := graph.ValidateRef(name); err != nil {
		return nil, fmt.Errorf("%w: branch name too long to keep a conflict: %w", ErrInvalid, err)
	}
	opt.Amend = false
	if err := t.commit(ctx, Ref{Name: name}, base, next, opt, &res); err != nil {
		return nil, err
	}
	list, err := t.conflicts(ctx, m.conflicts, head.state, next)
	return &MergeError{
		Verb: "commit", Branch: branchName(ref.Name), Conflicts: list,
		Base: base.id, Head: ref.Target, Kept: res.Commit, Ref: name,
	}, err
}

// MergeError is returned when two sides changed the same things differently.
// errors.Is(err, ErrConflict) holds.
type MergeError struct {
	Verb      string // merge, revert, cherry-pick or commit
	Name      string // what was merged, "" for a commit
	Branch    string
	Conflicts []Conflict
	Base      ipld.CID // the commit that the change was made against
	Head      ipld.CID // where the branch is
	// Kept is the commit that was kept, and Ref its name, where changes made for an older commit
	// did not merge: 'merge' that ref to resolve them.
	Kept ipld.CID
	Ref  graph.RefName
}

// maxNamed bounds how many conflicting items an error names.
const maxNamed = 10

func (e *MergeError) Error() string {
	var b strings.Builder
	switch {
	case e.Name != "":
		fmt.Fprintf(&b, "%s of %s: ", e.Verb, e.Name)
	case e.Kept.Defined():
		fmt.Fprintf(&b, "branch %s moved from %s to %s; the changes are kept as %s, %s: ",
			e.Branch, orNone(e.Base), orNone(e.Head), e.Kept, e.Ref)
	}
	for i, c := range e.Conflicts {
		if i == maxNamed {
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
func (e *MergeError) Is(target error) bool { return target == ErrConflict }

// InProgressError is returned where a merge is in progress on a branch: it must be continued or
// aborted first. errors.Is(err, ErrConflict) holds.
type InProgressError struct {
	Branch string
	Client string // of a shared store, that began it; "" for the caller, and where anybody can end it
}

func (e *InProgressError) Error() string {
	if e.Client != "" {
		return fmt.Sprintf("a merge of client %s is in progress on branch %s", e.Client, e.Branch)
	}
	return fmt.Sprintf("a merge is in progress on branch %s", e.Branch)
}

// Is reports whether target is ErrConflict.
func (e *InProgressError) Is(target error) bool { return target == ErrConflict }
