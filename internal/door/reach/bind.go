package reach

import (
	"context"
	"errors"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/verb"
)

// Bind binds a verb to what prints its answers.
func Bind[Req, Res any](v *verb.Verb[Req, Res], print func(*show.Console, Res) error) *line.Bound {
	return &line.Bound{Spec: &v.Spec, Print: func(c *show.Console, _, answer any) error {
		return print(c, answer.(Res))
	}}
}

// BindAs is bind for answers that are printed as the request says.
func BindAs[Req, Res any](v *verb.Verb[Req, Res], print func(*show.Console, *Req, Res) error) *line.Bound {
	return &line.Bound{Spec: &v.Spec, Print: func(c *show.Console, req, answer any) error {
		return print(c, req.(*Req), answer.(Res))
	}}
}

// BindTable is bind for a stream whose answers are rows of one table.
func BindTable[Req, Res any](v *verb.Verb[Req, Res], row func(*show.Console, Res) []show.Cell) *line.Bound {
	return &line.Bound{Spec: &v.Spec, Row: func(c *show.Console, answer any) []show.Cell {
		return row(c, answer.(Res))
	}}
}

// Plain binds a verb whose answers are printed by their names: one as names and values, any number as a table.
func Plain(spec *verb.Spec) *line.Bound {
	if spec.Stream() {
		return &line.Bound{Spec: spec, Row: show.FieldRow}
	}
	return &line.Bound{Spec: spec, Print: func(c *show.Console, _, answer any) error { return show.Fields(c, answer) }}
}

// Run runs a verb with a request of its own and prints the answers.
func Run(ctx context.Context, v *line.Bound, c *line.Line, req any) error {
	if err := permits(c, v, req); err != nil {
		return err
	}
	once := func(ctx context.Context) error { return answer(ctx, v, c, req) }
	if v.Around != nil {
		return v.Around(ctx, c, req, once)
	}
	return once(ctx)
}

func answer(ctx context.Context, v *line.Bound, c *line.Line, req any) error {
	c.Answers, c.Long = 0, v.Spec.Long
	var rows [][]show.Cell
	err := Ask(ctx, c, v.Spec, req, func(answer any) error {
		c.Answers++
		worked(c)
		if namesGit(req) {
			if err := nameGit(ctx, c, answer); err != nil {
				return err
			}
		}
		switch {
		case c.InJSON:
			return c.PrintJSON(answer)
		case v.Row == nil:
			return v.Print(&c.Console, req, answer)
		}
		if r := v.Row(&c.Console, answer); r != nil {
			rows = append(rows, r)
		}
		return nil
	})
	worked(c)
	var news *verb.News
	if errors.As(err, &news) {
		c.Exit, err = news.Outcome.Exit, nil
	}
	return line.FirstError(err, c.Table(rows))
}
