// Package remote brings histories from one repository into another: refs first, then one pack of what
// the receiver lacks (exchange.Pack), found by comparing trees where both histories begin to differ.
//
// A fetch takes two round trips and a push two, whatever the sizes, a fetch one more where more than MaxAsked
// branches and sessions are here, and each one more for each thousand redactions where what was erased at the
// other side changed. What arrives is written to a file
// beside the repository and verified block by block; an interrupted transfer goes on where it was,
// since the same question gives the same bytes. Only a pack that is whole and sound moves refs, all in
// one operation (exchange.Receive).
//
// What R has is kept under refs/remotes/R: its branch main under refs/remotes/R/heads/main, its tag v1
// under refs/remotes/R/tags/v1. A tag that is not here yet becomes one here too. Sessions go where they are asked
// for, and are kept beside those of the receiver (SPEC 13.5).
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
	// MaxRefs is the largest number of refs that a repository is told of.
	MaxRefs = 100_000
	// MaxTold is the largest number of redactions that one question and one answer have.
	MaxTold = 1000
	// MaxPack is the largest pack that is taken in, in bytes, unless options say otherwise.
	MaxPack = 16 << 30
)

// ErrTooLarge is returned where the other side sends more than is taken in.
var ErrTooLarge = fmt.Errorf("%w: it sends more than is taken in", state.ErrInvalid)

// Side is one of the two repositories of a transfer: the one here, or another one over some transport.
type Side interface {
	// Look returns refs in name order, what HEAD is on, and which commits are there.
	Look(ctx context.Context, q Question) (*State, error)
	// Send writes the bytes of a pack from an offset on.
	Send(ctx context.Context, w io.Writer, want Want, from int64) error
	// Take has a pack taken in and refs changed, all or nothing. It erases nothing.
	Take(ctx context.Context, news News) (*Taken, error)
	// Redactions returns what was erased, in CID order after a CID, at most MaxTold, and whether there is
	// more.
	Redactions(ctx context.Context, after ipld.CID) (list []care.ToldRedaction, more bool, err error)
	// Accept has blocks erased, at most MaxTold, as another repository did: those that refs under
	// refs/remotes/NAME reach where a name is given, else those that branches, tags and sessions reach.
	Accept(ctx context.Context, list []care.ToldRedaction, tracking string) (*care.AcceptedRedactions, error)
	Close() error
}

// Question is what is asked before a transfer.
type Question struct {
	Commits  []ipld.CID // that may be there, and records of sessions, at most MaxAsked
	Tracking bool       // whether the refs under refs/remotes are wanted too
	Sessions bool       // whether those of sessions are
}

// State is what a repository says of itself.
type State struct {
	Refs  []core.Ref    `json:"refs"`
	Head  graph.RefName `json:"head" shape:"null"` // the branch that HEAD is on, "" for none
	Known []ipld.CID    `json:"known"`             // of the commits and records that were asked about, in their order
	// Redactions names the set of what was erased there (care.RedactionSet), "" for nothing.
	Redactions string `json:"redactions"`
}

// Targets returns what each ref is at.
func (st *State) Targets() map[graph.RefName]ipld.CID {
	at := make(map[graph.RefName]ipld.CID, len(st.Refs))
	for _, ref := range st.Refs {
		at[ref.Name] = ref.Target
	}
	return at
}

// Want asks for refs as State had them, without a target for what they are at now, and names what State.Known has.
type Want struct {
	Refs []core.Ref
	Have []ipld.CID
}

// News is a pack and what refs become with it.
type News struct {
	Pack    *io.SectionReader // nil for none: then refs can be removed only
	Updates []exchange.RefUpdate
	// Tracking names another repository whose refs under refs/remotes may be changed, and says that tags
	// and sessions may be added. Without one branches and tags alone may be changed, and sessions gone on with.
	Tracking string
}

// Taken tells what a repository took in.
type Taken struct {
	Refs   []core.RefChange `json:"refs"`
	Blocks int              `json:"new_blocks"`
	Gaps   int              `json:"gaps"` // blocks that were erased there and are not here
}

// Tracking returns the ref under which a ref of the remote R is kept. Where that would be longer than a ref may be, it
// has the beginning of the name and the CID of the whole name.
func Tracking(name string, ref graph.RefName) graph.RefName {
	kept := name + strings.TrimPrefix(string(ref), "refs")
	if ns, own := ref.Split(); len(kept) > graph.MaxRefName && ns != "" {
		short := session.BesideSession(own, ipld.Sum(ipld.Raw, []byte(own)))
		kept = name + strings.TrimPrefix(ns, "refs") + short
	}
	return graph.RefName(graph.Remotes + kept)
}

// Prefix begins the refs under which those of the remote R are kept.
func Prefix(name string) string { return graph.Remotes + name + "/" }

// Here is a repository that is open in this process.
type Here struct {
	Repo *core.Repo
	// Stamp says who changes refs, and when.
	Stamp  func() (state.Stamp, error)
	DryRun bool // check what is taken in or accepted and write nothing
	// Verify, where given, is shown new commits before they are taken in, as of exchange.ImportOptions.
	Verify func(commits iter.Seq2[commit.LogEntry, error]) error
	// Progress, where given, is told how many blocks were written or checked.
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

// travels reports whether a ref is told to others that do not ask for sessions: branches and tags are.
func travels(name graph.RefName) bool {
	ns, _ := name.Split()
	return ns == graph.Heads || ns == graph.Tags
}

// isSession reports whether a ref is that of a session.
func isSession(name graph.RefName) bool {
	ns, _ := name.Split()
	return ns == graph.Sessions
}

// hasNamed reports whether a commit or a record of a session is in a repository.
func hasNamed(ctx context.Context, r *core.Repo, c ipld.CID) (bool, error) {
	_, err := r.Resolve(ctx, c.String())
	var kind *state.KindError
	if errors.As(err, &kind) {
		return session.HasRecord(ctx, r, c)
	}
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, state.ErrInvalid) {
		return false, nil
	}
	return err == nil, err
}

// Send implements Side. It refuses refs that are elsewhere by now: what no ref leads to may not be for
// others.
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
	_, err = exchange.Pack(ctx, h.Repo, &after{w, from}, opt)
	return err
}

// after leaves out the first bytes of what is written.
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
	opt := exchange.ReceiveOptions{
		Stamp: by, Updates: news.Updates, DryRun: h.DryRun, Verify: h.Verify, Progress: h.Progress,
	}
	var res *exchange.ImportResult
	if news.Pack == nil {
		res, err = exchange.Receive(ctx, h.Repo, nil, 0, opt)
	} else {
		res, err = exchange.Receive(ctx, h.Repo, news.Pack, news.Pack.Size(), opt)
	}
	if err != nil {
		return nil, err
	}
	return &Taken{res.Refs, res.NewBlocks, res.Redactions}, nil
}

// mayChange refuses refs that are not for the other side to change.
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

// eraseCopies removes the copies of blocks that are beside the store: mirrors of remotes, and packs.
func (h *Here) eraseCopies(ctx context.Context) error {
	dir := h.Repo.Path()
	if dir == "" {
		return nil
	}
	_, err := layout.Erase(ctx, dir, layout.Options{})
	return FilesBusy(err)
}

// FilesBusy marks an error of package layout about files that another process uses for long.
func FilesBusy(err error) error {
	if errors.Is(err, filestate.ErrLocked) {
		return fmt.Errorf("%w: %w", store.ErrBusy, err)
	}
	return err
}

// Close implements Side: the repository stays open.
func (h *Here) Close() error { return nil }
