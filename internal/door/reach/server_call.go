package reach

import (
	"context"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/exchange/remote/place"
	"github.com/mnem-project/mnem/internal/exchange/remote/server"
	"github.com/mnem-project/mnem/internal/verb"
)

// askServer has the server at a URL run a verb, and prints what it answers.
func askServer(ctx context.Context, c *line.Line, at string, spec *verb.Spec, req any) error {
	if spec.Local || c.Quietly {
		return line.ErrOnServer(at)
	}
	if q, ok := req.(verb.Checker); ok {
		if err := q.Check(); err != nil {
			return err
		}
	}
	if q, ok := req.(verb.TakesAlong); ok {
		if err := q.TakeAlong(VerbHost{c}.Setting); err != nil {
			return err
		}
	}
	u, err := place.ParseURL(at)
	if err != nil {
		return err
	}
	side, err := server.Reach(ctx, AskHost(c), u.At)
	if err != nil {
		return err
	}
	defer func() { _ = side.Close() }() // all was said
	call := &server.Call{
		Spec: spec, Req: req, JSON: c.InJSON, Branch: c.By.Branch, Session: c.By.Session, Inputs: c.Inputs,
		Open: c.Open, Create: VerbHost{c}.Create, Out: c.Out,
	}
	if q, ok := req.(fileReader); ok {
		call.Inputs = q.FileNames()
	}
	if err := line.OnceStdin(call.Inputs); err != nil {
		return err
	}
	return side.Call(ctx, call)
}
