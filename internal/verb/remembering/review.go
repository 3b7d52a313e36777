package remembering

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/ingest"
	"github.com/mnem-project/mnem/internal/memory"
	reviewpkg "github.com/mnem-project/mnem/internal/memory/review"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/editing"
	"github.com/mnem-project/mnem/internal/verb/reading"
	"github.com/mnem-project/mnem/ipld"
)

// maxReviewed is how many memories one listing has at most.
const maxReviewed = 10_000

// maxUndecided is the number of newest memories for which a listing looks for earlier ones that they may replace.
const maxUndecided = 200

// ReviewRequest asks for the memories to review, or decides about them.
type ReviewRequest struct {
	Keep    []string `op:",comma,remote,writes" doc:"keep these {NODES}: they were reviewed" note:" (repeatable)"`
	Drop    []string `op:",comma,remote,writes" doc:"forget these {NODES}" note:" (repeatable)"`
	Pin     []string `op:",comma,remote,writes" doc:"keep and pin these {NODES}" note:" (repeatable)"`
	Edit    []string `op:"set,remote,writes" doc:"give a node another text: {NODE=TEXT}" note:" (repeatable)"`
	Rest    bool     `op:"all" doc:"keep all else that was there when it was listed last"`
	RestOf  string   `op:"rest-of,remoteonly,writes" doc:"keep all else that was there at {CID}, the head of a listing"`
	Limit   int      `op:",short=n,remote" default:"50" doc:"list at most {N} memories"`
	unnoted `flags:""`
	verb.Actor
	verb.OnBranch
	verb.Signing
	verb.Secrets
	verb.Trial
	verb.Params
}

// unnoted is set for callers elsewhere: 'review --all' of a person would else keep what that person never saw.
type unnoted struct {
	NoNote bool `op:"" doc:"do not note for --all that it was listed"`
}

func (q *ReviewRequest) Check() error {
	if err := verb.CheckRange("limit", q.Limit, 1, maxReviewed); err != nil {
		return err
	}
	if len(q.Keep) > memory.MaxMarked {
		return verb.Bad("keep", "%d nodes, limit %d", len(q.Keep), memory.MaxMarked)
	}
	_, err := q.edits()
	return err
}

func (q *ReviewRequest) edits() (list []reviewpkg.TextEdit, err error) {
	for _, text := range q.Edit {
		node, text, ok := strings.Cut(text, "=")
		if !ok || node == "" {
			return nil, verb.Bad("set", "want NODE=TEXT")
		}
		list = append(list, reviewpkg.TextEdit{Node: node, Text: text})
	}
	return list, nil
}

// NeedsRight reports whether the request decides something: decisions are recorded outside the repository's history.
func (q *ReviewRequest) NeedsRight() bool { return q.decides() }

func (q *ReviewRequest) decides() bool {
	return q.Rest || q.RestOf != "" || len(q.Keep) > 0 || !q.ReadsOnly()
}

// ReadsOnly reports whether the memory stays unchanged.
func (q *ReviewRequest) ReadsOnly() bool { return len(q.Drop)+len(q.Pin)+len(q.Edit) == 0 }

// Reviewed lists the memories to review, or the decisions about them.
type Reviewed struct {
	Since ipld.CID     `json:"since" shape:"null"` // memories after that commit are listed; null for all
	Head  ipld.CID     `json:"head" shape:"null"`
	Items []ReviewItem `json:"items"` // of a listing
	Left  int          `json:"left"`  // to review, those listed too
	// Undecided are pairs of a memory that came in and an earlier one that it may replace, of a listing.
	Undecided []UndecidedPair `json:"undecided"`
	Kept      []graph.ID      `json:"kept"`
	reviewpkg.Decided
	Commit   ipld.CID         `json:"commit" shape:"null"` // null if nothing changed
	Branch   string           `json:"branch"`
	DryRun   bool             `json:"dry_run"`
	Warnings editing.Warnings `json:"warnings,omitempty"`

	// Labels name the nodes.
	Labels map[string]reading.NodeName `json:"_labels,omitempty"`
}

// ReviewItem is a memory to review.
type ReviewItem struct {
	ID      graph.ID   `json:"id"`
	Key     verb.Text  `json:"key"`
	Type    string     `json:"type"`
	Created graph.Time `json:"created"`
	Text    string     `json:"text"` // the summary
	Pinned  bool       `json:"pinned"`
	State   verb.Text  `json:"state"` // stale or contradicted
	Sources []string   `json:"sources"`
}

// UndecidedPair is a pair of memories whose later one may replace the earlier one, with the commands that decide it.
type UndecidedPair struct {
	Later   ReviewItem `json:"later"`
	Earlier ReviewItem `json:"earlier"`
	Settle  string     `json:"settle"` // it does
	Differ  string     `json:"differ"` // it does not
}

// Review lists the memories added since the last review, and decides about them.
var Review = verb.Define(verb.Spec{
	Command: "review", Right: verb.OwnRight, Confined: true,
	Usage: "[flags]", Group: "change", Effect: verb.Reads, Fixed: []string{"--no-note=true"},
	Title: "Review what was remembered and captured since the last review",
	Doc: "Go through what came into the memory since the last review, what was remembered first, then what was\n" +
		"said, each in the order of time. On a terminal one memory is shown at a time, and one key decides:\n" +
		"k keeps it, d forgets it, p pins it, e asks for another text, s skips it, u goes back by one, and q\n" +
		"ends. What was decided is done at the end in one commit, which 'mnem undo' takes back; Ctrl-C ends\n" +
		"without any of it. What was skipped, and what comes after q, is shown the next time.\n\n" +
		"A listing ends with pairs to decide: a new memory and an earlier one that it may replace, with one\n" +
		"command for yes and one for no. 'mnem consolidate --kind update' lists the pairs of the whole memory.\n" +
		"A memory that both sides of a merge changed is such a pair too, until it is resolved.\n\n" +
		"Elsewhere it is listed, and --keep, --drop, --pin and --set decide; --all keeps all else that was\n" +
		"there when it was listed last. How far reviews came\n" +
		"is noted on this machine, in .mnem/review.json, for each branch: 'mnem undo' does not take that back.",
	Example: "  mnem review --json\n  mnem review --drop alice --keep bruno,svc/billing\n  mnem review --all",
}, review)

func review(ctx context.Context, s *verb.Service, q *ReviewRequest) (*Reviewed, error) {
	dir, err := s.OwnDir()
	if err != nil {
		return nil, err
	}
	branch := q.Branch
	if branch == "" {
		if branch, _, err = s.Repo.Branch(ctx); err != nil {
			return nil, err
		}
	}
	r := &reviewing{
		Service: s, dir: dir, branch: branch, trial: q.DryRun, out: &Reviewed{Branch: branch, DryRun: q.DryRun},
	}
	if r.state, err = readReview(dir, branch); err != nil {
		return nil, err
	}
	r.trial = r.trial || !q.decides() && (q.NoNote || !s.MayNote())
	r.out.Items, r.out.Undecided, r.out.Since = []ReviewItem{}, []UndecidedPair{}, r.state.Commit
	var noted error // decisions are reported even if recording them fails
	if q.decides() {
		kept, rest, err := r.decide(ctx, q)
		if err != nil {
			return nil, err
		}
		noted = r.note(ctx, func(s *reviewState) error {
			if rest != nil {
				if err := s.rest(ctx, rest); err != nil {
					return err
				}
			}
			return s.keep(kept)
		})
	}
	if err := r.list(ctx, q); err != nil {
		return nil, errors.Join(noted, err)
	}
	return r.out, noted
}

type reviewing struct {
	*verb.Service
	dir, branch string
	trial       bool
	state       *reviewState
	out         *Reviewed
}

// note changes the record of reviewed memories, starting from its current version: other processes may change it at the
// same time. A trial writes nothing.
func (r *reviewing) note(ctx context.Context, change func(*reviewState) error) error {
	if r.trial {
		return change(r.state)
	}
	state, err := editReview(ctx, r.dir, r.branch, change)
	if err == nil {
		r.state = state
	}
	return err
}

func (r *reviewing) head(ctx context.Context) (*core.Snapshot, error) {
	s, err := r.Repo.Snapshot(ctx, string(graph.BranchRef(r.branch)))
	if errors.Is(err, store.ErrNotFound) {
		if name, at, headErr := r.Repo.Branch(ctx); headErr == nil && name == r.branch {
			return r.Repo.At(ctx, at) // before the first commit
		}
	}
	return s, err
}

// decide applies the decisions, and returns the nodes that are kept, and the state whose memories are all kept, nil for
// none.
func (r *reviewing) decide(ctx context.Context, q *ReviewRequest) (kept []graph.ID, rest *core.Snapshot, err error) {
	edits, err := q.edits()
	if err != nil {
		return nil, nil, err
	}
	at, err := r.head(ctx)
	if err != nil {
		return nil, nil, err
	}
	if rest, err = r.listed(ctx, q); err != nil {
		return nil, nil, err
	}
	for _, name := range q.Keep {
		id, err := at.Name(ctx, name)
		if err != nil {
			return nil, nil, verb.NodeHint(err)
		}
		kept = append(kept, id)
	}
	r.out.Kept = kept
	if !q.ReadsOnly() {
		res, err := reviewpkg.Review(ctx, r.Repo, r.Commit, reviewpkg.ReviewRequest{Drop: q.Drop, Pin: q.Pin, Edit: edits})
		if err != nil {
			return nil, nil, editing.MarkHint(err)
		}
		r.out.Decided = res.Decided
		r.out.Warnings = editing.WarningsOf(res.Secrets)
		if r.Human {
			r.out.Labels, err = editing.LabelsOf(ctx, r.Repo, res.Commit, res.Dropped, res.Pinned, res.Edited, res.Already)
		}
		if !res.NoChange && !r.trial {
			r.out.Commit = res.Commit
		}
		if err != nil {
			return nil, nil, err
		}
		kept = slices.Concat(kept, res.Pinned, res.Edited, res.Already)
	}
	return kept, rest, nil
}

// listed returns the state whose memories are all kept, nil if the request does not decide about the rest.
func (r *reviewing) listed(ctx context.Context, q *ReviewRequest) (*core.Snapshot, error) {
	switch {
	case q.Rest && !r.state.Listed.Defined():
		return nil, verb.Usagef("--all: nothing was listed yet on branch %s: see 'mnem review' first", r.branch)
	case q.Rest:
		return r.Repo.At(ctx, r.state.Listed)
	case q.RestOf == "":
		return nil, nil
	}
	if _, err := ipld.ParseCID(q.RestOf); err != nil {
		return nil, verb.BadValue("rest-of", q.RestOf, "%w", err)
	}
	return r.Repo.Snapshot(ctx, q.RestOf)
}

// list lists the memories left to review, and records if there are none.
func (r *reviewing) list(ctx context.Context, q *ReviewRequest) error {
	to, err := r.head(ctx)
	if err != nil {
		return err
	}
	r.out.Head = to.CID()
	from, err := r.Repo.At(ctx, r.state.Commit)
	if errors.Is(err, store.ErrNotFound) { // its commit was collected
		from, err = r.Repo.At(ctx, ipld.CID{})
	}
	if err != nil {
		return err
	}
	type entry struct {
		id      graph.ID
		said    bool
		created graph.Time
	}
	var all []entry
	kept := setOf(r.state.Kept)
	for n, err := range reviewpkg.Unreviewed(ctx, from, to) {
		if err != nil {
			return err
		}
		if !kept[n.ID] {
			all = append(all, entry{n.ID, n.Type == ingest.TypeTurn, n.Created})
		}
	}
	r.out.Left = len(all)
	before := r.state.Commit
	err = r.note(ctx, func(s *reviewState) error {
		if !q.NoNote {
			s.Listed = to.CID()
		}
		if len(all) == 0 && s.Commit == before { // another review may have come further
			return s.rest(ctx, to)
		}
		return nil
	})
	if q.decides() {
		return err
	}
	// A listing works on a read-only disk, too.
	slices.SortFunc(all, func(a, b entry) int {
		if a.said != b.said {
			if a.said {
				return 1
			}
			return -1
		}
		return cmp.Or(cmp.Compare(a.created, b.created), a.id.Compare(b.id))
	})
	for _, e := range all[:min(len(all), q.Limit)] {
		item, err := reviewItem(ctx, to, e.id)
		if err != nil {
			return err
		}
		r.out.Items = append(r.out.Items, *item)
	}
	if err := r.undecided(ctx, from, to, q.Limit); err != nil {
		return err
	}
	return r.conflicts(ctx, q.Limit)
}

// conflicts lists the nodes that both sides of the merge in progress changed differently, as pairs to decide. Once all
// are resolved, an automatic sync continues the merge.
func (r *reviewing) conflicts(ctx context.Context, most int) error {
	p, err := r.Repo.PendingMerge(ctx, r.branch)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	ours, err := r.Repo.At(ctx, p.Ours)
	if err != nil {
		return err
	}
	theirs, err := r.Repo.At(ctx, p.Theirs)
	if err != nil {
		return err
	}
	for _, c := range p.Conflicts {
		whole := c.Ours.Defined() && c.Theirs.Defined()
		if c.Item.Kind != graph.NodeItem || c.Resolution != "" || !whole || len(r.out.Undecided) >= most {
			continue
		}
		here, err := reviewItem(ctx, ours, c.Item.ID)
		if err != nil {
			return err
		}
		there, err := reviewItem(ctx, theirs, c.Item.ID)
		if err != nil {
			return err
		}
		resolve := "mnem merge --resolve " + c.Item.ID.String() + " --branch " + plain.Shell(r.branch) + " --take "
		r.out.Undecided = append(r.out.Undecided, UndecidedPair{*there, *here, resolve + "theirs", resolve + "ours"})
	}
	return nil
}

// undecided lists the pairs to decide among what came in.
func (r *reviewing) undecided(ctx context.Context, from, to *core.Snapshot, most int) error {
	pairs, err := reviewpkg.UndecidedSince(ctx, from, to, maxUndecided, most)
	if err != nil {
		return err
	}
	for _, p := range pairs {
		later, err := reviewItem(ctx, to, p.Later.ID)
		if err != nil {
			return err
		}
		earlier, err := reviewItem(ctx, to, p.Earlier.ID)
		if err != nil {
			return err
		}
		r.out.Undecided = append(r.out.Undecided, UndecidedPair{*later, *earlier,
			reviewpkg.SettleCommand(p.Earlier.ID, p.Later.ID), reviewpkg.DifferCommand(p.Earlier.ID, p.Later.ID)})
	}
	return nil
}

func reviewItem(ctx context.Context, at *core.Snapshot, id graph.ID) (*ReviewItem, error) {
	n, _, err := at.Node(ctx, id)
	if err != nil {
		return nil, err
	}
	item := &ReviewItem{
		ID: id, Key: verb.Text(n.Key), Type: n.Type, Created: n.Created, Text: n.Summary, Pinned: memory.Pinned(n),
		Sources: n.Sources,
	}
	m, err := at.Mark(ctx, graph.OnNode, id)
	if m != nil && !m.State.Hides() {
		item.State = verb.Text(m.State)
	}
	return item, err
}

// errReview is returned for what says how far reviews came and cannot be read.
var errReview = fmt.Errorf("%w: how far reviews came", state.ErrInvalid)

const (
	reviewFile = "review.json"
	// maxReviewFile bounds the file in bytes, maxKept how many memories are noted one by one.
	maxReviewFile = 4 << 20
	maxKept       = 20_000
)

type reviewState struct {
	Commit ipld.CID   `json:"commit"` // memories there are reviewed
	Kept   []graph.ID `json:"kept"`   // of what came later: these are reviewed, too
	Listed ipld.CID   `json:"listed"` // the state at the last listing
}

func (s *reviewState) keep(ids []graph.ID) error {
	has := setOf(s.Kept)
	for _, id := range ids {
		if !has[id] {
			has[id], s.Kept = true, append(s.Kept, id)
		}
	}
	if len(s.Kept) > maxKept {
		return verb.Hint(fmt.Errorf("%w: more than %d memories one by one", errReview, maxKept),
			"'mnem review --all' keeps all that was listed", "")
	}
	return nil
}

// rest notes that all was reviewed that was there at a commit.
func (s *reviewState) rest(ctx context.Context, at *core.Snapshot) error {
	var later []graph.ID
	for _, id := range s.Kept {
		if _, _, err := at.Node(ctx, id); errors.Is(err, store.ErrNotFound) {
			later = append(later, id)
		} else if err != nil {
			return err
		}
	}
	s.Commit, s.Kept = at.CID(), later
	return nil
}

func setOf(ids []graph.ID) map[graph.ID]bool {
	set := make(map[graph.ID]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// reviewStates holds the states of all branches, as stored.
type reviewStates struct {
	V        int                     `json:"v"`
	Branches map[string]*reviewState `json:"branches"`
}

func parseReview(path string, data []byte) (*reviewStates, error) {
	all := &reviewStates{V: 1, Branches: map[string]*reviewState{}}
	if data == nil {
		return all, nil
	}
	if err := json.Unmarshal(data, all); err != nil || all.V != 1 {
		return nil, verb.Hint(fmt.Errorf("%w: %s is damaged", errReview, path),
			"remove the file: then all is to be reviewed", "")
	}
	if all.Branches == nil {
		all.Branches = map[string]*reviewState{}
	}
	return all, nil
}

// readReview returns how far the reviews of a branch came: nowhere if nothing says so.
func readReview(dir, branch string) (*reviewState, error) {
	path := filepath.Join(dir, reviewFile)
	data, err := filestate.Read(path, maxReviewFile)
	if err != nil {
		return nil, err
	}
	all, err := parseReview(path, data)
	if err != nil {
		return nil, err
	}
	if s := all.Branches[branch]; s != nil {
		return s, nil
	}
	return new(reviewState), nil
}

// editReview changes how far the reviews of a branch came, and returns how far that is then.
func editReview(
	ctx context.Context, dir, branch string, change func(*reviewState) error,
) (state *reviewState, err error) {
	path := filepath.Join(dir, reviewFile)
	err = filestate.Edit(ctx, path, filestate.EditOptions{Limit: maxReviewFile}, func(old []byte) ([]byte, error) {
		all, err := parseReview(path, old)
		if err != nil {
			return nil, err
		}
		if state = all.Branches[branch]; state == nil {
			state = new(reviewState)
			all.Branches[branch] = state
		}
		if err := change(state); err != nil {
			return nil, err
		}
		data, err := json.Marshal(all)
		if err == nil && len(data) > maxReviewFile {
			err = fmt.Errorf("%w: more than %d bytes", errReview, maxReviewFile)
		}
		return data, err
	})
	return state, err
}

type consolidateRequest struct {
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

func (q *consolidateRequest) Check() error {
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

func consolidate(ctx context.Context, s *verb.Service, q *consolidateRequest) (any, error) {
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
func (q *consolidateRequest) now(s *verb.Service) (graph.Time, error) {
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
	ctx context.Context, s *verb.Service, q *consolidateRequest, req reviewpkg.ConsolidateRequest,
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

type halfLifeRequest struct {
	HalfLives []string `op:",arg,remote,writes" doc:"TYPE=DAYS or TYPE=default, to change those of these types"`
	Remove    bool     `op:",remote,writes" doc:"go back to the built-in half-lives of all types"`
	Message   string   `op:",short=m,remote" doc:"what the commit is about; default: what was done"`
	Expect    string   `op:",remote" doc:"the {CID} of the commit that the branch must be at, or \"none\" for a branch without one; else exit code 5"`
	DryRun    bool     `op:",remote" doc:"print what would be and write nothing"`
	verb.AtRevision
	verb.Actor
	verb.OnBranch
	verb.Signing
	verb.Params
}

func (q *halfLifeRequest) Into(w *verb.Writing) {
	w.Message, w.Expect, w.DryRun = cmp.Or(q.Message, "change half-lives"), q.Expect, q.DryRun
}

// HalfLives are after how many days memories count half.
type HalfLives struct {
	HalfLives memory.HalfLives `json:"half_lives"` // days by type
	Other     int              `json:"other"`      // of any other type
	Own       []string         `json:"own"`        // types that the memory gives one itself
	Commit    ipld.CID         `json:"commit" shape:"null"`
	NoChange  bool             `json:"no_change"`
	DryRun    bool             `json:"dry_run"`

	Branch string `json:"_branch,omitempty"` // that was written to, "" for none; for people
}

// HalfLife lists or changes half-lives.
var HalfLife = verb.Define(verb.Spec{
	Command: "config half-life", Right: verb.OwnRight, Confined: true, Usage: "[TYPE=DAYS…]", Effect: verb.Reads, Idempotent: true,
	Title: "Show or change the half-lives of memories by type",
	Doc: "List after how many days a memory of each type counts half in its effective importance, which\n" +
		"'mnem show NODE --importance' shows, and which decides what 'mnem consolidate' proposes. A type\n" +
		"that is not listed has what * has, which cannot be changed: give it one of its own.\n\n" +
		"With TYPE=DAYS, 1 to 36500, change those of these types in one commit; TYPE=default goes back to\n" +
		"the built-in one. They are part of the memory: they merge, revert and branch as it does.",
	Example: "  mnem config half-life\n  mnem config half-life task=7 note=90\n  mnem config half-life task=default\n" +
		"  mnem config half-life --remove --dry-run",
}, halfLife)

func (q *halfLifeRequest) Check() error {
	if _, err := parseHalfLives(q.HalfLives); err != nil {
		return err
	}
	switch {
	case q.Remove && len(q.HalfLives) > 0:
		return verb.Between("%s takes all half-lives back: give TYPE=DAYS in a command of its own", "remove")
	case q.Remove || len(q.HalfLives) > 0:
		if q.Given("at") {
			return verb.Between("%s is for looking: what is written goes onto the branch", "at")
		}
		return nil
	}
	return verb.RefuseWriting(q, "%s needs TYPE=DAYS or remove: without them half-lives are listed")
}

func halfLife(ctx context.Context, s *verb.Service, q *halfLifeRequest) (*HalfLives, error) {
	if !q.Remove && len(q.HalfLives) == 0 {
		snap, err := s.At(ctx, q.At)
		if err != nil {
			return nil, err
		}
		own, err := memory.OwnHalfLivesAt(ctx, snap)
		if err != nil {
			return nil, err
		}
		return halfLives(s, own, &core.CommitResult{Commit: snap.CID(), NoChange: true}), nil
	}
	if q.Remove {
		res, err := memory.SetHalfLives(ctx, s.Repo, s.Commit, nil)
		if err != nil {
			return nil, err
		}
		return halfLives(s, nil, res), nil
	}
	change, err := parseHalfLives(q.HalfLives)
	if err != nil {
		return nil, err
	}
	own, res, err := memory.ChangeHalfLives(ctx, s.Repo, s.Commit, func(own memory.HalfLives) error {
		for typ, days := range change {
			if own[typ] = days; days == 0 {
				delete(own, typ)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return halfLives(s, own, res), nil
}

func halfLives(s *verb.Service, own memory.HalfLives, res *core.CommitResult) *HalfLives {
	out := &HalfLives{
		HalfLives: own.All(), Other: memory.DefaultHalfLife, Own: slices.Sorted(maps.Keys(own)),
		Commit: s.MadeBy(res), NoChange: res.NoChange, DryRun: s.DryRun,
	}
	if s.Human {
		out.Branch = res.Branch
	}
	return out
}

// parseHalfLives reads TYPE=DAYS and TYPE=default, which is 0.
func parseHalfLives(args []string) (map[string]int, error) {
	out := make(map[string]int)
	for _, arg := range args {
		cut := strings.LastIndexByte(arg, '=')
		if cut < 1 {
			return nil, verb.Usagef("%q is not of the form TYPE=DAYS", arg)
		}
		typ, value := arg[:cut], arg[cut+1:]
		if typ == "*" && value != "default" { // as the list calls all others: it would be a type of its own
			return nil, verb.Usagef("* stands for all other types, which have %d days: name the type",
				memory.DefaultHalfLife)
		}
		if _, again := out[typ]; again {
			return nil, verb.Usagef("the half-life of %q is given twice", typ)
		}
		if out[typ] = 0; value == "default" {
			continue
		}
		days, err := strconv.Atoi(value)
		if err != nil || days < 1 || days > memory.MaxHalfLife {
			return nil, verb.Usagef("%q: want 1 to %d days, or default", arg, memory.MaxHalfLife)
		}
		out[typ] = days
	}
	return out, nil
}
