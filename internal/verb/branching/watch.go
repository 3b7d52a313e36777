package branching

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/reading"
	"github.com/mnem-project/mnem/ipld"
)

// maxWatched is how many changed nodes, and edges, of one move are told; more are counted.
const maxWatched = 1000

// WatchRequest asks for each operation as it is committed.
type WatchRequest struct {
	history.WatchOptions
	Limit int  `op:",short=n,remote" doc:"end after {N} operations; 0 for no end"`
	Diff  bool `op:"full,remote" doc:"the nodes and edges that changed, not only how many"`
}

// Watched is one operation.
type Watched struct {
	Op       ipld.CID       `json:"op"`
	Seq      uint64         `json:"seq"`
	Time     graph.Time     `json:"time"`
	Actor    string         `json:"actor"`
	Agent    verb.Text      `json:"agent"` // of a commit that the operation made
	Command  []string       `json:"command"`
	Refs     []core.RefMove `json:"refs"`
	Branches []BranchMoved  `json:"branches"`
	Undoes   ipld.CID       `json:"undoes" shape:"null"`
	Redoes   ipld.CID       `json:"redoes" shape:"null"`
}

// BranchMoved is the effect of a move of a branch. Nodes and Edges are absent if there is nothing to
// compare with: the branch is new and did not begin with its first commit.
type BranchMoved struct {
	Branch  string        `json:"branch"`
	Commit  ipld.CID      `json:"commit"`
	Message string        `json:"message"`
	Nodes   *state.Counts `json:"nodes,omitempty"`
	Edges   *state.Counts `json:"edges,omitempty"`
	Changes *ChangedItems `json:"changes,omitempty"`
}

// ChangedItems are the items that a move changed.
type ChangedItems struct {
	Nodes []state.NodeDiff `json:"nodes"`
	Edges []EdgeDiff       `json:"edges"`
	More  bool             `json:"more"` // whether there are more, which diff tells
}

// WatchBegun names the operation whose followers are told. It comes first, and is no answer for programs:
// a watch that ended before an operation was told continues from it.
type WatchBegun struct {
	Begin string `json:"begin"` // 0 for none
	Seq   uint64 `json:"seq"`
}

// Watch tells each operation.
var Watch = verb.Stream(verb.Spec{
	Command: "op watch", Right: verb.NoRight, Usage: "[flags]", Effect: verb.Reads,
	Title: "Print each operation as it is committed",
	Doc: "Print the operations after a given one, by default the newest, and then each one as any process\n" +
		"commits it: number, time, actor, command, the refs that moved, and the numbers of nodes and edges\n" +
		"that changed. With --json, one object a line. It ends when interrupted.\n\n" +
		"Nothing is skipped, however slowly the lines are read. To resume, pass the last operation seen to\n" +
		"--since; if later operations were collected since, the error names the oldest one to resume from.",
	Example: "  mnem op watch --since @~1 -n 1 --full\n  mnem op watch --since 0 --ref main -n 2\n" +
		"  mnem op watch --since 0 -n 3 --json",
	Answers: []any{Watched{}}, Told: []any{WatchBegun{}},
}, watch)

func (q *WatchRequest) Check() error { return verb.CheckLimit(q.Limit) }

// Answered implements Resumer: what is left begins after the operation that was told.
func (q *WatchRequest) Answered(answer any) (more bool) {
	switch a := answer.(type) {
	case *WatchBegun:
		q.Since = a.Begin
	case *Watched:
		q.Since = a.Op.String()
		if q.Limit > 0 {
			q.Limit--
			return q.Limit > 0
		}
	}
	return true
}

func watch(ctx context.Context, s *verb.Service, q *WatchRequest, emit func(any) error) error {
	opt, limit := q.WatchOptions, q.Limit // what is left of them changes as the answers are given
	// Its CID means the same for ever. What is not found is for the watch to explain.
	if e, err := s.Repo.OpLog().Find(ctx, cmp.Or(opt.Since, verb.NewestOp)); err == nil {
		opt.Since = e.CID.String()
		if err := emit(&WatchBegun{opt.Since, e.Operation.Seq}); err != nil {
			return err
		}
	}
	n := 0
	for op, err := range history.Watch(ctx, s.Repo, opt) {
		if err != nil {
			return watchHint(err)
		}
		out, err := watched(ctx, op, q.Diff)
		if err == nil {
			err = emit(out)
		}
		if n++; err != nil || n == limit {
			return err
		}
	}
	return nil
}

// watchHint says how to go on where operations are not kept any more.
func watchHint(err error) error {
	var lost *history.HorizonError
	if !errors.As(err, &lost) {
		return err
	}
	return verb.Hint(err, fmt.Sprintf("'mnem op watch --since %d' goes on from there; compare commits with 'mnem diff' "+
		"for what was missed", lost.Seq),
		fmt.Sprintf("watch with since %d goes on from there; compare commits with diff for what was missed",
			lost.Seq))
}

// watched returns an operation, with the items that it changed if diff is given.
func watched(ctx context.Context, w history.WatchedOp, diff bool) (*Watched, error) {
	op := OpOf(w.OpRecord, nil)
	out := &Watched{
		Op: op.Op, Seq: op.Seq, Time: op.Time, Actor: op.Actor, Command: op.Command, Refs: op.Refs,
		Undoes: op.Undoes, Redoes: op.Redoes,
	}
	for _, b := range w.Branches {
		if b.Made && out.Agent == "" {
			out.Agent = verb.Text(b.To.Commit().Agent)
		}
		move, err := branchMoved(ctx, b, diff)
		if err != nil {
			return nil, err
		}
		out.Branches = append(out.Branches, move)
	}
	return out, nil
}

func branchMoved(ctx context.Context, b history.BranchMove, diff bool) (out BranchMoved, err error) {
	out = BranchMoved{Branch: strings.TrimPrefix(string(b.Name), graph.Heads), Commit: b.To.CID()}
	if out.Message, err = b.To.Message(ctx); err != nil || b.From == nil {
		return out, err
	}
	d := b.From.Diff(b.To)
	nodes, edges, err := d.Count(ctx)
	if err != nil {
		return out, err
	}
	out.Nodes, out.Edges = &nodes, &edges
	if diff {
		out.Changes, err = changedItems(ctx, d, reading.NewLabels(b.To, b.From))
	}
	return out, err
}

// changedItems returns the items that differ, maxWatched of each kind at most.
func changedItems(ctx context.Context, d state.Diff, names *reading.Labels) (*ChangedItems, error) {
	out := &ChangedItems{}
	for n, err := range atMost(d.Nodes(ctx), maxWatched, &out.More) {
		if err != nil {
			return nil, err
		}
		names.Remember(n.Node())
		out.Nodes = append(out.Nodes, n)
	}
	for e, err := range atMost(d.Edges(ctx), maxWatched, &out.More) {
		if err != nil {
			return nil, err
		}
		v, err := EdgeDiffOf(ctx, names, &e)
		if err != nil {
			return nil, err
		}
		out.Edges = append(out.Edges, v)
	}
	return out, nil
}

// atMost yields the first n of a sequence, and tells in more whether there are others.
func atMost[V any](all iter.Seq2[V, error], n int, more *bool) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		seen := 0
		for v, err := range all {
			if seen++; seen > n {
				*more = true
				return
			}
			if !yield(v, err) {
				return
			}
		}
	}
}
