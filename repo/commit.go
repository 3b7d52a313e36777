package repo

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/guard"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/store"
)

// Changes is a stream of changes: what graph.Reader reads or a caller makes. An error in it
// refuses the whole batch. What a change holds must not be changed after it was yielded.
type Changes = iter.Seq2[graph.Change, error]

// CommitOptions says how changes become a commit.
type CommitOptions struct {
	Stamp
	Message string
	Branch  string // "" for the branch HEAD is on
	// Expect, where given, is the commit the branch must be at: else the write is refused with an
	// *ExpectError.
	Expect *ipld.CID
	// ExpectNodes are the versions that nodes of the branch must have, undefined for a node that must
	// not be there: else the write is refused with a *NodeExpectError.
	ExpectNodes map[graph.ID]ipld.CID
	// Base, where given, is the commit the changes were made against, undefined for none. Where
	// the branch is elsewhere by now they are applied to Base and what they change is merged onto
	// the branch; what does not merge is kept and reported by a *MergeError.
	Base *ipld.CID
	// Amend replaces the newest commit of the branch by one with the same change id, of what it
	// holds and the changes. An empty Message keeps the old one.
	Amend bool

	also []*Snapshot    // further parents, of a merge
	kept commit.Message // instead of an empty Message
}

// CommitResult tells what a commit did.
type CommitResult struct {
	Commit     ipld.CID // the new commit; the branch's old one where nothing changed
	Parents    []ipld.CID
	Branch     string
	Graph      ipld.CID
	Nodes      Counts
	Edges      Counts
	Duplicates int  // lines that gave a fact again that was there without a key
	Unchanged  int  // other lines that changed nothing
	NoChange   bool // whether there was nothing to commit: no commit was made
	Rebased    bool // whether the branch had moved and the changes were merged onto it
	// Secrets is what looks like credentials in what was written, or merged: it was not refused, as
	// it may be something else, or there was too much for that.
	Secrets SecretReport
}

// Commit applies changes to the newest commit of a branch and makes a commit of the result, all
// or nothing: when it returns without error the commit survives a power cut, and after an error
// the repository is as it was. Changes that leave everything as it is make no commit. An error
// about one change is a *graph.LineError with its file and line. What looks like a credential is
// refused with a *SecretError, as opt.Secrets says.
func (r *Repo) Commit(
	ctx context.Context, changes Changes, opt CommitOptions,
) (*CommitResult, error) {
	if opt.Amend && opt.Base != nil {
		return nil, invalidf("amending takes no base: it replaces the newest commit")
	}
	var res *CommitResult
	var kept *MergeError
	changes = r.replayed(changes)
	_, err := r.pipeline(ctx, opt.Stamp, func(t *tx) error {
		ref, head, err := t.base(ctx, opt)
		if err != nil {
			return err
		}
		base := head
		if opt.Base != nil && *opt.Base != head.id {
			if base, err = t.at(ctx, *opt.Base); err != nil {
				return err
			}
		}
		res = new(CommitResult)
		next, err := t.apply(ctx, base, changes, opt, res)
		if err != nil {
			return err
		}
		if base == head { // the batch saw to it that no edge of next dangles
			return t.commit(ctx, ref, head, next, opt, res)
		}
		kept, err = t.rebase(ctx, ref, base, head, next, opt, res)
		return err
	})
	if err == nil && kept != nil {
		return nil, kept
	}
	return res, err
}

// apply returns the state that changes make of a base, and counts in res those that made none.
func (t *tx) apply(
	ctx context.Context, base *Snapshot, changes Changes, opt CommitOptions, res *CommitResult,
) (*state, error) {
	b := newBatch(ctx, t.stage, t.scratch, base.state, opt.Stamp)
	b.secrets.texts(opt.Stamp, opt.Message)
	b.drafts.wanted, b.drafts.room = true, t.scratch
	next, err := b.apply(changes, true)
	if err != nil {
		return nil, err
	}
	t.fresh = fresh{b.drafts.end(), b.fresh}
	res.Duplicates, res.Unchanged, res.Secrets = b.duplicates, b.unchanged, b.secrets.report
	return next, nil
}

// branch returns the branch that a commit goes to, which must be where the caller expects it.
func (v *view) branch(ctx context.Context, opt CommitOptions) (Ref, error) {
	name := graph.Head
	if opt.Branch != "" {
		name = graph.BranchRef(opt.Branch)
	}
	if f := v.following; f != nil && f.ReadOnly != "" && opt.Branch == "" {
		return Ref{}, &ReadOnlyError{f.ReadOnly}
	}
	ref, ok, err := v.resolve(ctx, name)
	if err != nil {
		return ref, err
	}
	if head, _, err := v.get(ctx, graph.Head); err != nil {
		return ref, err
	} else if !ok && ref.Name != head.Symbolic {
		return ref, &NotFoundError{What: "branch", Name: opt.Branch}
	}
	if ref.Name == graph.Head {
		return ref, &DetachedError{At: ref.Target}
	}
	if opt.Expect != nil && *opt.Expect != ref.Target {
		return ref, &ExpectError{Want: *opt.Expect, Have: ref.Target}
	}
	return ref, nil
}

// base returns the branch to write, and its newest commit or the empty state.
func (t *tx) base(ctx context.Context, opt CommitOptions) (Ref, *Snapshot, error) {
	ref, err := t.view.branch(ctx, opt)
	if err != nil {
		return ref, nil, err
	}
	s, err := t.at(ctx, ref.Target)
	if err == nil {
		err = s.expects(ctx, opt.ExpectNodes)
	}
	return ref, s, err
}

// expects returns a *NodeExpectError unless nodes have the versions that a caller expects; of several
// that have not, for the one with the smallest id.
func (s *Snapshot) expects(ctx context.Context, nodes map[graph.ID]ipld.CID) error {
	for _, id := range slices.SortedFunc(maps.Keys(nodes), graph.ID.Compare) {
		have, err := lookup(ctx, s.state.nodes, id[:])
		if err != nil {
			return fmt.Errorf("read node %s: %w", id, err)
		}
		if have != nodes[id] {
			return &NodeExpectError{Node: id, Want: nodes[id], Have: have}
		}
	}
	return nil
}

// at returns a snapshot whose trees are read and written through the transaction.
func (t *tx) at(ctx context.Context, c ipld.CID) (*Snapshot, error) {
	s := &Snapshot{repo: t.repo, id: c}
	var at roots
	if c.Defined() {
		rec, err := t.repo.commit(ctx, c)
		if err != nil {
			return nil, err
		}
		s.commit, at = rec, rootsOf(rec)
	}
	var err error
	s.state, err = loadState(ctx, t.nodes, t.stage, at)
	return s, err
}

// commit makes a commit of next on ref, unless it is what base has.
func (t *tx) commit(
	ctx context.Context, ref Ref, base *Snapshot, next *state, opt CommitOptions, res *CommitResult,
) error {
	if opt.Amend && opt.Message == "" && base.commit != nil {
		opt.kept = base.commit.Message
	}
	if err := opt.keep(); err != nil {
		return err
	}
	if err := noCircles(ctx, base.state, next); err != nil {
		return err
	}
	if err := t.writeGraph(ctx, next); err != nil {
		return err
	}
	parents, err := t.parents(ctx, base, opt)
	if err != nil {
		return err
	}
	before, err := t.at(ctx, firstCID(parents))
	if err != nil {
		return err
	}
	if res.Nodes, res.Edges, err = (Diff{from: before.state, to: next}).Count(ctx); err != nil {
		return err
	}
	res.Branch, res.Graph = branchName(ref.Name), next.root
	if len(opt.also) == 0 && !opt.rewords(base.commit) && base.holds(next) {
		res.Commit, res.NoChange, res.Graph = base.id, true, base.Graph()
		if base.commit != nil {
			res.Parents = base.commit.Parents
		}
		return nil
	}
	rec := &commit.Commit{
		Graph: next.root, Vectors: next.vectorsRoot(), Digests: next.digestsRoot(),
		Profile: next.profile, Author: opt.Author,
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
		rec.Change = base.commit.Change
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
	t.setRef(ref.Name, res.Commit)
	t.indexes = append(t.indexes, stateChange{base.state, next})
	return nil
}

func (s *state) isEmpty() bool {
	return s.nodes.Len()+s.edges.Len()+s.marks.Len()+s.vectors.Len()+s.digests.Len() == 0 && !s.profile.Defined()
}

// holds reports whether a snapshot has the very facts, embeddings, texts and profiles of a state.
func (s *Snapshot) holds(next *state) bool {
	if !s.id.Defined() {
		return next.isEmpty()
	}
	return next.root == s.Graph() && next.vectorsRoot() == s.state.vectorsRoot() &&
		next.digestsRoot() == s.state.digestsRoot() && next.profile == s.state.profile
}

// parents returns the parents of a commit that is made upon base.
func (t *tx) parents(ctx context.Context, base *Snapshot, opt CommitOptions) ([]ipld.CID, error) {
	if opt.Amend {
		if base.commit == nil {
			return nil, &NotFoundError{What: "commit to amend on branch", Name: opt.Branch}
		}
		return base.commit.Parents, nil
	}
	var parents []ipld.CID
	if base.id.Defined() {
		parents = append(parents, base.id)
	}
	for _, p := range opt.also {
		parents = append(parents, p.id)
	}
	return parents, nil
}

func (t *tx) setParents(ctx context.Context, rec *commit.Commit, parents []ipld.CID) error {
	var over []*commit.Commit
	for _, p := range parents {
		c, err := t.repo.commit(ctx, p)
		if err != nil {
			return err
		}
		over = append(over, c)
	}
	rec.Parents, rec.Height = parents, commit.HeightOver(over...)
	return nil
}

func firstCID(list []ipld.CID) ipld.CID {
	if len(list) == 0 {
		return ipld.CID{}
	}
	return list[0]
}

// keep sets aside a message that is kept from an older record which has the text itself: it gets a
// block of its own.
func (o *CommitOptions) keep() error {
	if o.Message == "" && !o.kept.Block.Defined() {
		o.Message, o.kept = o.kept.Text, commit.Message{}
	}
	if err := commit.CheckMessage(o.Message); err != nil {
		return fmt.Errorf("%w: commit: %w", ErrInvalid, err)
	}
	return nil
}

// message puts the message of a commit, or returns the one that is kept.
func (t *tx) message(ctx context.Context, opt CommitOptions) (commit.Message, error) {
	if opt.Message == "" {
		return opt.kept, nil
	}
	return t.putMessage(ctx, opt.Message)
}

// putMessage puts a message.
func (t *tx) putMessage(ctx context.Context, text string) (commit.Message, error) {
	m := commit.MessageOf(text)
	if !m.Block.Defined() {
		return m, nil
	}
	t.secrets.note(nil, guard.Text("message", text))
	return m, t.stage.Put(ctx, store.Block{CID: m.Block, Data: []byte(text)})
}

// rewords reports whether amending changes more than the time of a commit. To sign one that was
// not is more.
func (o *CommitOptions) rewords(old *commit.Commit) bool {
	if !o.Amend {
		return false
	}
	same := o.Message == "" && o.kept == old.Message || old.Message.Says(o.Message)
	return !same || o.Author != old.Author || o.Agent != old.Agent || o.Task != old.Task ||
		o.Sign != nil && len(old.Signature) == 0
}
