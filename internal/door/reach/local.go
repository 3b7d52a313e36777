package reach

import (
	"context"
	"reflect"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/verb"
)

// Local declares a command of this program that is no verb: it is about files, keys and servers of this machine. Its
// flags, arguments, help and completion follow from its request, as those of verbs do.
func Local[Req any](spec verb.Spec, run func(context.Context, *line.Line, *Req) error) *line.Bound {
	return localOf(verb.Here(spec, reflect.TypeFor[Req](), false), func(ctx context.Context, c *line.Line, req any) error {
		return run(ctx, c, req.(*Req))
	})
}

// LocalLines is local for a command that prints any number of answers, one a line as JSON.
func LocalLines[Req any](spec verb.Spec, run func(context.Context, *line.Line, *Req) error) *line.Bound {
	v := Local(spec, run)
	v.Spec = verb.Here(spec, reflect.TypeFor[Req](), true)
	return v
}

func localOf(spec *verb.Spec, run func(context.Context, *line.Line, any) error) *line.Bound {
	return &line.Bound{Spec: spec, Around: func(ctx context.Context, c *line.Line, req any, _ func(context.Context) error) error {
		if q, ok := req.(interface{ Check() error }); ok {
			if err := q.Check(); err != nil {
				return err
			}
		}
		take(c, verb.WritingOf(req))
		return run(ctx, c, req)
	}}
}

// take takes what the flags of a command say of who makes a change, and how.
func take(c *line.Line, w verb.Writing) {
	g := &c.Global
	g.Author, g.Agent, g.Task, g.Time = w.Author, w.Agent, w.Task, w.Time
	g.Expect, g.AllowSecret, g.Strict = w.ExpectHead, w.AllowSecret, w.Strict
	c.Signing.Sign, c.Signing.NoSign, c.Signing.Key = w.Sign, w.NoSign, w.Key
}
