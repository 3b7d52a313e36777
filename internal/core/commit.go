package core

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/merge3"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// CommitOptions says how changes become a commit.
type CommitOptions struct {
	state.Stamp
	Message string
	Branch  string // "" for the branch HEAD is on
	// Expect, if set, is the commit the branch must be at. A mismatch fails with an *ExpectError.
	Expect *ipld.CID
	// ExpectNodes are the versions that nodes of the branch must have, undefined for a node that must
	// not be there: else the write is refused with a *NodeExpectError.
	ExpectNodes map[graph.ID]ipld.CID
	// Base, if set, is the commit the changes were made against, undefined for none. If the branch
	// has moved since, the changes are applied to Base and merged onto the branch; if they do not
	// merge, they are kept as a commit and reported by a *MergeError.
	Base *ipld.CID
	// Amend replaces the newest commit of the branch by one with the same change id, of what it
	// holds and the changes. An empty Message keeps the old one.
	Amend bool

	Also []*Snapshot    // further parents, of a merge
	Kept commit.Message // instead of an empty Message
}

// CommitResult tells what a commit did.
type CommitResult struct {
	Commit     ipld.CID     `json:"commit" shape:"null"` // the new commit; the branch's old one where nothing changed
	Parents    []ipld.CID   `json:"parents"`
	Branch     string       `json:"branch"`
	Graph      ipld.CID     `json:"graph" shape:"null"`
	Nodes      state.Counts `json:"nodes"`
	Edges      state.Counts `json:"edges"`
	Duplicates int          `json:"duplicates"`        // lines that gave a fact again that was there without a key
	Unchanged  int          `json:"unchanged"`         // other lines that changed nothing
	NoChange   bool         `json:"no_change"`         // whether there was nothing to commit: no commit was made
	Rebased    bool         `json:"rebased,omitempty"` // whether the branch had moved and the changes were merged onto it
	// Unembedded is the number of nodes of the branch without a vector, if the commit left some that its Meaning would
	// have made.
	Unembedded int `json:"unembedded,omitempty"`
	// Secrets reports text written or merged that looks like credentials but was not refused, as it
	// may be something else, or there was too much for that.
	Secrets state.SecretReport `json:"-"`
}

// Commit applies changes to the newest commit of a branch and makes a commit of the result, all or nothing: when it
// returns without error the commit survives a power cut, and after an error the repository is as it was. Changes that
// leave everything as it is make no commit. An error about one change is a *graph.LineError with its file and line.
// What looks like a credential is refused with a *SecretError, as opt.Secrets says.
func (r *Repo) Commit(ctx context.Context, changes state.Changes, opt CommitOptions) (*CommitResult, error) {
	if opt.Amend && opt.Base != nil {
		return nil, state.Invalidf("amending takes no base: it replaces the newest commit")
	}
	var res *CommitResult
	var kept *MergeError
	if opt.Meaning != nil && changes != nil {
		var stop func()
		changes, stop = foreseen(ctx, changes, opt.Meaning)
		defer stop()
	}
	changes = r.Replayed(changes)
	_, err := r.pipeline(ctx, opt.Stamp, func(t *Tx) error {
		ref, head, err := t.Base(ctx, opt)
		if err != nil {
			return err
		}
		base := head
		if opt.Base != nil && *opt.Base != head.Id {
			if base, err = t.At(ctx, *opt.Base); err != nil {
				return err
			}
		}
		res = new(CommitResult)
		next, err := t.apply(ctx, base, changes, opt, res)
		if err != nil {
			return err
		}
		if base == head { // the batch saw to it that no edge of next dangles
			return t.Commit(ctx, ref, head, next, opt, res)
		}
		kept, err = t.rebase(ctx, ref, base, head, next, opt, res)
		return err
	})
	if err == nil && kept != nil {
		return nil, kept
	}
	return res, err
}

// foreseeChanges is how many changes are read before others wait, to embed what they make.
const foreseeChanges = 4 * state.MeaningNodes

// foreseen returns the same changes, once what they make is embedded if they are few, and what ends reading them.
func foreseen(ctx context.Context, changes state.Changes, by state.Meaning) (state.Changes, func()) {
	next, stop := iter.Pull2(iter.Seq2[graph.Change, error](changes))
	var first []graph.Change
	for len(first) < foreseeChanges {
		c, err, more := next()
		if err != nil {
			return Each(first, err), stop
		}
		if !more {
			state.Foresee(ctx, by, first)
			return Each(first), stop
		}
		first = append(first, c)
	}
	return func(yield func(graph.Change, error) bool) {
		for c, err := range Each(first) {
			if !yield(c, err) {
				return
			}
		}
		for c, err, more := next(); more; c, err, more = next() {
			if !yield(c, err) {
				return
			}
		}
	}, stop
}

// apply returns the state that changes make of a base, and counts in res those that made none.
func (t *Tx) apply(
	ctx context.Context, base *Snapshot, changes state.Changes, opt CommitOptions, res *CommitResult,
) (*state.State, error) {
	b := state.NewBatch(ctx, t.Stage, t.Scratch, base.State, opt.Stamp)
	b.Secrets.Texts(opt.Stamp, opt.Message)
	b.Drafts.Wanted, b.Drafts.Room = true, t.Scratch
	next, err := b.Apply(changes, true)
	if err != nil {
		return nil, err
	}
	if b.LeftUnembedded() {
		t.Repo.Embeddings().leave()
		res.Unembedded = lacking(next)
	}
	t.fresh = state.Fresh{Draft: b.Drafts.End(), Trees: b.Fresh}
	res.Duplicates, res.Unchanged, res.Secrets = b.Duplicates, b.Unchanged, b.Secrets.Report
	return next, nil
}

func (v *View) branch(ctx context.Context, opt CommitOptions) (Ref, error) {
	name := graph.Head
	if opt.Branch != "" {
		name = graph.BranchRef(opt.Branch)
	}
	if err := v.following.MayWrite(); err != nil && opt.Branch == "" {
		return Ref{}, err
	}
	ref, ok, err := v.Resolve(ctx, name)
	if err != nil {
		return ref, err
	}
	if !ok {
		head, _, err := v.Get(ctx, graph.Head)
		if err == nil && ref.Name != head.Symbolic {
			err = &state.NotFoundError{What: "branch", Name: opt.Branch}
		}
		if err != nil {
			return ref, err
		}
	}
	if ref.Name == graph.Head {
		return ref, &DetachedError{At: ref.Target}
	}
	return ref, nil
}

// Base returns the branch to write, and its newest commit or the empty state.
func (t *Tx) Base(ctx context.Context, opt CommitOptions) (Ref, *Snapshot, error) {
	ref, err := t.View.branch(ctx, opt)
	if err == nil {
		err = t.Repo.Embeddings().expected(ctx, ref.Target, opt.Expect)
	}
	if err != nil {
		return ref, nil, err
	}
	s, err := t.At(ctx, ref.Target)
	if err == nil {
		err = s.expects(ctx, opt.ExpectNodes)
	}
	if err == nil && opt.Amend {
		err = t.Repo.Embeddings().amends(ctx, s)
	}
	return ref, s, err
}

// expects returns a *NodeExpectError unless nodes have the versions that a caller expects; of several
// that have not, for the one with the smallest id.
func (s *Snapshot) expects(ctx context.Context, nodes map[graph.ID]ipld.CID) error {
	for _, id := range slices.SortedFunc(maps.Keys(nodes), graph.ID.Compare) {
		have, err := state.Lookup(ctx, s.State.Nodes, id[:])
		if err != nil {
			return fmt.Errorf("read node %s: %w", id, err)
		}
		if have != nodes[id] {
			return &state.NodeExpectError{Node: id, Want: nodes[id], Have: have}
		}
	}
	return nil
}

// At returns a snapshot whose trees are read and written through the transaction.
func (t *Tx) At(ctx context.Context, c ipld.CID) (*Snapshot, error) {
	s := &Snapshot{Repo: t.Repo, Id: c}
	var at state.Roots
	if c.Defined() {
		rec, err := commit.ReadCommit(ctx, t.Stage, c)
		if err != nil {
			return nil, err
		}
		s.Record, at = rec, state.RootsOf(rec)
	}
	var err error
	s.State, err = state.LoadState(ctx, t.Nodes, t.Stage, at)
	return s, err
}

// Commit makes a commit of next on ref, unless next equals base.
func (t *Tx) Commit(
	ctx context.Context, ref Ref, base *Snapshot, next *state.State, opt CommitOptions, res *CommitResult,
) error {
	if opt.Amend && opt.Message == "" && base.Record != nil {
		opt.Kept = base.Record.Message
	}
	if err := opt.Keep(); err != nil {
		return err
	}
	if err := state.NoCircles(ctx, base.State, next); err != nil {
		return err
	}
	if err := t.WriteGraph(ctx, next); err != nil {
		return err
	}
	parents, err := parentsOf(base, opt)
	if err != nil {
		return err
	}
	before, err := t.At(ctx, FirstCID(parents))
	if err != nil {
		return err
	}
	if res.Nodes, res.Edges, err = (state.Diff{From: before.State, To: next}).Count(ctx); err != nil {
		return err
	}
	res.Branch, res.Graph = BranchName(ref.Name), next.Root
	if len(opt.Also) == 0 && !opt.rewords(base.Record) && base.holds(next) {
		res.Commit, res.NoChange, res.Graph = base.Id, true, base.Graph()
		if base.Record != nil {
			res.Parents = base.Record.Parents
		}
		return nil
	}
	rec := &commit.Commit{
		Graph: next.Root, Vectors: next.VectorsRoot(), Digests: next.DigestsRoot(),
		Profile: next.Profile, Author: opt.Author,
		Agent: opt.Agent, Task: opt.Task, Time: opt.Time,
	}
	if rec.Message, err = t.message(ctx, opt); err != nil {
		return err
	}
	if err := t.setParents(ctx, rec, parents); err != nil {
		return err
	}
	rec.Change = commit.ChangeID(rec)
	if opt.Amend {
		rec.Change = base.Record.Change
	}
	if res.Commit, err = t.putCommit(ctx, rec, opt.Sign); err != nil {
		return err
	}
	if opt.Amend {
		if err := t.amended(ref.Name, base, rec, opt.Stamp); err != nil {
			return err
		}
	}
	res.Parents = rec.Parents
	t.SetRef(ref.Name, res.Commit)
	t.indexes = append(t.indexes, stateChange{base.State, next})
	return nil
}

func isEmpty(s *state.State) bool {
	return s.Nodes.Len()+s.Edges.Len()+s.Marks.Len()+s.Vectors.Len()+s.Digests.Len() == 0 && !s.Profile.Defined()
}

// holds reports whether a snapshot has the very facts, embeddings, texts and profiles of a state.
func (s *Snapshot) holds(next *state.State) bool {
	if !s.Id.Defined() {
		return isEmpty(next)
	}
	return next.Root == s.Graph() && next.VectorsRoot() == s.State.VectorsRoot() &&
		next.DigestsRoot() == s.State.DigestsRoot() && next.Profile == s.State.Profile
}

// parentsOf returns the parents of a commit that is made upon base.
func parentsOf(base *Snapshot, opt CommitOptions) ([]ipld.CID, error) {
	if opt.Amend {
		if base.Record == nil {
			return nil, &state.NotFoundError{What: "commit to amend on branch", Name: opt.Branch}
		}
		return base.Record.Parents, nil
	}
	var parents []ipld.CID
	if base.Id.Defined() {
		parents = append(parents, base.Id)
	}
	for _, p := range opt.Also {
		parents = append(parents, p.Id)
	}
	return parents, nil
}

func (t *Tx) setParents(ctx context.Context, rec *commit.Commit, parents []ipld.CID) error {
	var over []*commit.Commit
	for _, p := range parents {
		c, err := t.Repo.ReadCommit(ctx, p)
		if err != nil {
			return err
		}
		over = append(over, c)
	}
	rec.Parents, rec.Height = parents, commit.HeightOver(over...)
	return nil
}

// FirstCID returns the first CID of a list, the undefined one if the list is empty.
func FirstCID(list []ipld.CID) ipld.CID {
	if len(list) == 0 {
		return ipld.CID{}
	}
	return list[0]
}

// Keep sets aside a message that is kept from an older record which has the text itself: it gets a block of its own.
func (o *CommitOptions) Keep() error {
	if o.Message == "" && !o.Kept.Block.Defined() {
		o.Message, o.Kept = o.Kept.Text, commit.Message{}
	}
	if err := commit.CheckMessage(o.Message); err != nil {
		return fmt.Errorf("%w: commit: %w", state.ErrInvalid, err)
	}
	return nil
}

// message puts the message of a commit, or returns the one that is kept.
func (t *Tx) message(ctx context.Context, opt CommitOptions) (commit.Message, error) {
	if opt.Message == "" {
		return opt.Kept, nil
	}
	return t.putMessage(ctx, opt.Message)
}

func (t *Tx) putMessage(ctx context.Context, text string) (commit.Message, error) {
	m := commit.MessageOf(text)
	if !m.Block.Defined() {
		return m, nil
	}
	t.Secrets.Note(nil, guard.Text("message", text))
	return m, t.Stage.Put(ctx, store.Block{CID: m.Block, Data: []byte(text)})
}

// rewords reports whether amending changes more than the time of a commit. To sign one that was not is more.
func (o *CommitOptions) rewords(old *commit.Commit) bool {
	if !o.Amend {
		return false
	}
	same := o.Message == "" && o.Kept == old.Message || old.Message.Says(o.Message)
	return !same || o.Author != old.Author || o.Agent != old.Agent || o.Task != old.Task ||
		o.Sign != nil && len(old.Signature) == 0
}

// rebase makes a commit of next, which was made upon base, on a branch that may be elsewhere by
// now: then what it changes is merged onto the head, so that history stays linear. What does not
// merge is kept, and comes back as the error to report.
func (t *Tx) rebase(
	ctx context.Context, ref Ref, base, head *Snapshot, next *state.State, opt CommitOptions,
	res *CommitResult,
) (*MergeError, error) {
	if base.Id == head.Id {
		return nil, t.Land(ctx, ref, head, next, nil, opt, res)
	}
	m, err := merge3.MergeStates(ctx, t.Stage, base.State, head.State, next)
	if err != nil {
		return nil, err
	}
	if len(m.Conflicts) > 0 {
		if err := state.NoneDangling(ctx, base.State, next); err != nil {
			return nil, err
		}
		return t.keep(ctx, ref, base, head, next, m, opt)
	}
	res.Rebased = true
	return nil, t.Land(ctx, ref, head, m.State, nil, opt, res)
}

// Decision holds the changes that a caller derives from a state of the memory.
type Decision struct {
	Changes []graph.Change // none: no commit is made
	Message string         // of the commit, unless the options have one
}

// DecideOptions say how a decision becomes a commit. A Base is refused: the base is the snapshot the
// decision was made on.
type DecideOptions struct {
	CommitOptions
	// Long says that deciding takes much longer than committing. It first runs concurrently with
	// other writers, and blocks them only for a second run if the branch has moved by its end.
	Long bool
}

// Decide commits what decide makes of the newest commit of a branch, upon that very commit: it is for changes that
// depend on what is stored. Writers take turns in the order in which they ask, and decide is called within the turn, so
// that no caller is refused because others write too; only one that gave an Expect is, by its *ExpectError.
//
// The snapshot shows the newest commit that was begun, durable or not. decide must return a function
// of it alone, as it may be called twice, with a later snapshot: its error is returned at once. While
// it runs other writers wait, so that it must neither write to this repository nor wait for a model,
// a file or a network. What Commit says of its result and errors holds here too.
func (r *Repo) Decide(
	ctx context.Context, opt DecideOptions, decide func(*Snapshot) (*Decision, error),
) (*CommitResult, error) {
	if opt.Base != nil {
		return nil, state.Invalidf("a decision takes no base: it is made upon the newest commit")
	}
	var at ipld.CID
	var made *Decision
	var refused error // by decide
	about := func(s *Snapshot) error {
		at = s.Id
		made, refused = decide(s)
		return refused
	}
	if h := heldTurnOf(ctx); (opt.Long || opt.Meaning != nil) && (h == nil || !h.Holds()) {
		// Without a snapshot the turn tells why, about the state that is the newest then.
		if s, err := r.begunHead(ctx, opt.CommitOptions); err == nil && about(s) != nil {
			return nil, r.refusal(ctx, refused)
		}
	}
	if opt.Meaning != nil && made != nil {
		state.Foresee(ctx, opt.Meaning, made.Changes)
	}
	res := new(CommitResult)
	_, err := r.pipeline(ctx, opt.Stamp, func(t *Tx) error {
		ref, head, err := t.Base(ctx, opt.CommitOptions)
		if err != nil {
			return err
		}
		if made == nil || at != head.Id {
			s, err := r.At(ctx, head.Id) // it may be kept, which a snapshot of t may not
			if err == nil {
				err = about(s)
			}
			if err != nil {
				return err
			}
		}
		opt.Message = cmp.Or(opt.Message, made.Message)
		next, err := t.apply(ctx, head, Each(made.Changes), opt.CommitOptions, res)
		if err != nil {
			return err
		}
		return t.Commit(ctx, ref, head, next, opt.CommitOptions, res)
	})
	if refused != nil {
		err = r.refusal(ctx, refused)
	}
	if err != nil {
		return nil, err
	}
	return res, nil
}

// refusal returns the error of a decision once the state it was made on is durable: no caller learns
// anything that a power cut could take back.
func (r *Repo) refusal(ctx context.Context, err error) error {
	if unsettled := r.Writer.settle(ctx, r.Store); unsettled != nil {
		return unsettled
	}
	return err
}

// begunHead returns the newest commit of a branch that was begun, durable or not.
func (r *Repo) begunHead(ctx context.Context, opt CommitOptions) (*Snapshot, error) {
	head, err := r.Writer.newest(ctx, r.Store)
	if err != nil {
		return nil, err
	}
	v, err := LoadView(ctx, r.Nodes(), r.Facts(), head)
	if err != nil {
		return nil, err
	}
	r.askedBy(ctx, v)
	ref, err := v.branch(ctx, opt)
	if err == nil {
		err = r.Embeddings().expected(ctx, ref.Target, opt.Expect)
	}
	if err != nil {
		return nil, err
	}
	return r.At(ctx, ref.Target)
}

// Each returns a list as a stream, which ends with errors.
func Each(list []graph.Change, end ...error) state.Changes {
	return func(yield func(graph.Change, error) bool) {
		for _, c := range list {
			if !yield(c, nil) {
				return
			}
		}
		for _, err := range end {
			if !yield(graph.Change{}, err) {
				return
			}
		}
	}
}

// putCommit signs a commit that is complete but for its signature, unless sign is nil, and stages it.
// Every verb that makes commits ends here.
func (t *Tx) putCommit(ctx context.Context, rec *commit.Commit, sign commit.SignFunc) (ipld.CID, error) {
	rec.Signature = nil
	if err := rec.Validate(); err != nil {
		return ipld.CID{}, fmt.Errorf("%w: commit: %w", state.ErrInvalid, err)
	}
	if sign != nil {
		if err := rec.Sign(sign); err != nil {
			t.Repo.Writer.hold(ctx, err)
			return ipld.CID{}, err
		}
	}
	return t.Put(ctx, rec.Encode())
}
