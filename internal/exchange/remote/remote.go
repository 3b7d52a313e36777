// Package remote transfers histories between repositories: first refs, then one pack of what the receiver lacks
// (exchange.Pack), found by comparing trees from where the histories diverge.
//
// A fetch or push takes two round trips for any size. A fetch takes one more if more than MaxAsked branches and
// sessions are here, and both take one more for each thousand redactions if the other side's redactions changed.
// Incoming data is written to a file next to the repository and verified block by block. An interrupted transfer
// resumes, since the same request gives the same bytes. Only a complete and sound pack moves refs, in one operation
// (exchange.Receive).
//
// Refs of R are recorded under refs/remotes/R: its branch main as refs/remotes/R/heads/main, its tag v1 as
// refs/remotes/R/tags/v1. New tags are also created here. Sessions are transferred on request, and stored next to
// those of the receiver (SPEC 13.5).
package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/layout"
	"github.com/mnem-project/mnem/internal/session"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// MaxAsked is the largest number of commits in a question.
	MaxAsked = 256
	// MaxRefs is the largest number of refs that a repository reports.
	MaxRefs = 100_000
	// MaxTold is the largest number of redactions in one request or answer.
	MaxTold = 1000
	// MaxPack is the largest pack accepted, in bytes, unless options say otherwise.
	MaxPack = 16 << 30
)

// ErrTooLarge is returned if the other side sends more than is accepted.
var ErrTooLarge = fmt.Errorf("%w: it sends more than is taken in", state.ErrInvalid)

// Side is one of the two repositories of a transfer: the local one, or another over some transport.
type Side interface {
	// Look returns refs in name order, the branch of HEAD, and which of the commits in question exist.
	Look(ctx context.Context, q Question) (*State, error)
	// Send writes the bytes of a pack from an offset on.
	Send(ctx context.Context, w io.Writer, want Want, from int64) error
	// Take imports a pack and changes refs, all or nothing. It erases nothing.
	Take(ctx context.Context, news News) (*Taken, error)
	// Redactions returns at most MaxTold redactions, in CID order, beginning after a CID, and whether there are more.
	Redactions(ctx context.Context, after ipld.CID) (list []care.ToldRedaction, more bool, err error)
	// Accept erases at most MaxTold blocks that another repository erased: those that refs under refs/remotes/NAME
	// reach if a name is given, otherwise those that branches, tags and sessions reach.
	Accept(ctx context.Context, list []care.ToldRedaction, tracking string) (*care.AcceptedRedactions, error)
	Close() error
}

// Question is the request that precedes a transfer.
type Question struct {
	Commits  []ipld.CID // that may be there, and records of sessions, at most MaxAsked
	Tracking bool       // whether the refs under refs/remotes are wanted too
	Sessions bool       // whether session refs are wanted too
}

// State is a repository's answer to a Question.
type State struct {
	Refs  []core.Ref    `json:"refs"`
	Head  graph.RefName `json:"head" shape:"null"` // the branch that HEAD is on, "" for none
	Known []ipld.CID    `json:"known"`             // of the commits and records that were asked about, in their order
	// Redactions names the set of blocks erased there (care.RedactionSet), "" if none.
	Redactions string `json:"redactions"`
}

// Targets returns the target of each ref.
func (st *State) Targets() map[graph.RefName]ipld.CID {
	at := make(map[graph.RefName]ipld.CID, len(st.Refs))
	for _, ref := range st.Refs {
		at[ref.Name] = ref.Target
	}
	return at
}

// Want requests refs as reported by State, or at their current targets if none are given, and excludes what
// State.Known has.
type Want struct {
	Refs []core.Ref
	Have []ipld.CID
}

// News is a pack and the resulting ref changes.
type News struct {
	Pack    *io.SectionReader // nil for none: then refs can be removed only
	Updates []exchange.RefUpdate
	// Tracking names another repository whose refs under refs/remotes may be changed, and allows adding tags and
	// sessions. Without it only branches and tags may be changed, and sessions continued.
	Tracking string
}

// Taken is the result of Side.Take.
type Taken struct {
	Refs   []core.RefChange `json:"refs"`
	Blocks int              `json:"new_blocks"`
	Gaps   int              `json:"gaps"` // blocks that were erased there and are not here
}

// Tracking returns the tracking ref of a ref of the remote R. If that would exceed the length of a ref, it consists
// of the beginning of the name and the CID of the whole name.
func Tracking(name string, ref graph.RefName) graph.RefName {
	kept := name + strings.TrimPrefix(string(ref), "refs")
	if ns, own := ref.Split(); len(kept) > graph.MaxRefName && ns != "" {
		short := session.BesideSession(own, ipld.Sum(ipld.Raw, []byte(own)))
		kept = name + strings.TrimPrefix(ns, "refs") + short
	}
	return graph.RefName(graph.Remotes + kept)
}

// Prefix begins the tracking refs of the remote R.
func Prefix(name string) string { return graph.Remotes + name + "/" }

// Here is a repository that is open in this process.
type Here struct {
	Repo *core.Repo
	// Stamp says who changes refs, and when.
	Stamp  func() (state.Stamp, error)
	DryRun bool // check what would be taken in or accepted, but write nothing
	// Verify, if not nil, is called with new commits before they are imported, as in exchange.ImportOptions.
	Verify func(commits iter.Seq2[commit.LogEntry, error]) error
	// Progress, if not nil, receives the number of blocks written or checked.
	Progress func(what string, done int)
}

var _ Side = (*Here)(nil)

// Look implements Side.
func (h *Here) Look(ctx context.Context, q Question) (*State, error) {
	all, err := h.Repo.Refs(ctx)
	if err != nil {
		return nil, err
	}
	st := &State{}
	if st.Redactions, err = care.RedactionSet(ctx, h.Repo); err != nil {
		return nil, err
	}
	for _, ref := range all {
		if ref.Name == graph.Head {
			st.Head = ref.Symbolic
		}
		if travels(ref.Name) || q.Tracking && strings.HasPrefix(string(ref.Name), graph.Remotes) ||
			q.Sessions && isSession(ref.Name) {
			st.Refs = append(st.Refs, ref)
		}
	}
	for _, c := range q.Commits {
		has, err := hasNamed(ctx, h.Repo, c)
		if err != nil {
			return nil, err
		}
		if has {
			st.Known = append(st.Known, c)
		}
	}
	return st, nil
}

// travels reports whether a ref is reported to other repositories even without sessions: branches and tags are.
func travels(name graph.RefName) bool {
	ns, _ := name.Split()
	return ns == graph.Heads || ns == graph.Tags
}

// isSession reports whether a ref names a session.
func isSession(name graph.RefName) bool {
	ns, _ := name.Split()
	return ns == graph.Sessions
}

// hasNamed reports whether a commit or a session record is in a repository.
func hasNamed(ctx context.Context, r *core.Repo, c ipld.CID) (bool, error) {
	_, err := r.Revisions().Resolve(ctx, c.String())
	if _, ok := errors.AsType[*state.KindError](err); ok {
		return session.HasRecord(ctx, r, c)
	}
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, state.ErrInvalid) {
		return false, nil
	}
	return err == nil, err
}

// Send implements Side. It refuses refs that have moved: data that no ref reaches may not be meant for others.
func (h *Here) Send(ctx context.Context, w io.Writer, want Want, from int64) error {
	sessions := slices.ContainsFunc(want.Refs, func(ref core.Ref) bool { return isSession(ref.Name) })
	st, err := h.Look(ctx, Question{Commits: want.Have, Sessions: sessions})
	if err != nil {
		return err
	}
	at := st.Targets()
	refs := slices.Clone(want.Refs)
	for i, ref := range refs {
		switch have := at[ref.Name]; {
		case !ref.Target.Defined() && !have.Defined():
			return &state.NotFoundError{What: "branch, tag or session", Name: string(ref.Name)}
		case !ref.Target.Defined():
			refs[i].Target = have
		case have != ref.Target:
			return &exchange.RefError{Ref: ref.Name, Want: ref.Target, Have: have}
		}
	}
	if len(st.Known) != len(want.Have) {
		return fmt.Errorf("%w: a commit is not here any more", state.ErrConflict)
	}
	opt := exchange.PackOptions{Refs: refs, Since: want.Have}
	if h.Progress != nil {
		opt.Progress = func(blocks int, _ int64) { h.Progress("blocks written", blocks) }
	}
	return exchange.Pack(ctx, h.Repo, &after{w, from}, opt)
}

// after drops the first bytes written.
type after struct {
	to   io.Writer
	left int64
}

func (a *after) Write(p []byte) (int, error) {
	skip := min(a.left, int64(len(p)))
	a.left -= skip
	if skip == int64(len(p)) {
		return len(p), nil
	}
	n, err := a.to.Write(p[skip:])
	return n + int(skip), err
}

// Take implements Side.
func (h *Here) Take(ctx context.Context, news News) (*Taken, error) {
	for _, u := range news.Updates {
		if err := news.mayChange(u); err != nil {
			return nil, err
		}
	}
	by, err := h.Stamp()
	if err != nil {
		return nil, err
	}
	opt := exchange.ImportOptions{Stamp: by, DryRun: h.DryRun, Verify: h.Verify, Progress: h.Progress}
	var res *exchange.ImportResult
	if news.Pack == nil {
		res, err = exchange.Receive(ctx, h.Repo, nil, 0, news.Updates, opt)
	} else {
		res, err = exchange.Receive(ctx, h.Repo, news.Pack, news.Pack.Size(), news.Updates, opt)
	}
	if err != nil {
		return nil, err
	}
	return &Taken{res.Refs, res.NewBlocks, res.Redactions}, nil
}

// mayChange refuses refs that the other side may not change.
func (n *News) mayChange(u exchange.RefUpdate) error {
	switch {
	case u.Place && isSession(u.Ref):
		return nil
	case n.Tracking == "" && !travels(u.Ref) && !isSession(u.Ref):
		return fmt.Errorf("%w: %s is no branch, tag or session", state.ErrInvalid, u.Ref)
	case n.Tracking == "" || strings.HasPrefix(string(u.Ref), Prefix(n.Tracking)):
		return nil
	case strings.HasPrefix(string(u.Ref), graph.Tags) && u.From != nil && !u.From.Defined():
		return nil
	}
	return fmt.Errorf("%w: %s is neither under %s nor a new tag", state.ErrInvalid, u.Ref, Prefix(n.Tracking))
}

// Redactions implements Side.
func (h *Here) Redactions(ctx context.Context, after ipld.CID) ([]care.ToldRedaction, bool, error) {
	return care.TellRedactions(ctx, h.Repo, after, MaxTold)
}

// Accept implements Side.
func (h *Here) Accept(
	ctx context.Context, list []care.ToldRedaction, tracking string,
) (*care.AcceptedRedactions, error) {
	by, err := h.Stamp()
	if err != nil {
		return nil, err
	}
	reaches := func(ref graph.RefName) bool { return travels(ref) || isSession(ref) }
	if tracking != "" {
		reaches = func(ref graph.RefName) bool { return strings.HasPrefix(string(ref), Prefix(tracking)) }
	}
	return care.AcceptRedactions(ctx, h.Repo, list, care.AcceptOptions{
		Stamp: by, Reaches: reaches, DryRun: h.DryRun, Files: h.eraseCopies,
	})
}

// eraseCopies removes copies of blocks outside of the store: mirrors of remotes, and packs.
func (h *Here) eraseCopies(ctx context.Context) error {
	dir := h.Repo.Path()
	if dir == "" {
		return nil
	}
	_, err := layout.Erase(ctx, dir, layout.EraseOptions{})
	return FilesBusy(err)
}

// FilesBusy marks an error of package layout about files that another process holds.
func FilesBusy(err error) error {
	if errors.Is(err, filestate.ErrLocked) {
		return fmt.Errorf("%w: %w", store.ErrBusy, err)
	}
	return err
}

// Close implements Side: the repository stays open.
func (h *Here) Close() error { return nil }
