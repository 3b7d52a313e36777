package editing

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/memory/review"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/reading"
	"github.com/mnem-project/mnem/ipld"
)

// Changing holds the common fields of requests that change nodes by their names.
type Changing struct {
	Message string `op:",short=m,remote" doc:"what the commit is about; default: what was done"`
	Expect  string `op:",remote" doc:"the {CID} of the commit that the branch must be at; else exit code 5"`
	verb.Actor
	verb.OnBranch
	verb.Signing
	verb.Params
	verb.Secrets
	verb.Trial
}

func (p *Changing) Into(w *verb.Writing) { w.Message, w.Expect = p.Message, p.Expect }

// Marking holds the common fields of requests that mark nodes.
type Marking struct {
	Reason string `op:",remote" doc:"why, {TEXT}: it is kept with the mark"`
	Changing
}

// MarkRequest asks for a mark on nodes, or for marks to be taken off.
type MarkRequest struct {
	Words  []string `op:",arg"` // KIND and the nodes, or with Remove the nodes
	Kind   string   `op:",remoteonly" doc:"stale, contradicted, superseded, different, retired, expired or forgotten; none with remove"`
	Nodes  []string `op:",remoteonly" doc:"nodes, each by key, id, at least 4 digits of an id, or exact title; of expired without any, those whose time has passed"`
	By     string   `op:",remote" doc:"the {NODE} that supersedes, contradicts or differs from them"`
	Remove bool     `op:",remote" not:"by now" doc:"take the marks of nodes off, whatever they say"`
	Now    string   `op:",remote" not:"by" doc:"{TIME} that counts as now for expired, RFC 3339 or YYYY-MM-DD (default: the time of the change)"`
	Marking
}

// Marked describes the changes of a verb that marks nodes.
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
	ctx context.Context, s *verb.Service, res *core.CommitResult, nodes ...[]graph.ID,
) (out NodesCommit, err error) {
	out = NodesCommit{
		Commit: s.MadeBy(res), Branch: res.Branch, Graph: res.Graph, NoChange: res.NoChange, DryRun: s.DryRun,
		Warnings: WarningsOf(res.Secrets),
	}
	if s.Human {
		out.Labels, err = LabelsOf(ctx, s.Repo, res.Commit, nodes...)
	}
	return out, err
}

// different says that one memory does not replace another one. It is no mark: nothing about them is hidden.
const different = "different"

const markGroup = "change"

// Forget hides nodes.
var Forget = verb.Define(verb.Spec{
	Command: "forget", Right: verb.OwnRight, Confined: true, Usage: "NODE… | --type TYPE --where PREDICATE --until TIME --confirm N",
	Args: "[NODE…]", Group: markGroup, Effect: verb.Writes, Idempotent: true,
	Title: "Hide memories from every retrieval",
	Doc: "Mark nodes as forgotten, in one commit. No retrieval on the branch finds or shows a forgotten node.\n" +
		"Commands that read show it with --include forgotten, and older commits are unchanged. 'mnem restore\n" +
		"NODE' and 'mnem undo' bring it back. 'mnem purge' erases the text itself from every commit, for good.\n\n" +
		"Without NODEs, forget the visible nodes that match all of --type, --where and --until, at most 10,000.\n" +
		"--dry-run lists and counts them. --confirm repeats that number: if another number of nodes matches,\n" +
		"nothing is forgotten.",
	Example: "  mnem forget bruno --reason 'he was only a test'\n  mnem forget alice bob --dry-run\n" +
		"  mnem forget --type Turn --until 2026-01-01 --dry-run\n" +
		"  mnem forget --where 'project = \"apollo\"' --dry-run",
}, forget)

// ForgetRequest asks to hide nodes, by their names or by a filter.
type ForgetRequest struct {
	Nodes   []string `op:",arg,remote" doc:"nodes, each by key, id, at least 4 digits of an id, or exact title"`
	Type    []string `op:",remote" doc:"only this {TYPE}" note:" (repeatable)"`
	Where   []string `op:",remote" doc:"only where this {PREDICATE} holds" note:" (repeatable)"`
	Before  string   `op:"until,remote" doc:"only what was created before this {TIME}, RFC 3339 or YYYY-MM-DD"`
	Confirm int      `op:",remote" doc:"forget only if exactly {N} nodes match the filters"`
	Marking
}

func (q *ForgetRequest) Check() error {
	filtered := len(q.Type)+len(q.Where) > 0 || q.Before != ""
	switch {
	case filtered && len(q.Nodes) > 0:
		return verb.Between("name nodes or give %s, %s and %s, not both", "type", "where", "until")
	case !filtered && q.Confirm != 0:
		return verb.Between("%s goes with %s, %s and %s", "confirm", "type", "where", "until")
	case !filtered && len(q.Nodes) == 0:
		return verb.Usagef("no NODE to forget: name at least one")
	case q.Confirm < 0:
		return verb.Bad("confirm", "%d is not a number of nodes", q.Confirm)
	case q.Before != "":
		_, err := verb.OptTime("until", q.Before)
		return err
	}
	return nil
}

func forget(ctx context.Context, s *verb.Service, q *ForgetRequest) (*Marked, error) {
	names := q.Nodes
	if len(names) == 0 {
		var err error
		if names, err = q.choose(ctx, s); err != nil {
			return nil, err
		}
		if len(names) > memory.MaxMarked {
			return nil, verb.Bad("where", "more than %d nodes: choose fewer", memory.MaxMarked)
		}
		if !s.DryRun && q.Confirm != len(names) {
			return nil, verb.Bad("confirm", "nothing was forgotten: %s would be, not %d", plain.Plural(len(names), "node"),
				q.Confirm)
		}
		if len(names) == 0 {
			return &Marked{State: new(graph.Forgotten), NodesCommit: NodesCommit{NoChange: true, DryRun: s.DryRun}}, nil
		}
	}
	return markNodes(ctx, s, memory.MarkRequest{State: graph.Forgotten, Nodes: names, Reason: q.Reason})
}

// choose returns the ids of the visible nodes that match the filters, up to one more than may be marked.
func (q *ForgetRequest) choose(ctx context.Context, s *verb.Service) (ids []string, err error) {
	list := reading.ListRequest{Type: q.Type, Where: q.Where, Limit: memory.MaxMarked + 1}
	if list.At = s.Commit.Branch; list.At == "" {
		list.At = string(graph.Head)
	}
	before := graph.MaxTime
	if q.Before != "" {
		at, err := verb.OptTime("until", q.Before)
		if err != nil {
			return nil, err
		}
		before = at.Time - 1
	}
	_, page, err := list.Nodes(ctx, s, func(n *graph.Node) bool { return n.Created <= before })
	if err != nil {
		return nil, err
	}
	_, err = page(func(n *graph.Node) error {
		ids = append(ids, n.ID.String())
		return nil
	})
	return ids, err
}

// Mark marks memories.
var Mark = verb.Define(verb.Spec{
	Command: "mark", Right: verb.OwnRight, Confined: true, Usage: "KIND [NODE…] [--by NEW] | --remove NODE…", Args: "KIND [NODE…]",
	Group: markGroup, Effect: verb.Writes, Idempotent: true,
	Title: "Mark memories as replaced, stale, contradicted, retired, expired",
	Doc: "Mark nodes, in one commit. A marked node keeps its text, properties and edges; --remove takes the\n" +
		"marks of nodes off again, of two that contradict each other both.\n\n" +
		"  superseded    --by NEW took their place: answers show them after it as replaced, or not at all\n" +
		"  different     --by NEW does not replace them: 'mnem review' and 'mnem consolidate' do not ask again\n" +
		"  contradicted  they and --by OTHER cannot both be true: if one is shown, the other follows\n" +
		"  stale         they may be out of date: shown, with a line that says so\n" +
		"  retired       true, but no longer useful: hidden\n" +
		"  expired       hidden, if their property expires or their validTo is not after --now; without NODEs\n" +
		"                all such nodes, for which every node is read\n" +
		"  forgotten     hidden from every retrieval, as by 'mnem forget'\n\n" +
		"--include KIND shows what is hidden. What supersedes or contradicts must be visible itself.\n" +
		"Superseding, forgetting or retiring one of two that contradict each other settles it.",
	Example: "  mnem mark superseded db/marlin --by db/ledger-pg --reason 'it moved there'\n" +
		"  mnem mark contradicted decision/keep-marlin --by meeting/2026-09-01\n" +
		"  mnem mark stale svc/billing --reason 'the service was rewritten'\n" +
		"  mnem mark expired --now 2026-12-31 --dry-run\n  mnem mark --remove svc/billing",
}, func(ctx context.Context, s *verb.Service, q *MarkRequest) (*Marked, error) {
	switch {
	case q.Remove:
		res, err := memory.Unmark(ctx, s.Repo, s.Commit, memory.UnmarkRequest{Nodes: q.Nodes, Reason: q.Reason})
		return marked(ctx, s, res, "", err)
	case q.Kind == different:
		res, err := review.Differ(ctx, s.Repo, s.Commit, review.DifferRequest{Nodes: q.Nodes, By: q.By})
		return marked(ctx, s, res, different, err)
	case q.Kind == string(graph.Expired):
		return expire(ctx, s, q)
	}
	return markNodes(ctx, s, memory.MarkRequest{State: graph.State(q.Kind), Nodes: q.Nodes, By: q.By, Reason: q.Reason})
})

func expire(ctx context.Context, s *verb.Service, q *MarkRequest) (*Marked, error) {
	at := s.Commit.Stamp.Time
	if q.Now != "" {
		var err error
		if at, err = s.Now(q.Now); err != nil {
			return nil, err
		}
	}
	res, err := memory.Expire(ctx, s.Repo, s.Commit, memory.ExpireRequest{Now: at, Nodes: q.Nodes, Reason: q.Reason})
	return marked(ctx, s, res, graph.Expired, err)
}

// Outside makes fields that a server takes of the arguments.
func (q *MarkRequest) Outside(int) (more bool) {
	if q.Nodes = q.Words; !q.Remove && len(q.Words) > 0 {
		q.Kind, q.Nodes = q.Words[0], q.Words[1:]
	}
	return false
}

func (q *MarkRequest) Check() error {
	if len(q.Words) > 0 {
		q.Outside(0)
	}
	kind := graph.State(q.Kind)
	switch {
	case q.Remove:
	case kind != different && !slices.Contains(graph.States(), kind):
		return verb.Usagef("%q is no kind of mark: want one of %v or %s", q.Kind, graph.States(), different)
	case kind == different && q.Reason != "":
		return verb.Bad("reason", "not for %s, which is no mark", different)
	case (kind == different || kind.ByOther()) && q.By == "":
		return verb.Bad("by", "missing: name the node by which they are %s", kind)
	case kind != different && !kind.ByOther() && q.By != "":
		return verb.Bad("by", "only for %s and %s", graph.Superseded, graph.Contradicted)
	case kind != graph.Expired && q.Now != "":
		return verb.Bad("now", "only for %s", graph.Expired)
	}
	if len(q.Nodes) == 0 && kind != graph.Expired {
		return verb.Usagef("no NODE to mark: name at least one")
	}
	if q.Now == "" {
		return nil
	}
	_, err := verb.OptTime("now", q.Now)
	return err
}

func markNodes(ctx context.Context, s *verb.Service, q memory.MarkRequest) (*Marked, error) {
	res, err := memory.Mark(ctx, s.Repo, s.Commit, q)
	return marked(ctx, s, res, q.State, err)
}

func marked(
	ctx context.Context, s *verb.Service, res *memory.MarkResult, state graph.State, err error,
) (*Marked, error) {
	if err != nil {
		return nil, MarkHint(err)
	}
	return MarkedOf(ctx, s, res, state)
}

// MarkedOf returns the form of marks; state is "" if marks were removed.
func MarkedOf(ctx context.Context, s *verb.Service, res *memory.MarkResult, state graph.State) (*Marked, error) {
	out := &Marked{MarkResult: *res}
	if state != "" {
		out.State = &state
	}
	var err error
	out.NodesCommit, err = nodesCommit(ctx, s, res.CommitResult, res.Marked, res.Unmarked, res.Already)
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
			"'mnem show %s --include %s' shows it; 'mnem restore %s' takes the mark off", in.Node, in.State,
			in.Node), fmt.Sprintf("show with include %s shows it; restore takes the mark off", in.State))
	case errors.As(err, &edge):
		const hide = "to hide it, commit a line {\"mark\":{\"edge\":{\"id\":\"%s\"},\"state\":\"forgotten\"}}; "
		id := edge.Edge.ID
		return verb.Hint(err, fmt.Sprintf(hide+"to remove it, 'mnem rm --edge %s'", id, id),
			fmt.Sprintf(hide+"to remove it, rm with the edge", id))
	}
	return verb.NodeHint(err)
}

// Warning reports an apparent credential in a write.
type Warning struct {
	Code string `json:"code" shape:"secret|secrets_not_listed|not_searched"`
	state.SecretFinding
	Message string `json:"message"`
	Remedy  string `json:"remedy"`
}

// Warnings are the warnings of one answer.
type Warnings []Warning

// Codes of warnings about writes.
const (
	CodeSecret = "secret"
	codeMore   = "secrets_not_listed" // there are more than are listed
	codeUnread = "not_searched"       // a merge has more items than are looked at
)

// SecretRemedy is the advice for a credential that was written.
const SecretRemedy = "'mnem purge' erases a node from all history; change the credential where it is used"

// WarningsOf returns the warnings of a report, nil for none.
func WarningsOf(r state.SecretReport) Warnings {
	var out Warnings
	for _, f := range r.Findings {
		out = append(out, Warning{CodeSecret, f, f.At() + " looks like a credential (" + f.Rule + ")", SecretRemedy})
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

type pinRequest struct {
	Nodes  []string `op:",arg,required,remote" doc:"nodes, each by key, id, at least 4 digits of an id, or exact title"`
	Remove bool     `op:",remote" doc:"unpin them"`
	Changing
}

// PinChanged says which nodes were pinned or unpinned.
type PinChanged struct {
	Pinned bool `json:"pinned"` // whether Changed are pinned now
	memory.PinResult
	NodesCommit
}

// Pin says what every session begins with.
var Pin = verb.Define(verb.Spec{
	Command: "pin", Right: verb.OwnRight, Confined: true, Usage: "NODE…", Group: "change", Effect: verb.Writes, Idempotent: true,
	Title: "Pin memories, so that every session starts with them",
	Doc: "Pin nodes, in one commit: hooks give them to agents at the start of every session. A pinned node has\n" +
		"the property pinned = true; --where 'pinned = true' finds it. --remove removes the property and changes\n" +
		"nothing else.",
	Example: "  mnem pin alice svc/billing\n  mnem pin bruno --dry-run\n  mnem pin alice --remove",
}, func(ctx context.Context, s *verb.Service, q *pinRequest) (*PinChanged, error) {
	res, err := memory.Pin(ctx, s.Repo, s.Commit, memory.PinRequest{Nodes: q.Nodes, Unpin: q.Remove})
	if err != nil {
		return nil, MarkHint(err)
	}
	out := &PinChanged{Pinned: !q.Remove, PinResult: *res}
	out.NodesCommit, err = nodesCommit(ctx, s, res.CommitResult, res.Changed, res.Already)
	return out, err
})
