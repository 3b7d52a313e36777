package editing

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/reading"
	"github.com/mnem-project/mnem/ipld"
)

// Marking is what requests of verbs that mark nodes have in common.
type Marking struct {
	Reason  string `op:",remote" doc:"why, {TEXT}: it is kept with the mark"`
	Message string `op:",short=m,remote" doc:"what the commit is about; default: what was done"`
	Expect  string `op:",remote" doc:"the {CID} of the commit that the branch must be at; else exit code 5"`
	verb.Actor
	verb.OnBranch
	verb.Signing
	verb.Secrets
	verb.Trial
}

func (p *Marking) Into(w *verb.Writing) { w.Message, w.Expect = p.Message, p.Expect }

// NodesRequest asks for a mark on nodes.
type NodesRequest struct {
	Nodes []string `op:",arg,required,remote" doc:"nodes, each by key, id, at least 4 digits of an id, or exact title"`
	Marking
}

// SupersedeRequest asks for nodes to be superseded by another.
type SupersedeRequest struct {
	Old []string `op:",arg,required,remote" doc:"nodes, each by key, id, at least 4 digits of an id, or exact title"`
	New string   `op:",arg,required,remote" doc:"the node that takes their place"`
	Marking
}

// ContradictRequest asks for two nodes to contradict each other.
type ContradictRequest struct {
	A string `op:",arg,required,remote" doc:"a node by key, id, at least 4 digits of an id, or exact title"`
	B string `op:",arg,required,remote" doc:"a node by key, id, at least 4 digits of an id, or exact title"`
	Marking
}

// ExpireRequest asks for what is past its time to be hidden.
type ExpireRequest struct {
	Nodes []string `op:",arg,remote" doc:"nodes, each by key, id, at least 4 digits of an id, or exact title; without any, those whose time has passed"`
	Now   string   `op:",remote" doc:"{TIME} that counts as now, RFC 3339 or YYYY-MM-DD (default: the time of the change)"`
	Marking
}

// Marked is what a verb that marks nodes did.
type Marked struct {
	State *graph.State `json:"state"` // null where marks were taken off
	memory.MarkResult
	NodesCommit
}

// NodesCommit is the commit of a verb that changes nodes by their names.
type NodesCommit struct {
	Commit   ipld.CID `json:"commit" shape:"null"`
	Branch   string   `json:"branch"`
	Graph    ipld.CID `json:"graph" shape:"null"`
	NoChange bool     `json:"no_change"`
	DryRun   bool     `json:"dry_run"`
	Warnings Warnings `json:"warnings,omitempty"`

	// Labels name the nodes.
	Labels map[string]reading.NodeName `json:"_labels,omitempty"`
}

// nodesCommit returns the form of a commit, with the names of nodes for people.
func nodesCommit(
	ctx context.Context, r *core.Repo, res *core.CommitResult, dryRun, human bool, nodes ...[]graph.ID,
) (out NodesCommit, err error) {
	out = NodesCommit{
		Commit: res.Commit, Branch: res.Branch, Graph: res.Graph, NoChange: res.NoChange, DryRun: dryRun,
		Warnings: WarningsOf(res.Secrets),
	}
	if human {
		out.Labels, err = LabelsOf(ctx, r, out.Commit, nodes...)
	}
	if dryRun && !res.NoChange {
		out.Commit = ipld.CID{} // its time would be another
	}
	return out, err
}

const markGroup = "change"

// Forget, Stale and Retire mark nodes.
var (
	Forget = verb.Define(verb.Spec{
		Command: "forget", Right: verb.OwnRight, Usage: "NODE…", Group: markGroup, Effect: verb.Writes, Idempotent: true,
		Title: "Hide memories from every retrieval",
		Doc: "Mark nodes as forgotten, in one commit. No retrieval on the branch finds or shows a forgotten node.\n" +
			"Commands that read show it with --include forgotten, and older commits are unchanged. 'mnem restore\n" +
			"NODE' and 'mnem undo' bring it back. 'mnem purge' erases the text itself from every commit, for good.",
		Example: "  mnem forget bruno --reason 'he was only a test'\n  mnem forget alice bob --dry-run",
	}, mark(graph.Forgotten))

	Stale = verb.Define(verb.Spec{
		Command: "stale", Right: verb.OwnRight, Usage: "NODE…", Group: markGroup, Effect: verb.Writes, Idempotent: true,
		Title: "Mark memories for review",
		Doc: "Mark nodes as stale, in one commit: they may be out of date and need review. They are still found\n" +
			"and shown, with a line that says so. 'mnem restore NODE' removes the mark.",
		Example: "  mnem stale svc/billing --reason 'the service was rewritten'",
	}, mark(graph.Stale))

	Retire = verb.Define(verb.Spec{
		Command: "retire", Right: verb.OwnRight, Usage: "NODE…", Group: markGroup, Effect: verb.Writes, Idempotent: true,
		Title: "Hide memories that are no longer useful",
		Doc: "Mark nodes as retired, in one commit: true, but no longer useful. They are hidden like forgotten\n" +
			"ones; --include retired shows them.",
		Example: "  mnem retire task/KM-402 meeting/2026-09-01 --reason 'the project ended'",
	}, mark(graph.Retired))
)

// Supersede lets a memory take the place of others.
var Supersede = verb.Define(verb.Spec{
	Command: "supersede", Right: verb.OwnRight, Usage: "OLD… NEW", Group: markGroup, Effect: verb.Writes, Idempotent: true,
	Title: "Replace memories by another one",
	Doc: "Mark nodes as superseded by the last one, in one commit. A superseded node keeps its text,\n" +
		"properties and edges and is hidden; --include superseded shows it. NEW must be visible itself. If\n" +
		"the two contradicted each other, that is settled: the mark on NEW is removed.",
	Example: "  mnem supersede db/marlin db/ledger-pg --reason 'it moved there'\n" +
		"  mnem supersede alice bruno bob --dry-run",
}, func(ctx context.Context, s *verb.Service, q *SupersedeRequest) (*Marked, error) {
	return markNodes(ctx, s, memory.MarkRequest{State: graph.Superseded, Nodes: q.Old, By: q.New,
		Reason: q.Reason})
})

// Contradict says that two memories cannot both be true.
var Contradict = verb.Define(verb.Spec{
	Command: "contradict", Right: verb.OwnRight, Usage: "A B", Group: markGroup, Effect: verb.Writes, Idempotent: true,
	Title: "Mark two memories as contradicting each other",
	Doc: "Mark two nodes as contradicted by each other, in one commit. Both are still found; where a retrieval\n" +
		"shows one of them, the other follows directly. Superseding, forgetting or retiring one of them\n" +
		"settles the contradiction, and 'mnem restore A' removes both marks. A node that a third one\n" +
		"contradicts keeps that mark.",
	Example: "  mnem contradict decision/keep-marlin meeting/2026-09-01 --reason 'one of the two is wrong'",
}, func(ctx context.Context, s *verb.Service, q *ContradictRequest) (*Marked, error) {
	return markNodes(ctx, s, memory.MarkRequest{State: graph.Contradicted, Nodes: []string{q.A}, By: q.B,
		Reason: q.Reason})
})

// Expire hides memories whose time has passed.
var Expire = verb.Define(verb.Spec{
	Command: "expire", Right: verb.OwnRight, Usage: "[NODE…]", Group: markGroup, Effect: verb.Writes, Idempotent: true,
	Title: "Hide memories whose time has passed",
	Doc: "Mark nodes as expired, in one commit: of all nodes, or of the given NODEs, those whose property\n" +
		"expires or whose validTo is not after --now. They are hidden; --include expired shows them. Nodes\n" +
		"that are already hidden stay as they are. Without NODEs every node is read.",
	Example: "  mnem expire\n  mnem expire --now 2026-12-31 --dry-run",
}, func(ctx context.Context, s *verb.Service, q *ExpireRequest) (*Marked, error) {
	at := s.Commit.Stamp.Time
	if q.Now != "" {
		var err error
		if at, err = s.Now(q.Now); err != nil {
			return nil, err
		}
	}
	res, err := memory.Expire(ctx, s.Repo, s.Commit, memory.ExpireRequest{Now: at, Nodes: q.Nodes,
		Reason: q.Reason})
	return marked(ctx, s, res, graph.Expired, err)
})

// Check reads what can be wrong.
func (q *ExpireRequest) Check() error {
	if q.Now == "" {
		return nil
	}
	_, err := verb.OptTime("now", q.Now)
	return err
}

// mark is a verb that marks the nodes that it is given.
func mark(state graph.State) func(context.Context, *verb.Service, *NodesRequest) (*Marked, error) {
	return func(ctx context.Context, s *verb.Service, q *NodesRequest) (*Marked, error) {
		return markNodes(ctx, s, memory.MarkRequest{State: state, Nodes: q.Nodes, Reason: q.Reason})
	}
}

func markNodes(ctx context.Context, s *verb.Service, q memory.MarkRequest) (*Marked, error) {
	res, err := memory.Mark(ctx, s.Repo, s.Commit, q)
	return marked(ctx, s, res, q.State, err)
}

// marked returns what a verb that marks answers.
func marked(
	ctx context.Context, s *verb.Service, res *memory.MarkResult, state graph.State, err error,
) (*Marked, error) {
	if err != nil {
		return nil, MarkHint(err)
	}
	return MarkedOf(ctx, s.Repo, res, state, s.DryRun, s.Human)
}

// MarkedOf returns the form of what was marked in a repository; state is "" where marks were taken off.
func MarkedOf(
	ctx context.Context, r *core.Repo, res *memory.MarkResult, state graph.State, dryRun, human bool,
) (*Marked, error) {
	out := &Marked{MarkResult: *res}
	if state != "" {
		out.State = &state
	}
	var err error
	out.NodesCommit, err = nodesCommit(ctx, r, res.CommitResult, dryRun, human, res.Marked, res.Unmarked, res.Already)
	return out, err
}

// LabelsOf names nodes as they are in a commit, those that are there.
func LabelsOf(
	ctx context.Context, r *core.Repo, commit ipld.CID, lists ...[]graph.ID,
) (map[string]reading.NodeName, error) {
	snap, err := r.At(ctx, commit)
	if err != nil {
		return nil, err
	}
	labels := make(map[string]reading.NodeName)
	for _, id := range slices.Concat(lists...) {
		n, _, err := snap.Node(ctx, id)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
		if err == nil {
			labels[id.String()] = reading.NameOf(n)
		}
	}
	return labels, nil
}

// MarkHint says what to do about a node that cannot be marked.
func MarkHint(err error) error {
	var in *memory.StateError
	var edge *memory.EdgeError
	switch {
	case errors.As(err, &in):
		return verb.Hint(err, fmt.Sprintf(
			"'mnem get %s --include %s' shows it; 'mnem restore %s' takes the mark off", in.Node, in.State,
			in.Node), fmt.Sprintf("get with include %s shows it; restore takes the mark off", in.State))
	case errors.As(err, &edge):
		const hide = "to hide it, commit a line {\"mark\":{\"edge\":{\"id\":\"%s\"},\"state\":\"forgotten\"}}; "
		id, e := edge.Edge.ID, edge.Edge
		return verb.Hint(err, fmt.Sprintf(hide+"to remove it, 'mnem unlink %s %s %s'", id, e.Src, e.Type, e.Dst),
			fmt.Sprintf(hide+"to remove it, unlink it", id))
	}
	return verb.NodeHint(err)
}

// Warning is what looks like a credential in what was written.
type Warning struct {
	Code string `json:"code" shape:"secret|secrets_not_listed|not_searched"`
	state.SecretFinding
	Message string `json:"message"`
	Remedy  string `json:"remedy"`
}

// Warnings are those of one answer.
type Warnings []Warning

// Codes of warnings about what was written.
const (
	CodeSecret = "secret"
	codeMore   = "secrets_not_listed" // there are more than are listed
	codeUnread = "not_searched"       // a merge has more items than are looked at
)

// SecretRemedy is what to do about a credential that was written.
const SecretRemedy = "'mnem purge' erases a node from all history; change the credential where it is used"

// WarningsOf returns the warnings of a report, nil for none.
func WarningsOf(r state.SecretReport) Warnings {
	var out Warnings
	for _, f := range r.Findings {
		out = append(out, Warning{CodeSecret, f, f.Where() + " looks like a credential (" + f.Rule + ")", SecretRemedy})
	}
	if r.More > 0 {
		out = append(out, Warning{Code: codeMore, Remedy: SecretRemedy,
			Message: fmt.Sprintf("%d more places look like credentials", r.More)})
	}
	if r.Unread > 0 {
		items := "items"
		if r.Unread == 1 {
			items = "item"
		}
		out = append(out, Warning{Code: codeUnread,
			Message: fmt.Sprintf("%d %s of the merge not searched for credentials", r.Unread, items),
			Remedy:  "'mnem export' the branch and 'mnem import --dry-run' it elsewhere: that searches all"})
	}
	return out
}
