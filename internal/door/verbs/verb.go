package verbs

import (
	"context"
	"strings"
	"sync"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// operationVerbs are the verbs by the names of their operations.
var operationVerbs = sync.OnceValue(func() map[string]*line.Bound {
	of := make(map[string]*line.Bound)
	for _, v := range Verbs() {
		of[v.Spec.Name()] = v
		if v.Spec.Batch != nil {
			of[v.Spec.Name()+"_batch"] = v
		}
	}
	return of
})

// runCall runs a verb with the arguments of a remote caller.
func runCall(ctx context.Context, c *line.Line, v *line.Bound, args *operation.Arguments) error {
	req := v.Spec.Request()
	words := strings.Fields(v.Spec.Command)
	var given []string
	for _, f := range v.Spec.Fields() {
		argument, there := args.Values[f.Parameter()]
		switch value, fixed := reach.Fixed(v, &f); {
		case fixed:
			if err := f.Set(req, []string{value}); err != nil {
				return err
			}
			continue
		case !f.Remote || !there:
			if err := f.SetDefault(req); err != nil {
				return err
			}
			continue
		}
		if err := f.Assign(req, argument); err != nil {
			return err
		}
		if given = append(given, f.Name); !f.Arg {
			words = append(words, "--"+f.Name)
		}
	}
	if b := v.Spec.Batch; b != nil && args.Lines {
		for _, f := range v.Spec.Fields() {
			if f.Name == b.Lines.Flag {
				if err := f.Set(req, []string{line.StdinName}); err != nil {
					return err
				}
			}
		}
		given, words = append(given, b.Lines.Flag), append(words, "--"+b.Lines.Flag)
	}
	for _, name := range reach.AskBoth(c, req, given) {
		given, words = append(given, name), append(words, "--"+name)
	}
	verb.SetGiven(req, given)
	if c.By.Key != "" {
		words = append(words, operation.KeyWord+c.By.Key)
	}
	if args.Body != nil {
		c.App.Stdin = args.Body
	}
	if q, ok := req.(reach.LineReader); ok && args.Lines {
		c.Inputs = []string{line.StdinName}
		q.SetChanges(func(ctx context.Context) (state.Changes, error) { return c.Changes(ctx, c.Inputs) })
	}
	c.Started = true
	c.Doing = line.Doing{Ctx: ctx, Name: v.Spec.Name(), Words: words, Wait: c.Doing.Wait}
	return reach.Run(ctx, v, c, req)
}
