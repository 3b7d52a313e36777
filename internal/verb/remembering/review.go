package remembering

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
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
