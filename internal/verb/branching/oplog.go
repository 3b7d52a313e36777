package branching

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/reading"
	"github.com/mnem-project/mnem/ipld"
)

// Op is an entry of the operation log.
type Op struct {
	Op      ipld.CID       `json:"op"`
	Seq     uint64         `json:"seq"`
	Time    graph.Time     `json:"time"`
	Actor   string         `json:"actor"`
	Command []string       `json:"command"`
	Refs    []core.RefMove `json:"refs"`
	Undoes  ipld.CID       `json:"undoes" shape:"null"` // the operation it took back
	Redoes  ipld.CID       `json:"redoes" shape:"null"` // the undo it took back
	Undone  *bool          `json:"undone,omitempty"`    // whether it is taken back; in the log alone
	Oldest  bool           `json:"oldest,omitempty"`    // what came before is collected: its refs are not known
	Since   *OpName        `json:"since,omitempty"`     // Refs are all that moved after this one
}

// OpOf returns the form of an operation; undone tells whether it is taken back, nil if that is not known.
func OpOf(e core.OpRecord, undone *bool) *Op {
	o := e.Operation
	return &Op{
		Op: e.CID, Seq: o.Seq, Time: o.Time, Actor: o.Actor, Command: o.Command, Refs: e.Refs,
		Undoes: o.Undoes, Redoes: o.Redoes, Undone: undone, Oldest: e.Oldest,
	}
}

// OpName tells which operation is meant.
type OpName struct {
	Op  ipld.CID `json:"op"`
	Seq uint64   `json:"seq"`
}

func nameOf(e core.OpRecord) OpName { return OpName{e.CID, e.Operation.Seq} }

type opLogRequest struct {
	Limit int `op:",short=n,remote" doc:"at most {N} operations; 0 for all"`
}

// OpLog lists operations.
var OpLog = verb.Stream(verb.Spec{
	Command: "op log", Right: verb.NoRight, Confined: true, Usage: "[flags]", Effect: verb.Reads,
	Title: "List operations, newest first",
	Doc: "List operations, newest first: number, time, actor, command, and the refs that each moved.\n" +
		"With --json, one object a line.",
	Example: "  mnem op log\n  mnem op log -n 5 --json",
}, func(ctx context.Context, s *verb.Service, q *opLogRequest, emit func(*Op) error) error {
	n := 0
	undone := make(map[ipld.CID]bool)
	for e, err := range s.Repo.OpLog().All(ctx) {
		if err != nil {
			return err
		}
		taken := undone[e.CID]
		delete(undone, e.CID)
		if back := e.Reverses(); back.Defined() && !taken {
			undone[back] = true
		}
		if err := emit(OpOf(e, &taken)); err != nil {
			return err
		}
		if n++; n == q.Limit {
			break
		}
	}
	return nil
})

func (q *opLogRequest) Check() error { return verb.CheckLimit(q.Limit) }

type opShowRequest struct {
	Op    string `op:",arg,remote" doc:"by number or CID"`
	Since string `op:",remote" doc:"list the refs that differ from how this {OP} left them"`
}

// OpShow tells of one operation.
var OpShow = verb.Define(verb.Spec{
	Command: "op show", Right: verb.NoRight, Confined: true, Usage: "[OP] [--since OP]", Args: "[OP]", Effect: verb.Reads,
	Title: "Print one operation",
	Doc: "Print one operation, by default the newest, with its CID and the refs that it moved. To see\n" +
		"what it did to the memory, give 'mnem diff' the two commits of a branch. With --since, all refs that\n" +
		"moved after an earlier operation.",
	Example: "  mnem op show\n  mnem op show 2\n  mnem op show @ --since @~3 --json",
}, func(ctx context.Context, s *verb.Service, q *opShowRequest) (*Op, error) {
	e, err := s.Repo.OpLog().Find(ctx, cmp.Or(q.Op, verb.NewestOp))
	if err != nil {
		return nil, err
	}
	out := OpOf(e, nil)
	if q.Since == "" {
		return out, nil
	}
	from, err := s.Repo.OpLog().Find(ctx, q.Since)
	if err != nil {
		return nil, err
	}
	since := nameOf(from)
	out.Since = &since
	out.Refs, err = s.Repo.OpLog().Diff(ctx, q.Since, cmp.Or(q.Op, verb.NewestOp))
	return out, err
})

// Undone is the result of undo, redo and op restore.
type Undone struct {
	Op      ipld.CID       `json:"op" shape:"null"` // null where nothing had to change
	Did     string         `json:"did" shape:"undone|redone|restored"`
	Of      OpName         `json:"of"`      // the operation undone, the undo taken back, or the state restored
	Command []string       `json:"command"` // of that operation
	Refs    []core.RefMove `json:"refs"`    // what moved
	// Skipped are the caller's newer operations that undo and redo pass over, newest first, 64 at most: captures, and
	// those that moved sessions or remote-tracking refs alone. SkippedAll is how many there were.
	Skipped    []*Skipped           `json:"skipped"`
	SkippedAll int                  `json:"skipped_all"`
	Pushed     []history.PushedMove `json:"pushed"` // branches that lost commits which remotes have

	// Passed is a purge that was passed over, 0 for none; Seq and Verb name the operation for people.
	Passed uint64 `json:"_passed,omitempty"`
	Seq    uint64 `json:"_seq,omitempty"`
	Verb   string `json:"_verb,omitempty"`
}

// Skipped is an operation that undo passed over.
type Skipped struct {
	OpName
	Command []string `json:"command"`
}

// UndoRequest asks to take back an operation.
type UndoRequest struct {
	Op   string `op:",arg,remote" doc:"an operation by number or CID; none for the newest"`
	Own  bool   `op:",remote" doc:"only what this author and agent committed"`
	Redo bool   `op:",remote" not:"own" doc:"take back the caller's last undo instead; again, the one before"`
	verb.Actor
	verb.OnHead
}

type opRestoreRequest struct {
	Op string `op:",arg,required,remote" doc:"an operation by number or CID"`
	verb.Actor
	verb.OnHead
}

func (q *UndoRequest) Check() error {
	if q.Redo && q.Op != "" {
		return verb.Between("%s takes no operation", "redo")
	}
	return nil
}

// Undo and OpRestore go back and forth in the operation log.
var (
	Undo = verb.Define(verb.Spec{
		Command: "undo", Right: verb.OwnRight, Confined: true, Usage: "[OP]", Group: "history", Effect: verb.Writes,
		Title: "Take back an operation",
		Doc: "Take back what one operation did to branches, tags, HEAD and stages: by default the caller's newest\n" +
			"that is not taken back yet, so that repeated calls go further back. Captures, fetches and what\n" +
			"sessions record are passed over, and the answer names them; an operation that is named may be a\n" +
			"capture or anyone's. Taking back an undo, by name or by --redo, is a redo. Nothing is lost: undo is\n" +
			"an operation itself, and commits stay reachable through the log. --own also passes over operations\n" +
			"of other agents, and those that made no commit.\n\n" +
			"If captures have extended the branch since, they stay: undo commits the inverse of the change.\n" +
			"If anything else moved the same refs since, or a capture builds on the change, undo changes nothing:\n" +
			"exit code 5. Sessions, remote-tracking refs and purges are never taken back.\n\n" +
			"Undo does not reach other repositories. If a remote has what was taken back, the next sync brings it\n" +
			"back, and the answer says so: 'mnem undo --redo', then 'mnem revert' and 'mnem sync' take it back for\n" +
			"everybody.",
		Example: "  mnem undo\n  mnem undo @\n  mnem undo 3\n  mnem undo --own\n  mnem undo --redo",
	}, func(ctx context.Context, s *verb.Service, q *UndoRequest) (*Undone, error) {
		if q.Redo {
			res, err := history.Redo(ctx, s.Repo, s.Commit.Stamp)
			return undone(ctx, s, res, "undone", true, err)
		}
		if q.Own {
			res, err := history.UndoOwn(ctx, s.Repo, q.Op, s.Commit.Stamp)
			if err != nil {
				return nil, ownHint(undoHint(err))
			}
			return undone(ctx, s, res, "undone", q.Op == "", nil)
		}
		res, err := history.Undo(ctx, s.Repo, q.Op, s.Commit.Stamp)
		if q.Op == "" && errors.Is(err, history.ErrNothingToUndo) && !errors.Is(err, history.ErrFarBack) {
			err = verb.Hint(err, "captures and what others did are taken back by number: see 'mnem op log'",
				"captures and what others did are taken back by number: see op_log")
		}
		return undone(ctx, s, res, "undone", q.Op == "", err)
	})

	OpRestore = verb.Define(verb.Spec{
		Command: "op restore", Right: verb.OwnRight, Confined: true, Usage: "OP", Effect: verb.Writes,
		Title: "Restore all refs to their state after an operation",
		Doc: "Give HEAD, branches, tags, stages and merges in progress the values they had after an operation.\n" +
			"This is an operation itself: 'mnem undo' takes it back. Sessions and remote-tracking refs stay as they are.",
		Example: "  mnem op restore 2\n  mnem op restore @~1",
	}, func(ctx context.Context, s *verb.Service, q *opRestoreRequest) (*Undone, error) {
		res, err := history.RestoreOperation(ctx, s.Repo, q.Op, s.Commit.Stamp)
		if err != nil {
			return nil, err
		}
		return undone(ctx, s, res, "restored", false, nil)
	})
)

func undone(
	ctx context.Context, s *verb.Service, res *history.Undone, did string, newest bool, err error,
) (*Undone, error) {
	if err != nil {
		return nil, undoHint(err)
	}
	if res.Redo && did == "undone" {
		did = "redone"
	}
	op := res.Of.Operation
	out := &Undone{Op: res.Operation, Did: did, Of: nameOf(res.Of), Command: op.Command, Refs: res.Refs}
	out.SkippedAll, out.Pushed = res.SkippedAll, res.Pushed
	for _, e := range res.Skipped {
		out.Skipped = append(out.Skipped, &Skipped{nameOf(e), e.Operation.Command})
	}
	if !s.Human {
		return out, nil
	}
	out.Seq, out.Verb = op.Seq, op.Command[0]
	if newest && did == "undone" {
		out.Passed = res.Passed
	}
	if did == "redone" && op.Undoes.Defined() {
		again, err := s.Repo.OpLog().Find(ctx, op.Undoes.String())
		switch {
		case err == nil:
			out.Seq, out.Verb = again.Operation.Seq, again.Operation.Command[0]
		case !errors.Is(err, store.ErrNotFound): // it may be behind the horizon
			return nil, err
		}
	}
	return out, nil
}

func undoHint(err error) error {
	var moved *history.UndoError
	switch {
	case errors.As(err, &moved) && moved.Purge:
		return verb.Hint(err, fmt.Sprintf(
			"go back to what was before with 'mnem op restore %d': what was purged stays erased", moved.Seq-1),
			fmt.Sprintf("op_restore %d goes back to what was before: what was purged stays erased", moved.Seq-1))
	case moved != nil && len(moved.Items) > 0:
		return verb.Hint(err, fmt.Sprintf("take that back first with 'mnem undo %d', or change the memory with a new commit",
			moved.By), fmt.Sprintf("take that back first with undo %d, or change the memory with a new commit", moved.By))
	case moved != nil:
		return verb.Hint(err, fmt.Sprintf("take that back first with 'mnem undo %d', or go back further with "+
			"'mnem op restore %d'", moved.By, moved.Seq-1),
			fmt.Sprintf("take that back first with undo %d, or go back further with op_restore %d",
				moved.By, moved.Seq-1))
	case errors.Is(err, history.ErrFarBack):
		return verb.Hint(err, "see 'mnem op log', and name one with 'mnem undo OP'", "see op_log, and name one with undo and op")
	}
	return err
}

// ownHint says what to do about what is not the caller's own.
func ownHint(err error) error {
	var moved *history.UndoError
	const all = "without --own, undo takes back what others did too"
	const any = "undo with any, or without own, takes back what others did too"
	switch {
	case errors.Is(err, history.ErrFarBack): // undoHint says what to do
	case errors.As(err, &moved) && !moved.Purge:
		return verb.Hint(err, "'mnem revert COMMIT' takes back what a commit changed and keeps what came since; "+all,
			"revert takes back what a commit changed and keeps what came since; "+any)
	case errors.Is(err, history.ErrNothingToUndo), errors.Is(err, history.ErrOthers):
		return verb.Hint(err, all, any)
	}
	return err
}

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
