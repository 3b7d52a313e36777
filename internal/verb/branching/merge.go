package branching

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/merging"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/editing"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/ipld"
)

// Integrating has the fields that merge, revert and cherry-pick share.
type Integrating struct {
	Message string `op:",short=m,remote" doc:"what the commit is about; default: what was done"`
	Expect  string `op:",remote" doc:"the {CID} of the commit that the branch must be at; else exit code 5"`
	// Conflicts decides if both sides changed one thing.
	Conflicts Rule `op:",remote" enum:"stop newest ours theirs" doc:"what to do if both sides changed one thing: {RULE} is stop, newest, ours, theirs" note:" (default: stop)"`
	DryRun    bool `op:",remote" doc:"say what would happen and write nothing"`
	verb.Actor
	verb.OnBranch
	verb.Signing
	verb.Params
	verb.Secrets
}

func (p *Integrating) Into(w *verb.Writing) {
	w.Message, w.Expect, w.DryRun = p.Message, p.Expect, p.DryRun
}

type revsRequest struct {
	Rev string `op:",arg,required,remote" doc:"the commit, branch or range A..B"`
	Integrating
}

// MergeRequest asks for a merge, or about the one in progress.
type MergeRequest struct {
	Rev           string `op:",arg,remote,writes" doc:"a branch, tag, CID or any other revision"`
	NoFF          bool   `op:"no-ff,remote" doc:"make a merge commit also where the branch could simply move"`
	List          bool   `op:",remote" doc:"show the merge in progress, and what was kept"`
	Continue      bool   `op:",remote,writes" doc:"make the commit, all conflicts being resolved"`
	Abort         bool   `op:",remote,writes" doc:"forget the merge in progress"`
	Resolve       string `op:",remote,writes" doc:"decide about one {ITEM}, with --take"`
	Take          string `op:",remote" doc:"ours, theirs, base, or a {FILE} of change lines" enum:"ours theirs base" remote:"with resolve: ours, theirs or base"`
	Drop          string `op:",remote,writes" doc:"forget what was kept under a {REF}"`
	RequireSigned bool   `op:",remote" doc:"refuse commits that no key you trust has signed" note:" (MNEM_REQUIRE_SIGNED; config: require-signed)"`
	Integrating
	verb.Params
	verb.ChangeReader
}

// FileNames are the files that change lines come from.
func (q *MergeRequest) FileNames() []string {
	switch graph.Take(q.Take) {
	case "", graph.TakeOurs, graph.TakeTheirs, graph.TakeBase:
		return nil
	}
	return []string{q.Take}
}

// Merged is the result of a merge, a revert or a cherry-pick.
type Merged struct {
	Commit         ipld.CID         `json:"commit" shape:"null"`
	FastForward    bool             `json:"fast_forward"`
	Conflicts      []core.Conflict  `json:"conflicts"`
	VectorsDropped int              `json:"vectors_dropped"`
	Branch         string           `json:"branch"`
	Parents        []ipld.CID       `json:"parents"`
	Graph          ipld.CID         `json:"graph" shape:"null"`
	Nodes          state.Counts     `json:"nodes"`
	Edges          state.Counts     `json:"edges"`
	NoChange       bool             `json:"no_change"`
	DryRun         bool             `json:"dry_run"`
	Warnings       editing.Warnings `json:"warnings,omitempty"`
}

// Pending is a merge in progress, or none, and what was kept because it did not merge.
type Pending struct {
	core.PendingMerge
	Kept []core.KeptCommit `json:"kept"`

	Open    int    `json:"_open,omitempty"`    // conflicts that nothing is decided about
	Aborted string `json:"_aborted,omitempty"` // the branch whose merge was forgotten
	Forgot  string `json:"_forgot,omitempty"`  // the ref that was dropped
}

// Merge, Revert and CherryPick apply the changes of other commits.
var (
	Merge = verb.Define(verb.Spec{
		Command: "merge", Right: verb.OwnRight, Confined: true,
		Usage: "REV | --list | --resolve ITEM --take ours|theirs|base|FILE | --continue | --abort",
		Args:  "[REV]", Group: "change", Effect: verb.Reads, Complete: "rev",
		Title: "Merge another branch, and resolve conflicts",
		Doc: "Merge a branch or any commit into the current branch, by field, property, edge and mark. A change\n" +
			"made on one side since the common ancestor is taken, and so is the same change made on both sides.\n" +
			"If the branch has no commits of its own, it moves forward. Different changes of one thing are a\n" +
			"conflict, exit code 5: the merge waits, and the branch stays where it is, until every conflict is\n" +
			"resolved and the merge is continued. --conflicts newest, ours or theirs decides all of them at once.\n\n" +
			"Name an item as --list prints it, by the key of a node, or by a prefix of its id. Resolve it with\n" +
			"--take ours, theirs or base (the common ancestor), or with a file of change lines about it (\"-\" is\n" +
			"standard input); --list shows what is decided. Taking an edge restores a node that the other side\n" +
			"removed. Changes made on an older commit that could not be merged are kept and listed too: merge\n" +
			"them by their ref, or --drop them.",
		Example: "  mnem merge draft --dry-run\n" +
			"  mnem merge draft --conflicts theirs\n" +
			"  mnem merge --list",
		Answers:  []any{Merged{}, Pending{}},
		Lines:    &verb.LinesSpec{Flag: "take", Doc: "with resolve: change lines that decide it, in place of take"},
		Exclude:  [][]string{{"list", "continue", "abort", "resolve", "drop"}},
		Together: [][]string{{"resolve", "take"}},
	}, merge)

	Revert = verb.Define(verb.Spec{
		Command: "revert", Right: verb.OwnRight, Confined: true, Usage: "REV|FROM..TO", Group: "change", Effect: verb.Writes, Complete: "rev",
		Title: "Revert the changes of a commit by a new commit",
		Doc: "Revert what a commit changed against its first parent, or all commits after FROM up to TO, by one\n" +
			"new commit. Later changes of other things stay. A thing that was changed again since is a conflict,\n" +
			"as in 'mnem merge', which also lists, resolves and continues. Reverting the newest commit restores\n" +
			"the previous graph exactly, times included.",
		Example: "  mnem revert HEAD\n" +
			"  mnem revert HEAD~2..HEAD -m 'back to what we knew'\n" +
			"  mnem revert HEAD~1 --dry-run",
	}, integrates(merging.Revert))

	CherryPick = verb.Define(verb.Spec{
		Command: "cherry-pick", Right: verb.OwnRight, Confined: true,
		Usage: "REV|FROM..TO", Group: "change", Effect: verb.Writes, Complete: "rev",
		Title: "Apply an existing commit's changes to this branch",
		Doc: "Apply what a commit changed against its first parent, or all commits after FROM up to TO, to the\n" +
			"branch, as one new commit with the message of the last one. If the branch made different changes,\n" +
			"that is a conflict, as in 'mnem merge', which also lists, resolves and continues.",
		Example: "  mnem cherry-pick draft\n" +
			"  mnem cherry-pick main~1..main -b draft\n" +
			"  mnem cherry-pick draft --dry-run",
	}, integrates(merging.CherryPick))
)

// Integrate is how package merging applies the changes of other commits.
type Integrate = func(context.Context, *core.Repo, string, core.MergeOptions) (*merging.MergeResult, error)

func integrates(do Integrate) func(context.Context, *verb.Service, *revsRequest) (*Merged, error) {
	return func(ctx context.Context, s *verb.Service, q *revsRequest) (*Merged, error) {
		res, err := do(ctx, s.Repo, q.Rev, q.options(s))
		return merged(s, res, err)
	}
}

func (q *Integrating) options(s *verb.Service) core.MergeOptions {
	opt := core.MergeOptions{CommitOptions: s.Commit}
	switch q.Conflicts {
	case Ours:
		opt.Prefer = graph.TakeOurs
	case Theirs:
		opt.Prefer = graph.TakeTheirs
	case Newest:
		opt.Newest = true
	}
	return opt
}

// alone is whether the request is about the merge in progress, not for a new one.
func (q *MergeRequest) alone() bool {
	return q.List || q.Continue || q.Abort || q.Resolve != "" || q.Drop != ""
}

// ReadsOnly is whether the request changes nothing.
func (q *MergeRequest) ReadsOnly() bool { return q.List }

func (q *Integrating) Check() error {
	if q.Conflicts != "" && !slices.Contains(Rules(), q.Conflicts) {
		return verb.Bad("conflicts", "%q is not one of %s", q.Conflicts, strings.Join(Rules(), ", "))
	}
	return nil
}

func (q *MergeRequest) Check() error {
	if err := q.Integrating.Check(); err != nil {
		return err
	}
	alone := q.alone()
	switch {
	case alone && q.Rev != "":
		return verb.Between("a revision to merge, or one of %s, %s, %s, %s, %s",
			"list", "resolve", "continue", "abort", "drop")
	case !alone && q.Rev == "":
		return verb.Between("what to merge? name a branch, or see %s", "list")
	case alone && (q.Conflicts != "" || q.NoFF || q.DryRun):
		return verb.Between("%s, %s and %s are for a new merge", "conflicts", "no-ff", "dry-run")
	}
	if alone && !q.Continue {
		for _, name := range []string{"message", "sign", "key", "require-signed"} {
			if q.Given(name) {
				return verb.Between("%s is for what makes a commit: a merge, or %s", name, "continue")
			}
		}
	}
	if (q.List || q.Drop != "") && q.Expect != "" {
		return verb.Between("%s is for what changes a branch or the merge into it", "expect")
	}
	return nil
}

func merge(ctx context.Context, s *verb.Service, q *MergeRequest) (any, error) {
	if q.List {
		return pending(ctx, s)
	}
	opt := q.options(s)
	opt.NoFastForward = q.NoFF
	var err error
	if opt.Verify, err = s.Host.Require("merge", q.RequireSigned); err != nil {
		return nil, err
	}
	switch {
	case q.Continue:
		res, err := merging.ContinueMerge(ctx, s.Repo, opt)
		return verb.OneOf(merged(s, res, err))
	case q.Abort:
		branch, err := merging.AbortMerge(ctx, s.Repo, opt.CommitOptions)
		out := &Pending{PendingMerge: core.PendingMerge{Branch: branch}}
		if s.Human {
			out.Aborted = branch
		}
		return out, err
	case q.Drop != "":
		if err := s.Repo.KeptCommits().Drop(ctx, graph.RefName(q.Drop), opt.Stamp); err != nil {
			return nil, err
		}
		kept, err := s.Repo.KeptCommits().List(ctx)
		out := pendingOf(s, nil, kept)
		if s.Human {
			out.Forgot = q.Drop
		}
		return out, err
	case q.Resolve != "":
		return resolve(ctx, s, q, opt.CommitOptions)
	}
	res, err := merging.Merge(ctx, s.Repo, q.Rev, opt)
	return verb.OneOf(merged(s, res, err))
}

func resolve(ctx context.Context, s *verb.Service, q *MergeRequest, opt core.CommitOptions) (any, error) {
	choice := merging.Choice{Take: graph.Take(q.Take)}
	if q.HasChanges() {
		changes, err := q.Changes(ctx)
		if err != nil {
			return nil, err
		}
		choice = merging.Choice{Changes: changes}
	}
	p, err := merging.ResolveConflict(ctx, s.Repo, q.Resolve, choice, opt)
	if err != nil {
		return nil, err
	}
	return pendingOf(s, p, nil), nil
}

func pending(ctx context.Context, s *verb.Service) (*Pending, error) {
	p, err := s.Repo.PendingMerge(ctx, s.Commit.Branch)
	if errors.Is(err, store.ErrNotFound) {
		p, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	kept, err := s.Repo.KeptCommits().List(ctx)
	return pendingOf(s, p, kept), err
}

func pendingOf(s *verb.Service, p *core.PendingMerge, kept []core.KeptCommit) *Pending {
	out := &Pending{Kept: kept}
	if p != nil {
		if out.PendingMerge = *p; s.Human {
			out.Open = p.Open()
		}
	}
	return out
}

// merged returns the form of a result. If conflicts remain it is returned with the error.
func merged(s *verb.Service, res *merging.MergeResult, err error) (*Merged, error) {
	if errors.As(err, new(*core.InProgressError)) {
		return nil, verb.Hint(err, "see 'mnem merge --list'; then 'mnem merge --continue' or --abort",
			"see merge with list; then merge with continue or abort")
	}
	var clash *core.MergeError
	switch conflicts := errors.As(err, &clash); {
	case err != nil && !conflicts:
		return nil, err
	case conflicts && res == nil:
		return nil, verb.Hint(err, "see 'mnem merge --list', and decide with 'mnem merge --resolve ITEM --take …'",
			"see merge with list, and decide with resolve and take")
	case conflicts && s.DryRun:
		err = verb.Answered(verb.Hint(err, editing.DryRunHint, editing.DryRunHint))
	case conflicts:
		err = verb.Answered(verb.Hint(err, "decide with 'mnem merge --resolve ITEM --take ours|theirs|base|FILE', then "+
			"'mnem merge --continue'; or 'mnem merge --abort'",
			"decide with merge, resolve and take, then merge with continue; or with abort"))
	}
	out := &Merged{
		Commit: res.Commit, FastForward: res.FastForward, Conflicts: res.Conflicts,
		VectorsDropped: res.VectorsDropped, Branch: res.Branch, Parents: res.Parents, Graph: res.Graph,
		Nodes: res.Nodes, Edges: res.Edges, NoChange: res.NoChange, DryRun: s.DryRun,
		Warnings: editing.WarningsOf(res.Secrets),
	}
	if s.DryRun && !res.FastForward && !res.NoChange && !s.Human {
		out.Commit = ipld.CID{} // its time would be another
	}
	return out, err
}

// Rule says what is done if both sides changed one thing.
type Rule = string

// The rules.
const (
	Stop   Rule = "stop" // leave the merge in progress
	Newest Rule = "newest"
	Ours   Rule = "ours"
	Theirs Rule = "theirs"
)

// Rules returns the rules in the order in which they are listed.
func Rules() []Rule { return []Rule{Stop, Newest, Ours, Theirs} }

// CheckRule refuses what is no rule.
func CheckRule(rule string) error {
	if !slices.Contains(Rules(), rule) {
		return fmt.Errorf("%w: %q is not one of %s", state.ErrInvalid, rule, strings.Join(Rules(), ", "))
	}
	return nil
}

// Asker runs verbs on a repository, which may be open in another process.
type Asker struct {
	Run  verb.Runner
	Time string // of changes, "" for when they are made
}

// Answer runs a verb and returns its answer, the last of several.
func (a Asker) Answer(ctx context.Context, v *verb.Spec, req any) (answer any, err error) {
	err = a.Run(ctx, v, req, func(got any) error { answer = got; return nil })
	return answer, err
}

// Merge merges as a request says, with a rule about conflicts. Its answer, nil for none, may come with an error, as
// that of a merge with conflicts.
func (a Asker) Merge(ctx context.Context, req *MergeRequest, rule Rule) (*Merged, error) {
	req.Conflicts, req.Time = rule, a.Time
	answer, err := a.Answer(ctx, &Merge.Spec, req)
	if err != nil && verb.OutcomeOf(ctx, err) == operation.Conflict {
		err = verb.Hintf(err, "see 'mnem merge --list', decide with 'mnem merge --resolve ITEM --take ours|theirs|base', "+
			"then 'mnem merge --continue' and sync again; or let --conflicts decide")
	}
	res, _ := answer.(*Merged)
	return res, err
}
