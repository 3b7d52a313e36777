package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/operation"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/peers"
	"github.com/mnem-project/mnem/remote"
	"github.com/mnem-project/mnem/repo"
)

// verbSide is a repository in a directory as a side of a transfer: it is asked by verbs, which run in this
// process, or in the one that has the repository open.
type verbSide struct {
	c      *cli
	dir    string // that holds .mnem
	signed bool   // whether commits that come must be signed
	dryRun bool   // whether what comes is only checked
}

var _ remote.Side = (*verbSide)(nil)

// hereSide returns the repository of the command.
func (c *cli) hereSide(signed bool) (*verbSide, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	if _, err := c.repoFile(""); err != nil {
		return nil, err
	}
	return &verbSide{c: c, dir: dir, signed: signed}, nil
}

// sideOf connects to another repository. What is kept of one in git is in a directory, or where none is named
// in one that is gone in the end.
func (c *cli) sideOf(ctx context.Context, at, dir string) (remote.Side, error) {
	u, err := parseURL(at)
	if err != nil {
		return nil, err
	}
	switch u.scheme {
	case "http", "https":
		return c.httpSide(ctx, u.url)
	case "ssh":
		return c.sshSide(u)
	case "git+file", "git+http", "git+https", "git+ssh":
		return c.gitSide(ctx, u, dir)
	case "s3":
		return c.s3Side(u, dir)
	}
	dir = c.absolute(u.path)
	if filepath.Base(dir) == repo.DirName {
		dir = filepath.Dir(dir)
	}
	if _, err := os.Stat(filepath.Join(dir, repo.DirName)); err != nil {
		return nil, hint(&repo.NotFoundError{What: "repository", Name: dir},
			"make one there with 'mnem init %s', or correct it with 'mnem remote set-url'", shellWord(dir))
	}
	return &verbSide{c: c, dir: dir}, nil
}

// run runs a verb with an answer. What it writes goes to out, what it reads comes from in.
func (s *verbSide) run(ctx context.Context, v *ops.Spec, req any, in io.Reader, out io.Writer) (answer any, err error) {
	side := s.c.aside(ctx, s.dir)
	g := &s.c.global
	side.by.Agent, side.by.Task = firstOf(g.agent, side.by.Agent), firstOf(g.task, side.by.Task)
	if side.by.Author, err = s.c.authorHere(); err != nil { // of a change elsewhere as well
		return nil, err
	}
	if in != nil {
		side.stdin = peers.NewReplay(in)
		side.app.Stdin = side.stdin.Again()
	}
	if out != nil {
		side.app.OutTTY = false
		side.out = bufio.NewWriterSize(out, outBuffer)
	}
	err = side.askAside(ctx, v, req, func(a any) error { answer = a; return nil })
	if err == nil {
		err = side.out.Flush()
	}
	return answer, conflicting(ctx, err)
}

// conflicting makes errors of other processes say that refs are elsewhere, as those of this one do.
func conflicting(ctx context.Context, err error) error {
	var told *operation.Error
	if errors.As(err, &told) && ops.OutcomeOf(ctx, err) == operation.Conflict {
		return fmt.Errorf("%w%w", silentConflict{}, err)
	}
	return err
}

// silentConflict makes an error one of repo.ErrConflict and adds nothing to what it says.
type silentConflict struct{}

func (silentConflict) Error() string        { return "" }
func (silentConflict) Is(target error) bool { return target == repo.ErrConflict }

// Look implements remote.Side.
func (s *verbSide) Look(ctx context.Context, q remote.Question) (*remote.State, error) {
	req := &ops.PackRefsRequest{Commits: texts(q.Commits), Tracking: q.Tracking}
	answer, err := s.run(ctx, &ops.PackRefs.Spec, req, nil, nil)
	if err != nil {
		return nil, err
	}
	return stateOf(answer.(*ops.PackRefsAnswer)), nil
}

// stateOf returns what an answer says of a repository.
func stateOf(a *ops.PackRefsAnswer) *remote.State {
	st := &remote.State{Head: graph.RefName(a.Head), Known: a.Known, Redactions: a.Redactions}
	for _, ref := range a.Refs {
		st.Refs = append(st.Refs, repo.Ref{Name: ref.Ref, Target: ref.Target})
	}
	return st
}

func texts(list []ipld.CID) (out []string) {
	for _, c := range list {
		out = append(out, c.String())
	}
	return out
}

// sendRequest asks for a pack.
func sendRequest(want remote.Want, from int64) (*ops.PackSendRequest, error) {
	if from > math.MaxInt {
		return nil, remote.ErrTooLarge
	}
	req := &ops.PackSendRequest{Have: texts(want.Have), From: int(from), Output: stdinName}
	for _, ref := range want.Refs {
		req.Refs = append(req.Refs, string(ref.Name)+"="+ref.Target.String())
	}
	return req, nil
}

// Send implements remote.Side.
func (s *verbSide) Send(ctx context.Context, w io.Writer, want remote.Want, from int64) error {
	req, err := sendRequest(want, from)
	if err == nil {
		_, err = s.run(ctx, &ops.PackSend.Spec, req, nil, w)
	}
	return err
}

// Take implements remote.Side.
func (s *verbSide) Take(ctx context.Context, news remote.News) (*remote.Taken, error) {
	req := &ops.PackTakeRequest{Tracking: news.Tracking, RequireSigned: s.signed, DryRun: s.dryRun}
	req.Time = s.c.global.time
	req.Move, req.Set = ops.UpdateTexts(news.Updates)
	var in io.Reader
	if p := news.Pack; p != nil {
		req.File, in = stdinName, p
		if f, off, size := p.Outer(); off == 0 {
			if f, ok := f.(*os.File); ok {
				if info, err := f.Stat(); err == nil && info.Size() == size {
					req.File, in = f.Name(), nil // which need not be copied
				}
			}
		}
	}
	answer, err := s.run(ctx, &ops.PackTake.Spec, req, in, nil)
	if err != nil {
		return nil, err
	}
	return takenOf(answer.(*ops.PackTaken)), nil
}

// takenOf returns what an answer says was taken in.
func takenOf(a *ops.PackTaken) *remote.Taken {
	out := &remote.Taken{Blocks: a.NewBlocks, Gaps: a.Gaps}
	for _, ref := range a.Refs {
		out.Refs = append(out.Refs, repo.RefChange(ref))
	}
	return out
}

// Redactions implements remote.Side.
func (s *verbSide) Redactions(ctx context.Context, after ipld.CID) ([]repo.ToldRedaction, bool, error) {
	req := &ops.PackRedactionsRequest{}
	if after.Defined() {
		req.After = after.String()
	}
	answer, err := s.run(ctx, &ops.PackRedactions.Spec, req, nil, nil)
	if err != nil {
		return nil, false, err
	}
	return toldOf(answer.(*ops.PackRedactionsAnswer))
}

// toldOf returns the redactions of an answer.
func toldOf(a *ops.PackRedactionsAnswer) (list []repo.ToldRedaction, more bool, err error) {
	for _, r := range a.Redactions {
		t, err := ops.ParseRedaction(r.CID.String() + "=" + r.Record)
		if err != nil {
			return nil, false, err
		}
		list = append(list, t)
	}
	return list, a.More, nil
}

// Accept implements remote.Side.
func (s *verbSide) Accept(
	ctx context.Context, list []repo.ToldRedaction, tracking string,
) (*repo.AcceptedRedactions, error) {
	req := &ops.PackRedactRequest{Redactions: ops.RedactionTexts(list), Tracking: tracking, Yes: true}
	req.Time = s.c.global.time
	answer, err := s.run(ctx, &ops.PackRedact.Spec, req, nil, nil)
	if err != nil {
		return nil, err
	}
	return acceptedOf(answer.(*ops.PackRedacted)), nil
}

// acceptedOf returns what an answer says was erased.
func acceptedOf(a *ops.PackRedacted) *repo.AcceptedRedactions {
	return &repo.AcceptedRedactions{Erased: a.Erased, Closed: a.Closed, Left: a.Left, Pending: a.ErasurePending}
}

// Close implements remote.Side.
func (s *verbSide) Close() error { return nil }
