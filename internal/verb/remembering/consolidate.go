package remembering

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/graph"
	reviewpkg "github.com/mnem-project/mnem/internal/memory/review"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/editing"
	"github.com/mnem-project/mnem/ipld"
)

// ConsolidateRequest asks what could be tidied up, or for it to be done or declined.
type ConsolidateRequest struct {
	Picks  []string `op:",arg,remote" doc:"ids of proposals"`
	Accept bool     `op:",remote,writes" doc:"do what is proposed, all or these ids"`
	Reject bool     `op:",remote,writes" doc:"do not propose these ids again"`
	Now    string   `op:",remote" doc:"{TIME} that counts as now, RFC 3339 or YYYY-MM-DD (default: the time of the change)"`
	Kind   []string `op:",remote,comma" doc:"only these {KINDS}"`
	Cap    int      `op:"keep,remote" doc:"from more than {N} memories, retire the least important; 0 for no limit"`
	Limit  int      `op:",remote" default:"100" doc:"print at most {N} proposals; 0 for all"`
	verb.AtRevision
	editing.Marking
	verb.Params
}

// Proposals lists possible improvements.
type Proposals struct {
	Commit    ipld.CID             `json:"commit" shape:"null"`
	Now       graph.Time           `json:"now"`
	Proposals []reviewpkg.Proposal `json:"proposals"`
	Memories  int                  `json:"memories"`
	Declined  int                  `json:"declined"`
	More      int                  `json:"more"` // proposals that are not listed
}

// Consolidated describes the applied proposals.
type Consolidated struct {
	Picked []reviewpkg.Proposal `json:"picked"`
	reviewpkg.Tidied
	Commit   ipld.CID `json:"commit" shape:"null"`
	Branch   string   `json:"branch"`
	Graph    ipld.CID `json:"graph" shape:"null"`
	NoChange bool     `json:"no_change"`
	DryRun   bool     `json:"dry_run"`
}

// Consolidate proposes what could be tidied up, and does it.
var Consolidate = verb.Define(verb.Spec{
	Command: "consolidate", Right: verb.OwnRight, Confined: true, Usage: "[--accept [ID…] | --reject ID…]", Args: "[ID…]", Group: "change",
	Effect: verb.Reads,
	Title:  "Propose clean-ups of the memory and apply them",
	Doc: "Look for possible clean-ups and list each with its evidence. Nothing is written without --accept,\n" +
		"which applies all except updates, or those with the given ids, in one commit that 'mnem undo' takes back.\n\n" +
		"  expired         its time has passed: mark it expired\n" +
		"  duplicate       they say the same: keep the most important, then oldest, and supersede the others\n" +
		"  contradiction   a negation or a number differs: mark both as contradicted by each other\n" +
		"  update          a later memory may replace an earlier one: supersede the earlier one; only by id\n" +
		"  tag             one tag in several spellings: replace them by the most frequent one\n" +
		"  low             the least important beyond --keep: retire; never from importance 4 on\n" +
		"  isolated        older than two half-lives, stated once, linked to nothing: mark it stale\n\n" +
		"Nothing is removed: marks hide or annotate, and 'mnem restore' removes them. --reject records that\n" +
		"a proposal is unwanted: it does not return until its evidence changes. A proposal's id (4 digits or\n" +
		"more suffice) depends on what it is about, so whatever was written since, only the listed\n" +
		"proposal is applied. When applying all, --expect makes sure that the branch is still at the commit\n" +
		"that was listed.",
	Example: "  mnem consolidate\n  mnem consolidate --kind duplicate,contradiction --json\n" +
		"  mnem consolidate --keep 1000 --kind low\n  mnem consolidate --accept --dry-run",
	Answers: []any{Proposals{}, Consolidated{}},
}, consolidate)

func (q *ConsolidateRequest) Check() error {
	writes := q.Accept || q.Reject
	switch {
	case q.Accept && q.Reject:
		return verb.Exclude("accept", "reject")
	case q.Reject && len(q.Picks) == 0:
		return verb.Bad("reject", "name proposals by their ids")
	case !writes && len(q.Picks) > 0:
		first := strings.ReplaceAll(fmt.Sprintf("%q", q.Picks[0]), "%", "%%") // no verb of a format
		return verb.Between(first+": give %s or %s with it", "accept", "reject")
	case writes && q.Given("at"):
		return verb.Between("%s is for looking: what is written goes onto the branch", "at")
	case !writes && (q.Given("branch") || q.Given("expect") || q.Given("message")):
		return verb.Between("%s, %s and %s go with %s or %s", "branch", "expect", "message", "accept", "reject")
	case q.Reason != "":
		return verb.Bad("reason", "what speaks for a proposal is the reason")
	case q.Cap < 0:
		return verb.Bad("keep", "%d is below 0", q.Cap)
	case q.Limit < 0:
		return verb.Bad("limit", "%d is below 0", q.Limit)
	}
	return nil
}

func consolidate(ctx context.Context, s *verb.Service, q *ConsolidateRequest) (any, error) {
	set, done := s.Host.Progress()
	defer done()
	req := reviewpkg.ConsolidateRequest{Cap: q.Cap, Progress: func(n, total int) {
		set("memories compared:", n, total)
	}}
	for _, kind := range q.Kind {
		req.Kinds = append(req.Kinds, reviewpkg.ProposalKind(kind))
	}
	var err error
	if req.Now, err = q.now(s); err != nil {
		return nil, err
	}
	if !q.Accept && !q.Reject {
		return verb.OneOf(propose(ctx, s, q, req))
	}
	var picks []string
	if len(q.Picks) > 0 {
		picks = q.Picks
	}
	do := reviewpkg.Consolidate
	if q.Reject {
		do = reviewpkg.Decline
	}
	res, err := do(ctx, s.Repo, s.Commit, req, picks)
	if err != nil {
		return nil, proposalHint(err)
	}
	return &Consolidated{
		Picked: res.Picked, Tidied: res.Tidied, Commit: s.MadeBy(res.CommitResult),
		Branch: res.Branch, Graph: res.Graph, NoChange: res.NoChange, DryRun: s.DryRun,
	}, nil
}

// now returns the given time, else the time of the change, else the current time.
func (q *ConsolidateRequest) now(s *verb.Service) (graph.Time, error) {
	t, err := verb.OptTime("now", q.Now)
	if err == nil && !t.Given {
		t, err = verb.OptTime("time", q.Time)
	}
	switch {
	case err != nil || t.Given:
		return t.Time, err
	case q.Accept || q.Reject:
		return s.Commit.Stamp.Time, nil
	}
	return s.Host.Now()
}

func proposalHint(err error) error {
	if missing, ok := errors.AsType[*state.NotFoundError](err); ok && missing.What == "proposal" {
		gone := fmt.Sprintf("it was settled or is about other words now, or an id has fewer than %d digits; ",
			reviewpkg.MinPick)
		return verb.Hint(err, gone+"'mnem consolidate' with the same flags lists what there is",
			gone+"consolidate with the same parameters lists what there is")
	}
	return err
}

func propose(
	ctx context.Context, s *verb.Service, q *ConsolidateRequest, req reviewpkg.ConsolidateRequest,
) (*Proposals, error) {
	snap, err := s.At(ctx, q.At)
	if err != nil {
		return nil, err
	}
	found, err := reviewpkg.Propose(ctx, snap, req)
	if err != nil {
		return nil, err
	}
	list, more := found.List, found.More
	if q.Limit > 0 && len(list) > q.Limit {
		more += len(list) - q.Limit
		list = list[:q.Limit]
	}
	return &Proposals{
		Commit: snap.CID(), Now: req.Now, Proposals: list, Memories: found.Memories,
		Declined: found.Declined, More: more,
	}, nil
}
