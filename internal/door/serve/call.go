package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"

	"github.com/mnem-project/mnem/internal/verb/operation"
)

// noOperation refuses an unknown name, and names the replacement of a removed one.
func noOperation(name string) *problem {
	if now := operation.Renamed(name); now != "" {
		return notFound("'%s' is now '%s': see /openapi.json", name, now)
	}
	return notFound("no operation %q: see /openapi.json", brief(name))
}

func (s *Server) call(w http.ResponseWriter, r *http.Request) {
	op := s.ops[r.PathValue("operation")]
	if op == nil {
		s.refuse(w, r, noOperation(r.PathValue("operation")))
		return
	}
	exchangeOf(r).operation = op.Name
	q, p := s.read(r, op)
	defer q.release()
	if p == nil {
		p = q.expectation()
	}
	if p != nil {
		s.refuse(w, r, p)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.cfg.Limits.Time)
	defer cancel()
	if q.key == "" || q.effect == operation.Reads {
		s.run(ctx, w, r, q, nil)
		return
	}
	kept, p := s.answers.begin(q)
	switch {
	case p != nil:
		s.refuse(w, r, p)
	case kept.done:
		w.Header().Set("Idempotent-Replay", "true")
		kept.send(w)
	default:
		// The client may go, and ask for the answer with the same key again.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), s.cfg.Limits.Time)
		defer cancel()
		ctx, end := until(ctx, s.broken)
		defer end()
		defer s.answers.end(kept)
		s.run(ctx, w, r, q, kept)
	}
}

// expectation makes If-Match the parameter of the operation that means the same.
func (q *request) expectation() *problem {
	if q.expect == "" || q.effect == operation.Reads {
		return nil
	}
	const name = "expect"
	if q.call.Operation.Param(name) == nil {
		return badRequest("%s cannot be made to depend on If-Match", q.call.Operation.Name)
	}
	if given, ok := q.call.Args[name]; ok && string(given) != string(asJSON(q.expect)) {
		return badRequest("If-Match and %s differ", name)
	}
	q.argument(name, q.expect)
	return nil
}

func (q *request) argument(name, value string) {
	if q.call.Args == nil {
		q.call.Args = make(map[string]json.RawMessage)
	}
	q.call.Args[name] = asJSON(value)
}

// buffers gather what answers are written as.
var buffers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, 32<<10) }}

// runInto runs the call and makes bytes of its answers, or takes those that another process made.
func (s *Server) runInto(ctx context.Context, q *request, a *answer) (operation.Outcome, error) {
	out := buffers.Get().(*bufio.Writer)
	defer buffers.Put(out)
	out.Reset(a)
	defer out.Reset(nil)
	q.call.Answer = func(answer operation.Answer) error {
		a.last = answer
		return answer.WriteJSON(out)
	}
	outcome, err := s.cfg.Runner.Run(ctx, q.call, a)
	if gone := out.Flush(); gone != nil {
		return operation.Interrupted, gone
	}
	return outcome, err
}

// run runs the call and answers with what it prints; kept, unless nil, keeps the answer.
func (s *Server) run(ctx context.Context, w http.ResponseWriter, r *http.Request, q *request, kept *kept) {
	if p := s.slots.enter(ctx); p != nil {
		s.refuse(w, r, p)
		return
	}
	a := &answer{server: s, to: w, request: r, q: q, kept: kept, running: ctx}
	outcome, err := func() (operation.Outcome, error) {
		defer s.slots.leave()
		defer func() { a.running = nil }()
		return s.runInto(ctx, q, a)
	}()
	exchangeOf(r).code = outcome.Code
	switch {
	case err == nil:
		a.finish(outcome)
	case a.started:
		a.breakOff(problemOf(outcome, err))
	default:
		p := problemOf(outcome, err)
		if ctx.Err() != nil && r.Context().Err() == nil && outcome == operation.Interrupted {
			p.Detail = "it took longer than the server lets a request take"
		}
		held := a.held.Bytes()
		whole := json.Valid(held)
		if _, expects := q.call.Args["expect"]; expects && outcome == operation.Conflict && !whole {
			p.Status, p.Code = http.StatusPreconditionFailed, codePrecondition
			p.Title = http.StatusText(p.Status)
		}
		if whole && !q.call.Text {
			p.Answer = slices.Clone(held)
		}
		failed, ok := errors.AsType[*operation.Error](err)
		unknown := ok && failed.Unknown // asked again it could be done twice
		if kept != nil && (p.Status < 500 || unknown) {
			kept.keep(p, exchangeOf(r).id)
		}
		s.refuse(w, r, p)
	}
}
