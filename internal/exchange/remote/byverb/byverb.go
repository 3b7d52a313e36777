// Package byverb asks repositories by verbs for the parts of a transfer: it makes verbs of package transfer of what
// remote.Side has, and of their answers what a remote.Side returns. Its Side is a repository in a directory; other
// carriers bring the same verbs elsewhere.
package byverb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange/remote"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/internal/verb/transfer"
	"github.com/mnem-project/mnem/ipld"
)

// Verbs is what a side has that is asked by verbs, whatever carries them.
type Verbs struct {
	// Do runs a verb. It reads into answer, which is a pointer, or returns another one of the same type. What the
	// verb reads comes from in, what it writes goes to out; both may be nil.
	Do   func(ctx context.Context, v *verb.Spec, req, answer any, in io.Reader, out io.Writer) (any, error)
	Time string // of changes
}

// answerOf runs a verb whose answer is a T.
func answerOf[T any](ctx context.Context, v Verbs, spec *verb.Spec, req any, in io.Reader) (*T, error) {
	answer, err := v.Do(ctx, spec, req, new(T), in, nil)
	if err != nil {
		return nil, err
	}
	return answer.(*T), nil
}

// Look implements remote.Side.
func (v Verbs) Look(ctx context.Context, q remote.Question) (*remote.State, error) {
	req := &transfer.PackRefsRequest{Commits: texts(q.Commits), Tracking: q.Tracking, Sessions: q.Sessions}
	return answerOf[remote.State](ctx, v, &transfer.PackRefs.Spec, req, nil)
}

func texts(list []ipld.CID) (out []string) {
	for _, c := range list {
		out = append(out, c.String())
	}
	return out
}

// stream is what verbs call the stream that they read or write.
const stream = "-"

// Send implements remote.Side.
func (v Verbs) Send(ctx context.Context, w io.Writer, want remote.Want, from int64) error {
	if from > math.MaxInt {
		return remote.ErrTooLarge
	}
	req := &transfer.PackSendRequest{Have: texts(want.Have), From: int(from), Output: stream}
	for _, ref := range want.Refs {
		req.Refs = append(req.Refs, string(ref.Name)+"="+ref.Target.String())
	}
	_, err := v.Do(ctx, &transfer.PackSend.Spec, req, nil, nil, w)
	return err
}

// Redactions implements remote.Side.
func (v Verbs) Redactions(ctx context.Context, after ipld.CID) (list []care.ToldRedaction, more bool, err error) {
	req := &transfer.PackRedactionsRequest{}
	if after.Defined() {
		req.After = after.String()
	}
	a, err := answerOf[transfer.PackRedactionsAnswer](ctx, v, &transfer.PackRedactions.Spec, req, nil)
	if err != nil {
		return nil, false, err
	}
	for _, r := range a.Redactions {
		t, err := transfer.ParseRedaction(r.CID.String() + "=" + r.Record)
		if err != nil {
			return nil, false, err
		}
		list = append(list, t)
	}
	return list, a.More, nil
}

// Accept implements remote.Side.
func (v Verbs) Accept(
	ctx context.Context, list []care.ToldRedaction, tracking string,
) (*care.AcceptedRedactions, error) {
	req := &transfer.PackRedactRequest{Redactions: transfer.RedactionTexts(list), Tracking: tracking, Yes: true}
	req.Time = v.Time
	a, err := answerOf[transfer.PackRedacted](ctx, v, &transfer.PackRedact.Spec, req, nil)
	if err != nil {
		return nil, err
	}
	return &a.AcceptedRedactions, nil
}

// Side is a repository in a directory as a side of a transfer: it is asked in this process, or in the one that has
// the repository open.
type Side struct {
	Verbs
	host   *Host
	Dir    string // that holds .mnem
	Signed bool   // whether commits that come must be signed
	DryRun bool   // whether what comes is only checked
}

var _ remote.Side = (*Side)(nil)

// In returns the repository in a directory.
func In(h *Host, dir string) *Side {
	s := &Side{host: h, Dir: dir}
	s.Verbs = Verbs{func(ctx context.Context, v *verb.Spec, req, _ any, in io.Reader, out io.Writer) (answer any, err error) {
		err = s.each(ctx, v, req, in, out, func(a any) error { answer = a; return nil })
		return answer, err
	}, h.Time}
	return s
}

// Run runs a verb and returns its answer, the last of several.
func (s *Side) Run(ctx context.Context, v *verb.Spec, req any) (answer any, err error) {
	return s.Do(ctx, v, req, nil, nil, nil)
}

// Each runs a verb with several answers.
func (s *Side) Each(ctx context.Context, v *verb.Spec, req any, emit func(answer any) error) error {
	return s.each(ctx, v, req, nil, nil, emit)
}

func (s *Side) each(
	ctx context.Context, v *verb.Spec, req any, in io.Reader, out io.Writer, emit func(any) error,
) error {
	err := s.host.Ask(ctx, s.Dir, v, req, in, out, emit)
	var told *operation.Error
	if errors.As(err, &told) && verb.OutcomeOf(ctx, err) == operation.Conflict {
		err = Conflict(err) // as those of this process say it
	}
	return err
}

// Path returns the directory of the repository itself.
func (s *Side) Path() string { return filepath.Join(s.Dir, core.DirName) }

// Kept returns where files of a remote are kept, beside the repository: packs that come and go.
func (s *Side) Kept(name string) string { return filepath.Join(s.Path(), "remotes", name) }

// Mirror returns where the mirror of a remote is kept, of one that needs it.
func (s *Side) Mirror(name string) string { return s.Kept(name) + ".git" }

// Take implements remote.Side.
func (s *Side) Take(ctx context.Context, news remote.News) (*remote.Taken, error) {
	req := &transfer.PackTakeRequest{Tracking: news.Tracking, RequireSigned: s.Signed, DryRun: s.DryRun}
	req.Time = s.Time
	req.Move, req.Set, req.Place = transfer.UpdateTexts(news.Updates)
	var in io.Reader
	if p := news.Pack; p != nil {
		req.File, in = stream, p
		if f, off, size := p.Outer(); off == 0 {
			if f, ok := f.(*os.File); ok {
				if info, err := f.Stat(); err == nil && info.Size() == size {
					req.File, in = f.Name(), nil // which need not be copied
				}
			}
		}
	}
	a, err := answerOf[transfer.PackTaken](ctx, s.Verbs, &transfer.PackTake.Spec, req, in)
	if err != nil {
		return nil, err
	}
	return &a.Taken, nil
}

// Close implements remote.Side.
func (s *Side) Close() error { return nil }

// Conflict makes an error one of state.ErrConflict and adds nothing to what it says.
func Conflict(err error) error { return fmt.Errorf("%w%w", silentConflict{}, err) }

type silentConflict struct{}

func (silentConflict) Error() string        { return "" }
func (silentConflict) Is(target error) bool { return target == state.ErrConflict }
