package trade

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange/remote"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// syncRounds is how often a sync restarts because the other side moved: each time another client's push
	// succeeded. syncIdle is how often it does if nothing new arrived.
	syncRounds = 1000
	syncIdle   = 30
	// syncPause is the initial maximum of the pause before a restart; it doubles up to syncPauseMax.
	syncPause    = 10 * time.Millisecond
	syncPauseMax = 640 * time.Millisecond
)

// Branch is a branch's part of a sync.
type Branch struct {
	Branch    string          `json:"branch"`
	Commit    ipld.CID        `json:"commit" shape:"null"`
	Merged    int             `json:"merged"`  // merge commits that were made
	Forward   bool            `json:"forward"` // whether it fast-forwarded to the remote's branch
	Pushed    bool            `json:"pushed"`
	Conflicts []core.Conflict `json:"conflicts"` // with the versions taken
}

// Did reports whether anything happened to a branch.
func (b *Branch) Did() bool { return b.Forward || b.Pushed || b.Merged > 0 || len(b.Conflicts) > 0 }

// Synced is the result of a sync.
type Synced struct {
	Remote   string           `json:"remote"`
	Rounds   int              `json:"rounds"`
	Branches []*Branch        `json:"branches"`
	Fetched  []core.RefChange `json:"fetched"`
	Clashing []graph.RefName  `json:"clashing"`
	Pushed   []core.RefChange `json:"pushed"` // refs of the remote
	Received int64            `json:"received_bytes"`
	Skewed   []remote.Skew    `json:"clock_ahead"`
	WentBack []graph.RefName  `json:"went_back"` // as for a fetch
	remote.Learned
	Sent   int64 `json:"sent_bytes"`
	Untold bool  `json:"untold"` // as of push
	DryRun bool  `json:"dry_run"`
}

// Did reports whether a sync did anything, perhaps before it failed.
func (s *Synced) Did() bool {
	return len(s.Fetched)+len(s.Pushed)+len(s.Clashing) > 0 || s.Learned != remote.Learned{} ||
		slices.ContainsFunc(s.Branches, (*Branch).Did)
}

// SyncOptions configure a sync.
type SyncOptions struct {
	Branches  []string // to sync
	Conflicts branching.Rule
	Tags      bool // whether tags are pushed that the remote lacks
	Signed    bool // whether merged commits must be signed
	DryRun    bool
}

// BranchesHere returns the branch that HEAD is on, or all.
func (t *Transfer) BranchesHere(ctx context.Context, all bool) ([]string, error) {
	st, err := t.here.Look(ctx, remote.Question{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, ref := range st.Refs {
		if name, branch := ref.Name.Branch(); branch && all {
			names = append(names, name)
		}
	}
	name, on := st.Head.Branch()
	switch {
	case all && (!on || slices.Contains(names, name)):
		return names, nil
	case !on:
		return nil, verb.Hintf(verb.Usagef("HEAD is on no branch"), "name one with --branch")
	}
	return append(names, name), nil // it may have no commit yet
}

// Sync brings local and remote branches to the same state.
func (t *Transfer) Sync(ctx context.Context, f SyncOptions) (*Synced, error) {
	out := &Synced{Remote: t.remote.Name, DryRun: f.DryRun}
	for _, name := range f.Branches {
		out.Branches = append(out.Branches, &Branch{Branch: name})
	}
	idle := 0
	for pause := syncPause; ; pause = min(2*pause, syncPauseMax) {
		out.Rounds++
		had := len(out.Fetched)
		again, err := t.round(ctx, f, out)
		if idle++; len(out.Fetched) > had {
			idle = 0
		}
		if !again || out.Rounds == syncRounds || idle == syncIdle {
			return out, err
		}
		// Clients that collided must not collide again.
		if err := t.host.Pause(ctx, time.Duration(t.host.Spread*7919%97+1)*pause/97); err != nil {
			return out, err
		}
	}
}

// round fetches, merges and pushes once. again asks for another round because refs moved concurrently.
func (t *Transfer) round(ctx context.Context, f SyncOptions, out *Synced) (again bool, err error) {
	got, err := t.Fetch(ctx, false)
	if err != nil {
		return errors.Is(err, state.ErrConflict), err
	}
	out.Fetched, out.Clashing = append(out.Fetched, got.Refs...), got.Clashing
	out.Received += got.Bytes
	out.Skewed = append(out.Skewed, got.Skewed...)
	out.WentBack = append(out.WentBack, got.WentBack...)
	out.Gaps, out.Learned.Learned, out.Erased = out.Gaps+got.Gaps, out.Learned.Learned+got.Learned.Learned, out.Erased+got.Erased
	out.Waiting = got.Waiting
	for _, b := range out.Branches {
		if f.DryRun {
			break
		}
		if err := t.Merge(ctx, b, f); err != nil {
			return false, err
		}
	}
	refs, sessions, err := t.refsToSync(ctx, f, out)
	if err != nil || len(refs) == 0 && !sessions {
		return false, err
	}
	sent, err := t.Push(ctx, remote.PushOptions{Refs: refs, GrownSessions: true})
	if err != nil {
		return errors.Is(err, state.ErrConflict) && !f.DryRun, err
	}
	out.Pushed, out.Sent = append(out.Pushed, sent.Refs...), out.Sent+sent.Bytes
	out.Untold = out.Untold || sent.Untold
	for _, b := range out.Branches {
		for _, ref := range sent.Refs {
			if ref.Ref == graph.BranchRef(b.Branch) {
				b.Pushed, b.Commit = !f.DryRun, ref.To
			}
		}
	}
	return false, nil
}

// refsToSync returns the refs to push, and whether the remote lacks session records.
func (t *Transfer) refsToSync(
	ctx context.Context, f SyncOptions, out *Synced,
) (refs []graph.RefName, sessions bool, err error) {
	st, err := t.here.Look(ctx, remote.Question{Tracking: true, Sessions: t.opt.Sessions})
	if err != nil {
		return nil, false, err
	}
	at, there := st.Targets(), make(map[ipld.CID]bool)
	for _, ref := range st.Refs {
		if strings.HasPrefix(string(ref.Name), remote.Prefix(t.remote.Name)) {
			there[ref.Target] = true
		}
	}
	for name, c := range at {
		sessions = sessions || strings.HasPrefix(string(name), graph.Sessions) && !there[c]
	}
	for _, b := range out.Branches {
		ref := graph.BranchRef(b.Branch)
		b.Commit = at[ref]
		if at[ref].Defined() && at[ref] != at[remote.Tracking(t.remote.Name, ref)] {
			refs = append(refs, ref)
		}
	}
	for name := range at {
		if strings.HasPrefix(string(name), graph.Tags) && f.Tags && !at[remote.Tracking(t.remote.Name, name)].Defined() {
			refs = append(refs, name)
		}
	}
	slices.Sort(refs)
	return refs, sessions, nil
}

// Merge merges the remote's version of a branch.
func (t *Transfer) Merge(ctx context.Context, b *Branch, f SyncOptions) error {
	st, err := t.here.Look(ctx, remote.Question{Tracking: true})
	if err != nil {
		return err
	}
	from := remote.Tracking(t.remote.Name, graph.BranchRef(b.Branch))
	here, there := st.Targets()[graph.BranchRef(b.Branch)], st.Targets()[from]
	b.Commit = here
	if !there.Defined() || here == there {
		return nil
	}
	req := &branching.MergeRequest{Rev: string(from), RequireSigned: f.Signed}
	req.Branch, req.Message = b.Branch, fmt.Sprintf("merge %s of %s", b.Branch, t.remote.Name)
	res, err := t.here.Merge(ctx, req, f.Conflicts)
	if res != nil {
		b.Conflicts = append(b.Conflicts, res.Conflicts...)
		if err == nil {
			b.Commit = res.Commit
			b.Forward = b.Forward || res.FastForward
			if !res.FastForward && !res.NoChange {
				b.Merged++
			}
		}
	}
	return err
}

const (
	// maxSkew is how far a commit from another machine may be ahead of the local clock without a warning.
	maxSkew = time.Minute
	// mostNoticed bounds how many branches are checked for this.
	mostNoticed = 16
)

// notice records which branches moved to a commit ahead of the local clock, in which case one of the two clocks is
// wrong and the order of changes unreliable; and which moved back to an ancestor, as after a restore there. It
// checks at most mostNoticed of each.
func (t *Transfer) notice(ctx context.Context, out *remote.Fetched) error {
	moved := slices.DeleteFunc(slices.Clone(out.Refs), func(ref core.RefChange) bool {
		return t.opt.DryRun || !ref.To.Defined() || !strings.Contains(string(ref.Ref), "/heads/")
	})
	for _, ref := range moved[:min(len(moved), mostNoticed)] {
		c, err := t.newest(ctx, ref.To.String())
		if err != nil {
			return err
		}
		if c == nil {
			continue
		}
		if ahead := c.Time.Std().Sub(t.host.Now()); ahead > maxSkew {
			out.Skewed = append(out.Skewed, remote.Skew{Ref: ref.Ref, Time: c.Time, Ahead: int64(ahead / time.Second)})
		}
	}
	moved = slices.DeleteFunc(moved, func(ref core.RefChange) bool { return !ref.From.Defined() })
	for _, ref := range moved[:min(len(moved), mostNoticed)] {
		c, err := t.newest(ctx, ref.From.String()+".."+ref.To.String())
		if err != nil {
			return err
		}
		if c == nil {
			out.WentBack = append(out.WentBack, ref.Ref)
		}
	}
	return nil
}

// newest returns the first commit of a log, nil for none.
func (t *Transfer) newest(ctx context.Context, revs string) (*branching.Commit, error) {
	req := &branching.LogRequest{Names: []string{revs}, Dash: -1, Limit: 1}
	verb.SetGiven(req, []string{"limit"})
	answer, err := t.here.Answer(ctx, &branching.Log.Spec, req)
	c, _ := answer.(*branching.Commit)
	return c, err
}

// Continue makes the commit of a merge in progress on a branch, if there is one and all its conflicts are resolved.
func (t *Transfer) Continue(ctx context.Context, branch string) error {
	list := &branching.MergeRequest{List: true}
	list.Branch = branch
	answer, err := t.here.Answer(ctx, &branching.Merge.Spec, list)
	p, _ := answer.(*branching.Pending)
	if err != nil || p == nil || len(p.Conflicts) == 0 || p.PendingMerge.Open() > 0 {
		return err
	}
	req := &branching.MergeRequest{Continue: true}
	req.Branch, req.Time = branch, t.here.Time
	_, err = t.here.Answer(ctx, &branching.Merge.Spec, req)
	return err
}
