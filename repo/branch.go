package repo

import (
	"context"
	"iter"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/merging"
	"github.com/mnem-project/mnem/ipld"
)

// Branch is a line of commits.
type Branch struct {
	Name    string
	Commit  ipld.CID // the newest; undefined before the first
	Current bool     // whether HEAD is on it
}

// Branches lists the branches in the order of their names.
func (r *Repo) Branches(ctx context.Context) ([]Branch, error) {
	list, err := r.core.Branches().List(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Branch, len(list))
	for i, b := range list {
		out[i] = Branch(b)
	}
	return out, nil
}

// CreateBranch makes a branch at a revision, "" for HEAD. The error wraps ErrExists if the name is taken.
func (r *Repo) CreateBranch(ctx context.Context, name, rev string) (ipld.CID, error) {
	if rev == "" {
		rev = "HEAD"
	}
	return r.core.Branches().Create(ctx, name, rev, core.RefOptions{Stamp: r.stamp("branch")})
}

// RemoveBranch removes a branch. It refuses the one that HEAD is on and, unless force, one whose newest commit no other
// branch and no tag reaches, or that a stage or a merge in progress needs.
func (r *Repo) RemoveBranch(ctx context.Context, name string, force bool) error {
	_, err := r.core.Branches().Remove(ctx, name, core.RefOptions{Stamp: r.stamp("branch"), Force: force})
	return err
}

// Switch puts HEAD on a branch.
func (r *Repo) Switch(ctx context.Context, name string) error {
	return r.core.Branches().Switch(ctx, name, core.SwitchOptions{Stamp: r.stamp("switch")})
}

// Tag gives a revision a name that stays.
func (r *Repo) Tag(ctx context.Context, name, rev string) error {
	_, err := r.core.Tags().Create(ctx, name, rev, core.TagOptions{RefOptions: core.RefOptions{Stamp: r.stamp("tag")}})
	return err
}

// Conflict is one thing that both sides changed differently.
type Conflict struct {
	Item               graph.Item
	Label              string   // the item for people: a node's key, or an edge's ends and type
	Base, Ours, Theirs ipld.CID // its records; undefined if absent
	Resolution         string   // ours, theirs, base or lines; "" if it is not resolved
}

func conflicts(list []core.Conflict) []Conflict {
	out := make([]Conflict, len(list))
	for i, c := range list {
		out[i] = Conflict{c.Item, c.Label, c.Base, c.Ours, c.Theirs, c.Resolution}
	}
	return out
}

// Merge merges a revision into the branch that HEAD is on, field by field. What both sides changed differently is
// resolved by prefer, unless that is "": then a *ConflictError comes with the result, the branch has not moved, and the
// conflicts wait for Resolve and ContinueMerge. Revert and CherryPick do likewise.
func (r *Repo) Merge(ctx context.Context, rev string, prefer graph.Take) (*Committed, error) {
	return r.integrate(merging.Merge(ctx, r.core, rev, r.merging("merge", prefer)))
}

// Revert takes back what a commit, or all commits of a range A..B, changed, by one new commit.
func (r *Repo) Revert(ctx context.Context, rev string, prefer graph.Take) (*Committed, error) {
	return r.integrate(merging.Revert(ctx, r.core, rev, r.merging("revert", prefer)))
}

// CherryPick applies what a commit, or all commits of a range A..B, changed, as one new commit.
func (r *Repo) CherryPick(ctx context.Context, rev string, prefer graph.Take) (*Committed, error) {
	return r.integrate(merging.CherryPick(ctx, r.core, rev, r.merging("cherry-pick", prefer)))
}

// ContinueMerge finishes the merge in progress on the branch that HEAD is on.
func (r *Repo) ContinueMerge(ctx context.Context) (*Committed, error) {
	return r.integrate(merging.ContinueMerge(ctx, r.core, r.merging("merge", "")))
}

// AbortMerge drops the merge in progress on the branch that HEAD is on.
func (r *Repo) AbortMerge(ctx context.Context) error {
	_, err := merging.AbortMerge(ctx, r.core, r.options("merge", CommitOptions{}))
	return err
}

// Resolve takes one side of a conflict of the merge in progress. item is a Conflict's Item as text.
func (r *Repo) Resolve(ctx context.Context, item string, take graph.Take) error {
	_, err := merging.ResolveConflict(ctx, r.core, item, merging.Choice{Take: take}, r.options("merge", CommitOptions{}))
	return err
}

func (r *Repo) merging(verb string, prefer graph.Take) core.MergeOptions {
	return core.MergeOptions{CommitOptions: r.options(verb, CommitOptions{}), Prefer: prefer}
}

func (r *Repo) integrate(res *merging.MergeResult, err error) (*Committed, error) {
	if res == nil {
		return nil, conflicting(err)
	}
	out := committed(&res.CommitResult)
	out.Conflicts = conflicts(res.Conflicts)
	return out, conflicting(err)
}

// LogEntry is a commit of a history.
type LogEntry struct {
	CID          ipld.CID
	Commit       *commit.Commit // must not be changed
	Message      string
	Nodes, Edges Counts // against the first parent
}

// Log yields the history of a revision, "" for HEAD, newest first.
func (r *Repo) Log(ctx context.Context, rev string) iter.Seq2[LogEntry, error] {
	if rev == "" {
		rev = "HEAD"
	}
	return seq(history.Log(ctx, r.core, rev), func(e history.LogEntry) LogEntry {
		return LogEntry{e.CID, e.Commit, e.Message, counts(e.Nodes), counts(e.Edges)}
	})
}

// Undo takes back the author's newest change, by a new operation that Redo takes back in turn. It passes over captures
// and fetches. The error wraps ErrConflict if a later operation moved the same refs.
func (r *Repo) Undo(ctx context.Context) error {
	_, err := history.Undo(ctx, r.core, "", r.stamp("undo"))
	return err
}

// Redo takes back the author's newest undo.
func (r *Repo) Redo(ctx context.Context) error {
	_, err := history.Redo(ctx, r.core, r.stamp("redo"))
	return err
}
