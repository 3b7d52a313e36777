package repo

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// Changes is a stream of changes: what graph.Reader reads or a caller makes. An error in it
// refuses the whole batch.
type Changes = iter.Seq2[graph.Change, error]

// ReadChanges returns the changes in lines of JSON. file names them in errors.
func ReadChanges(in io.Reader, file string) Changes {
	return func(yield func(graph.Change, error) bool) {
		lines := graph.NewReader(in, file)
		for {
			c, err := lines.Next()
			if errors.Is(err, io.EOF) || !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// CommitOptions says how changes become a commit.
type CommitOptions struct {
	Stamp
	Message string
	Branch  string // "" for the branch HEAD is on
	// Expect, where given, is the commit the branch must be at: else the write is refused with an
	// *ExpectError.
	Expect *ipld.CID
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
}

// Commit applies changes to the newest commit of a branch and makes a commit of the result, all
// or nothing: when it returns without error the commit survives a power cut, and after an error
// the repository is as it was. Changes that leave everything as it is make no commit. An error
// about one change is a *graph.LineError with its file and line.
func (r *Repo) Commit(
	ctx context.Context, changes Changes, opt CommitOptions,
) (*CommitResult, error) {
	var res *CommitResult
	_, err := r.transact(ctx, opt.Stamp, func(t *tx) error {
		ref, base, err := t.base(ctx, opt)
		if err != nil {
			return err
		}
		b := newBatch(ctx, t, base.state, opt.Stamp)
		next, err := b.apply(changes, true)
		if err != nil {
			return err
		}
		res = &CommitResult{Duplicates: b.duplicates, Unchanged: b.unchanged}
		return t.commit(ctx, ref, base, next, opt, res)
	})
	return res, err
}

// base returns the branch to write, and its newest commit or the empty state.
func (t *tx) base(ctx context.Context, opt CommitOptions) (Ref, *Snapshot, error) {
	name := graph.Head
	if opt.Branch != "" {
		name = graph.BranchRef(opt.Branch)
	}
	ref, ok, err := t.view.resolve(ctx, name)
	if err != nil {
		return ref, nil, err
	}
	if head, _, err := t.view.get(ctx, graph.Head); err != nil {
		return ref, nil, err
	} else if !ok && ref.Name != head.Symbolic {
		return ref, nil, &NotFoundError{What: "branch", Name: opt.Branch}
	}
	if opt.Expect != nil && *opt.Expect != ref.Target {
		return ref, nil, &ExpectError{Want: *opt.Expect, Have: ref.Target}
	}
	s, err := t.at(ctx, ref.Target)
	return ref, s, err
}

// at returns a snapshot whose trees are read and written through the transaction.
func (t *tx) at(ctx context.Context, c ipld.CID) (*Snapshot, error) {
	s := &Snapshot{repo: t.repo, id: c}
	var root, vectors ipld.CID
	if c.Defined() {
		rec, err := t.repo.commit(ctx, c)
		if err != nil {
			return nil, err
		}
		s.commit, root, vectors = rec, rec.Graph, rec.Vectors
	}
	var err error
	s.state, err = loadState(ctx, t.nodes, t.stage, root, vectors)
	return s, err
}

// commit makes a commit of next on ref, unless it is what base has.
func (t *tx) commit(
	ctx context.Context, ref Ref, base *Snapshot, next *state, opt CommitOptions, res *CommitResult,
) error {
	if err := t.writeGraph(ctx, next); err != nil {
		return err
	}
	d := Diff{from: base.state, to: next}
	var err error
	if res.Nodes, res.Edges, err = d.Count(ctx); err != nil {
		return err
	}
	res.Branch, res.Graph = branchName(ref.Name), next.root
	if next.root == base.Graph() && next.vectorsRoot() == base.state.vectorsRoot() ||
		!base.id.Defined() && next.isEmpty() {
		res.Commit, res.NoChange, res.Graph = base.id, true, base.Graph()
		if base.commit != nil {
			res.Parents = base.commit.Parents
		}
		return nil
	}
	rec := &commit.Commit{
		Graph: next.root, Vectors: next.vectorsRoot(), Author: opt.Author, Agent: opt.Agent,
		Task: opt.Task, Time: opt.Time, Message: opt.Message, Height: commit.HeightOver(),
	}
	if base.id.Defined() {
		rec.Parents = []ipld.CID{base.id}
		rec.Height = commit.HeightOver(base.commit)
	}
	rec.Change = commit.ChangeID(rec)
	if res.Commit, err = t.putCommit(ctx, rec, opt.Sign); err != nil {
		return err
	}
	res.Parents = rec.Parents
	t.setRef(ref.Name, res.Commit)
	return t.repo.indexChange(ctx, base.state, next)
}

func (s *state) isEmpty() bool {
	return s.nodes.Len()+s.edges.Len()+s.marks.Len()+s.vectors.Len() == 0
}
