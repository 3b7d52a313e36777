package verbs

import (
	"context"
	"fmt"
	"sync"

	"github.com/mnem-project/mnem/internal/door/answers"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/verb/editing"
	"github.com/mnem-project/mnem/internal/verb/remembering"
)

// bindRemember binds the verb that remembers to what asks a terminal whether the new memory replaces an earlier one. Requests
// may run at the same time, so each keeps what it asks about under its own request.
func bindRemember() *line.Bound {
	var asking sync.Map // of requests that a terminal waits for, *remembering.Remembered
	v := reach.Bind(remembering.Remember, answers.Remembered)
	print := v.Print
	v.Print = func(c *show.Console, req, answer any) error {
		if r, ok := answer.(*remembering.Remembered); ok && r.Settle != "" && r.Repository == "" {
			if _, asks := asking.Load(req); asks {
				asking.Store(req, r)
				r.Settle = "" // the question says it
			}
		}
		return print(c, req, answer)
	}
	v.Around = func(ctx context.Context, c *line.Line, req any, run func(context.Context) error) error {
		if !settlesHere(c) {
			return run(ctx)
		}
		asking.Store(req, (*remembering.Remembered)(nil))
		defer asking.Delete(req)
		if err := run(ctx); err != nil {
			return err
		}
		if r, _ := asking.Load(req); r.(*remembering.Remembered) != nil {
			return settle(ctx, c, req.(*remembering.RememberRequest), r.(*remembering.Remembered))
		}
		return nil
	}
	return v
}

// settlesHere reports whether a terminal is asked: one that both shows the question and is typed at.
func settlesHere(c *line.Line) bool {
	if c.App.Key == nil || !c.App.ErrTTY || c.InJSON || c.Quiet {
		return false
	}
	_, err := c.Dir()
	return err == nil
}

// settle asks whether a memory replaces the nearest earlier one, and marks that one if so. Any key but y means no.
func settle(ctx context.Context, c *line.Line, q *remembering.RememberRequest, r *remembering.Remembered) error {
	old := r.Nearest[0]
	_, err := fmt.Fprintf(c.App.Stderr, "replaces '%s' (%s)? [y/N] ", show.Brief(old.Text, show.SummaryWidth), old.Date)
	if err != nil {
		return err
	}
	key, err := c.App.Key()
	yes := err == nil && (key == 'y' || key == 'Y')
	if _, failed := fmt.Fprintln(c.App.Stderr, map[bool]string{true: "y", false: "n"}[yes]); !yes {
		return failed
	}
	mark := &editing.MarkRequest{Words: []string{"superseded", old.ID.String()}, By: r.ID.String()}
	mark.Actor, mark.OnBranch, mark.Signing = q.Actor, q.OnBranch, q.Signing
	if err := mark.Check(); err != nil {
		return err
	}
	return reach.Run(ctx, reach.Bind(editing.Mark, answers.Marked), c, mark)
}
