package cli

import (
	"context"
	"reflect"
	"slices"

	"github.com/mnem-project/mnem/internal/verb"
)

// local declares a command of this program that is no verb: it is about files, keys and servers of this machine. Its
// flags, arguments, help and completion follow from its request, as those of verbs do.
func local[Req any](spec verb.Spec, run func(*cli, context.Context, *Req) error) *bound {
	return localOf(verb.Here(spec, reflect.TypeFor[Req](), false), func(c *cli, ctx context.Context, req any) error {
		return run(c, ctx, req.(*Req))
	})
}

// localLines is local for a command that prints any number of answers, one a line as JSON.
func localLines[Req any](spec verb.Spec, run func(*cli, context.Context, *Req) error) *bound {
	v := local(spec, run)
	v.spec = verb.Here(spec, reflect.TypeFor[Req](), true)
	return v
}

func localOf(spec *verb.Spec, run func(*cli, context.Context, any) error) *bound {
	return &bound{spec: spec, around: func(ctx context.Context, c *cli, req any, _ func(context.Context) error) error {
		c.take(verb.WritingOf(req))
		return run(c, ctx, req)
	}}
}

// locals are the commands that are no verbs.
func locals() []*bound {
	return slices.Concat(
		[]*bound{demoCommand(), holdCommand(), initCommand(), mcpCommand(), serveCommand(), viewCommand()},
		configCommands(), gitCommands(), guardCommands(), integrateCommands(), keyCommands(), policyCommands(),
		remoteCommands(), tokenCommands(), tradeCommands(),
	)
}

// take takes what the flags of a command say of who makes a change, and how.
func (c *cli) take(w verb.Writing) {
	g := &c.global
	g.author, g.agent, g.task, g.time = w.Author, w.Agent, w.Task, w.Time
	g.expect, g.allowSecret, g.strict = w.ExpectHead, w.AllowSecret, w.Strict
	c.signing.sign, c.signing.noSign, c.signing.key = w.Sign, w.NoSign, w.Key
}
