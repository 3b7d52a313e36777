package transfer

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/exchange/remote"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/ipld"
)

// Verbs is a side that another process has open: it is asked by verbs, whatever carries them.
type Verbs struct {
	// Do runs a verb. It reads into answer, which is a pointer, or returns another one of the same type. What the
	// verb reads comes from in, what it writes goes to out; both may be nil.
	Do     func(ctx context.Context, v *verb.Spec, req, answer any, in io.Reader, out io.Writer) (any, error)
	Time   string // of changes
	Signed bool   // whether commits that come must be signed
	DryRun bool   // whether what comes is only checked
}

var _ remote.Side = Verbs{}

func answerOf[T any](ctx context.Context, v Verbs, spec *verb.Spec, req any, in io.Reader) (*T, error) {
	answer, err := v.Do(ctx, spec, req, new(T), in, nil)
	if err != nil {
		return nil, err
	}
	return answer.(*T), nil
}

// Look implements remote.Side.
func (v Verbs) Look(ctx context.Context, q remote.Question) (*remote.State, error) {
	req := &PackRefsRequest{Commits: texts(q.Commits), Tracking: q.Tracking, Sessions: q.Sessions}
	return answerOf[remote.State](ctx, v, &PackRefs.Spec, req, nil)
}

func texts(list []ipld.CID) (out []string) {
	for _, c := range list {
		out = append(out, c.String())
	}
	return out
}

// Send implements remote.Side.
func (v Verbs) Send(ctx context.Context, w io.Writer, want remote.Want, from int64) error {
	if from > math.MaxInt {
		return remote.ErrTooLarge
	}
	req := &PackSendRequest{Have: texts(want.Have), From: int(from), Output: verb.Itself}
	for _, ref := range want.Refs {
		req.Refs = append(req.Refs, string(ref.Name)+"="+ref.Target.String())
	}
	_, err := v.Do(ctx, &PackSend.Spec, req, nil, nil, w)
	return err
}

// Redactions implements remote.Side.
func (v Verbs) Redactions(ctx context.Context, after ipld.CID) (list []care.ToldRedaction, more bool, err error) {
	req := &PackRedactionsRequest{}
	if after.Defined() {
		req.After = after.String()
	}
	a, err := answerOf[PackRedactionsAnswer](ctx, v, &PackRedactions.Spec, req, nil)
	if err != nil {
		return nil, false, err
	}
	for _, r := range a.Redactions {
		t, err := ParseRedaction(r.CID.String() + "=" + r.Record)
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
	req := &PackRedactRequest{Redactions: RedactionTexts(list), Tracking: tracking, Yes: true}
	req.Time = v.Time
	a, err := answerOf[PackRedacted](ctx, v, &PackRedact.Spec, req, nil)
	if err != nil {
		return nil, err
	}
	return &a.AcceptedRedactions, nil
}

// Take implements remote.Side.
func (v Verbs) Take(ctx context.Context, news remote.News) (*remote.Taken, error) {
	req := &PackTakeRequest{Tracking: news.Tracking, RequireSigned: v.Signed, DryRun: v.DryRun}
	req.Time = v.Time
	req.Move, req.Set, req.Place = UpdateTexts(news.Updates)
	var in io.Reader
	if news.Pack != nil {
		req.File, in = verb.Itself, news.Pack
	}
	a, err := answerOf[PackTaken](ctx, v, &PackTake.Spec, req, in)
	if err != nil {
		return nil, err
	}
	return &a.Taken, nil
}

// Close implements remote.Side.
func (v Verbs) Close() error { return nil }

// Conflict makes an error one of state.ErrConflict and adds nothing to what it says.
func Conflict(err error) error { return fmt.Errorf("%w%w", silentConflict{}, err) }

type silentConflict struct{}

func (silentConflict) Error() string        { return "" }
func (silentConflict) Is(target error) bool { return target == state.ErrConflict }
