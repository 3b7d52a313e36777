package branching

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/internal/verb/reading"
	"github.com/mnem-project/mnem/ipld"
)

// StatusRequest asks for the branch and what is staged.
type StatusRequest struct{ verb.OnStage }

// Status is the branch and what is staged for it.
type Status struct {
	Branch  verb.Text             `json:"branch"` // null where HEAD is on none
	Head    ipld.CID              `json:"head" shape:"null"`
	Stage   string                `json:"stage"`
	Base    ipld.CID              `json:"base" shape:"null"`
	Staged  bool                  `json:"staged"`
	Nodes   state.Counts          `json:"nodes"`
	Edges   state.Counts          `json:"edges"`
	Changes []reading.ChangedItem `json:"changes"`
	Merge   *Merging              `json:"merge,omitempty"` // in progress on the branch
	Kept    []core.KeptCommit     `json:"kept"`            // for the branch
	// Client is the name of the process in a database. There, HEAD, the stage and merges are each client's own.
	Client string `json:"client,omitempty"`
	// Following is the git branch that HEAD follows.
	Following *Followed `json:"following,omitempty"`
	// Synced are the remotes that are synced automatically.
	Synced []AutoSynced `json:"synced,omitempty"`

	Short []reading.ShortChange `json:"_short,omitempty"` // the first of what is staged
}

// AutoSynced is when a remote was last synced automatically.
type AutoSynced struct {
	Remote string        `json:"remote"`
	Worked graph.OptTime `json:"worked"` // null for never
	Tried  graph.OptTime `json:"tried"`  // likewise
	Failed verb.Text     `json:"failed"` // the error code of the newest attempt, null if it worked
}

// Merging is a merge in progress in brief.
type Merging struct {
	Verb      string   `json:"verb"`
	Theirs    ipld.CID `json:"theirs" shape:"null"`
	Conflicts int      `json:"conflicts"`
	Open      int      `json:"open"`
}

// StatusVerb shows the branch and what is staged.
var StatusVerb = verb.Define(verb.Spec{
	Command: "status", Right: verb.NoRight, Confined: true, Group: "change", Effect: verb.Reads,
	Title: "Show the branch and what is staged",
	Doc: "Show the branch, its newest commit and what a stage changes: A added, M changed, D\n" +
		"removed. It says when the branch has moved since the stage began; committing merges\n" +
		"then. A merge that waits for conflicts to be resolved, and commits kept because they\n" +
		"did not merge, are shown with what to do about them; and of remotes that are synced\n" +
		"automatically, when that last worked.",
	Example: "  mnem status\n  mnem status --json --stage draft",
}, func(ctx context.Context, s *verb.Service, _ *StatusRequest) (*Status, error) {
	st, err := s.Repo.Stages().Status(ctx, s.Stage)
	if err != nil {
		return nil, err
	}
	out := &Status{
		Branch: verb.Text(st.Branch), Head: st.Head, Stage: s.Repo.Stages().Name(s.Stage), Base: st.Base,
		Staged: st.Staged, Client: s.Repo.Client(),
	}
	if out.Following, err = followedOf(ctx, s.Repo); err != nil {
		return nil, err
	}
	if err := errors.Join(out.unmerged(ctx, s.Repo), out.synced(s)); err != nil {
		return nil, err
	}
	if !s.Human {
		out.Changes, out.Nodes, out.Edges, err = reading.ChangesOf(ctx, st.Diff)
		return out, err
	}
	if !st.Staged {
		return out, nil
	}
	if out.Nodes, out.Edges, err = st.Diff.Count(ctx); err != nil {
		return nil, err
	}
	before, err := s.Repo.At(ctx, st.Base)
	if err != nil {
		return nil, err
	}
	out.Short, err = reading.ShortOf(ctx, st.Diff, before)
	return out, err
})

// synced adds when remotes were last synced automatically.
func (out *Status) synced(s *verb.Service) error {
	if s.Repo.Confined() {
		return nil // remotes belong to the whole repository
	}
	dir, err := s.OwnDir()
	if err != nil {
		return err
	}
	list, err := AutoSyncs(dir)
	for _, a := range list {
		out.Synced = append(out.Synced, AutoSynced{a.Remote, a.Worked, a.Tried, a.Failed})
	}
	return err
}

// unmerged adds the merge in progress on the branch, and what was kept for it.
func (out *Status) unmerged(ctx context.Context, r *core.Repo) error {
	if out.Branch == "" {
		return nil
	}
	switch p, err := r.PendingMerge(ctx, string(out.Branch)); {
	case err == nil:
		out.Merge = &Merging{p.Verb, p.Theirs, len(p.Conflicts), p.Open()}
	case !errors.Is(err, store.ErrNotFound):
		return err
	}
	list, err := r.KeptCommits().List(ctx)
	for _, k := range list {
		if k.Branch == string(out.Branch) {
			out.Kept = append(out.Kept, k)
		}
	}
	return err
}

// VerifyRequest asks what the signatures of commits are worth.
type VerifyRequest struct {
	Rev    string `op:",arg,remote" doc:"a branch, tag, CID or any other revision, or a range A..B"`
	All    bool   `op:",remote" doc:"every branch and tag"`
	Strict bool   `op:",remote" doc:"exit code 4 unless every commit is signed"`
	Limit  int    `op:",short=n,remote" doc:"at most {N} commits; 0 for all"`
}

// Verified is one commit and its signature.
type Verified struct {
	Commit ipld.CID `json:"commit"`
	Signature

	Time  graph.OptTime `json:"_time,omitzero"`
	Title string        `json:"_title,omitempty"` // of the commit
}

// VerifiedAll counts the commits that were verified by what their signatures are worth. It is given to
// people alone, at the end.
type VerifiedAll map[commit.SignatureState]int

// Verify checks the signatures of commits.
var Verify = verb.Stream(verb.Spec{
	Command: "key verify", Right: verb.NoRight, Confined: true, Usage: "[REV|REV..REV] [--all] [--strict]", Effect: verb.Reads,
	Complete: "rev",
	Title:    "Check the signatures of commits",
	Doc: "Check the signature of every commit that a revision reaches, of those that A..B has\n" +
		"beyond A, or with --all of every branch and tag, newest first. A commit is one of:\n\n" +
		"  signed     the signature holds, by a key that you trust\n" +
		"  untrusted  it holds, by a key that you do not trust; see 'mnem key trust'\n" +
		"  unsigned   there is none\n" +
		"  revoked    it holds, by a key that was revoked, for ever or before the commit's time\n" +
		"  bad        it does not hold, or is not of a known form\n\n" +
		"The exit code is 4 where a commit is bad or revoked, with --strict where one is anything\n" +
		"but signed. A signature says that the key's owner vouches for a commit and for all it\n" +
		"builds on, not that the author it names is that owner. The time of a commit is what its\n" +
		"signer says: against a stolen key, revoke it without --since. With --json, one object a\n" +
		"line.",
	Example: "  mnem key verify\n  mnem key verify HEAD~1..HEAD\n  mnem key verify --all --json",
	Answers: []any{Verified{}}, Told: []any{VerifiedAll{}},
}, verify)

func (q *VerifyRequest) Check() error {
	if q.All && q.Rev != "" {
		return verb.Between("give a revision or %s, not both", "all")
	}
	return verb.CheckLimit(q.Limit)
}

func verify(ctx context.Context, s *verb.Service, q *VerifyRequest, emit func(any) error) error {
	trusted, err := s.Host.Trusted()
	if err != nil {
		return err
	}
	from, until, err := q.commits(ctx, s.Repo)
	if err != nil {
		return verb.CommitHint(err)
	}
	counts, n := VerifiedAll{}, 0
	for v, err := range s.Repo.VerifyHistory(ctx, from, until, trusted) {
		if err != nil {
			return err
		}
		out := &Verified{Commit: v.CID, Signature: SignatureOf(v.Verdict)}
		if s.Human {
			out.Time = graph.At(v.Commit.Time)
			message, err := s.Repo.Message(ctx, v.Commit.Message)
			if err != nil {
				return err
			}
			out.Title, _, _ = strings.Cut(message, "\n")
		}
		if err := emit(out); err != nil {
			return err
		}
		counts[v.State]++
		if n++; n == q.Limit {
			break
		}
	}
	if s.Human {
		if err := emit(&counts); err != nil {
			return err
		}
	}
	if counts[commit.Bad]+counts[commit.Revoked] > 0 || q.Strict && counts[commit.Signed] < n {
		return &verb.News{Outcome: operation.Mismatch}
	}
	return nil
}

// commits returns the commits to verify from, and those to stop at.
func (q *VerifyRequest) commits(ctx context.Context, r *core.Repo) (from, until []ipld.CID, err error) {
	if q.All {
		from, err = tips(ctx, r)
		return from, nil, err
	}
	rev := cmp.Or(q.Rev, string(graph.Head))
	since, tip, isRange := strings.Cut(rev, "..")
	if !isRange {
		since, tip = "", rev
	} else if since == "" && tip == "" {
		return nil, nil, verb.Usagef("%q: want REV..REV", rev)
	}
	c, err := r.Revisions().Resolve(ctx, cmp.Or(tip, string(graph.Head)))
	if err != nil || !isRange {
		return []ipld.CID{c}, nil, err
	}
	stop, err := r.Revisions().Resolve(ctx, cmp.Or(since, string(graph.Head)))
	return []ipld.CID{c}, []ipld.CID{stop}, err
}

func tips(ctx context.Context, r *core.Repo) ([]ipld.CID, error) {
	refs, err := r.Refs(ctx)
	if err != nil {
		return nil, err
	}
	var found []ipld.CID
	for _, ref := range refs {
		if ref.Symbolic != "" {
			continue
		}
		c, err := r.Revisions().Resolve(ctx, string(ref.Name))
		if errors.Is(err, state.ErrInvalid) {
			continue // a session, stage or conflict
		}
		if err != nil {
			return nil, fmt.Errorf("ref %s: %w", ref.Name, err)
		}
		found = append(found, c)
	}
	return found, nil
}

// Followed names the branch that HEAD follows.
type Followed struct {
	Work   string    `json:"work"`                             // the git work tree
	Git    verb.Text `json:"git"`                              // its branch; null where that is not known
	Doing  verb.Text `json:"doing" shape:"rebase|bisect|null"` // what the work tree is in the middle of
	Branch verb.Text `json:"branch"`                           // of the memory; null where Git is
	Exists bool      `json:"exists"`                           // false before its first write
	From   verb.Text `json:"from"`                             // the branch whose memory it has until then
	Why    verb.Text `json:"read_only"`                        // why nothing is written to it; null where it may be
}

// followedOf returns what HEAD follows, nil for nothing.
func followedOf(ctx context.Context, r *core.Repo) (*Followed, error) {
	f := verb.FollowedBy(ctx)
	if f == nil {
		return nil, nil
	}
	out := &Followed{
		Work: f.Work, Git: verb.Text(f.Git), Doing: verb.Text(f.Doing), Branch: verb.Text(f.Branch), Why: verb.Text(f.ReadOnly),
	}
	exists, from, err := r.Followed(ctx)
	if out.Exists = exists; !exists {
		out.From = verb.Text(from)
	}
	return out, err
}

const (
	// AutoSyncFile, in a repository's directory, lists the remotes that are synced automatically. AutoSyncTouched is
	// empty; its time changes with every write.
	AutoSyncFile    = "autosync.json"
	AutoSyncTouched = "autosync"
	// maxAutoSync bounds the file in bytes.
	maxAutoSync = 64 << 10

	// MinAutoSync and MaxAutoSync bound how often a long-running process syncs a remote without writes here.
	MinAutoSync = time.Second
	MaxAutoSync = 24 * time.Hour
)

// AutoSync is a remote that is synced automatically, and what came of it.
type AutoSync struct {
	Remote    string        `json:"remote"`
	Every     string        `json:"every"`  // a duration
	Worked    graph.OptTime `json:"worked"` // when both sides were last made equal; null for never
	Tried     graph.OptTime `json:"tried"`  // likewise, of the newest attempt
	Failed    verb.Text     `json:"failed"` // the error code of that, null if it worked
	Message   string        `json:"message,omitempty"`
	Conflicts string        `json:"conflicts,omitempty"` // a Rule; "" for the configured one
	All       bool          `json:"all,omitempty"`
	Tags      bool          `json:"tags,omitempty"`
	Sessions  bool          `json:"sessions,omitempty"`
}

// Period returns how often a long-running process syncs the remote.
func (a *AutoSync) Period() (time.Duration, error) {
	d, err := time.ParseDuration(a.Every)
	if err != nil || d < MinAutoSync || d > MaxAutoSync {
		return 0, fmt.Errorf("%w: every %q: want a duration from %s to %s", state.ErrInvalid, a.Every, MinAutoSync,
			MaxAutoSync)
	}
	return d, nil
}

// AutoSyncs returns the remotes that the repository in a directory syncs automatically, by name.
func AutoSyncs(dir string) ([]AutoSync, error) {
	path := filepath.Join(dir, AutoSyncFile)
	data, err := filestate.Read(path, maxAutoSync)
	if err != nil {
		return nil, fmt.Errorf("read which remotes are synced automatically: %w", err)
	}
	return parseAutoSyncs(path, data)
}

func parseAutoSyncs(path string, data []byte) (list []AutoSync, err error) {
	if data == nil {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err = dec.Decode(&list); err == nil && dec.More() {
		err = errors.New("more than one JSON value")
	}
	for i := range list {
		if err == nil {
			err = graph.ValidateImport(list[i].Remote)
		}
		if err == nil {
			_, err = list[i].Period()
		}
		if rule := list[i].Conflicts; err == nil && rule != "" {
			err = CheckRule(rule)
		}
	}
	if err != nil {
		return nil, verb.Hintf(fmt.Errorf("%w: %s: %w", state.ErrInvalid, path, err), "repair or remove the file")
	}
	return list, nil
}

// EditAutoSyncs changes the list atomically.
func EditAutoSyncs(ctx context.Context, dir string, edit func([]AutoSync) ([]AutoSync, error)) error {
	path := filepath.Join(dir, AutoSyncFile)
	err := filestate.Edit(ctx, path, filestate.EditOptions{Limit: maxAutoSync}, func(data []byte) ([]byte, error) {
		list, err := parseAutoSyncs(path, data)
		if err != nil {
			return nil, err
		}
		if list, err = edit(list); err != nil || len(list) == 0 {
			return nil, err
		}
		out, err := json.MarshalIndent(list, "", "  ")
		if len(out) >= maxAutoSync {
			return nil, fmt.Errorf("%w: the list would have more than %d bytes", state.ErrInvalid, maxAutoSync)
		}
		return append(out, '\n'), err
	})
	if err != nil {
		return fmt.Errorf("write which remotes are synced automatically: %w", err)
	}
	return nil
}

// StopAutoSync takes a remote off the list, and returns how many are left on it; -1 if it was not there.
func StopAutoSync(ctx context.Context, dir, remote string) (left int, err error) {
	its := func(a AutoSync) bool { return a.Remote == remote }
	if list, err := AutoSyncs(dir); err != nil || !slices.ContainsFunc(list, its) {
		return -1, err
	}
	err = EditAutoSyncs(ctx, dir, func(list []AutoSync) ([]AutoSync, error) {
		list = slices.DeleteFunc(list, its)
		left = len(list)
		return list, nil
	})
	return left, err
}
