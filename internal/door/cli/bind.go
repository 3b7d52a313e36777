package cli

import (
	"context"
	"errors"

	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/verb"
)

// bound is a verb with what prints its answers for people.
type bound struct {
	spec *verb.Spec
	// print prints an answer to a request, row returns the row of one table that an answer is: one of them is set.
	print func(c *show.Console, req, answer any) error
	row   func(c *show.Console, answer any) []show.Cell
	// around is called in place of what runs the verb, which it is given; nil for most.
	around func(ctx context.Context, c *cli, req any, run func(context.Context) error) error
}

// bind binds a verb to what prints its answers.
func bind[Req, Res any](v *verb.Verb[Req, Res], print func(*show.Console, Res) error) *bound {
	return &bound{spec: &v.Spec, print: func(c *show.Console, _, answer any) error {
		return print(c, answer.(Res))
	}}
}

// bindAs is bind for answers that are printed as the request says.
func bindAs[Req, Res any](v *verb.Verb[Req, Res], print func(*show.Console, *Req, Res) error) *bound {
	return &bound{spec: &v.Spec, print: func(c *show.Console, req, answer any) error {
		return print(c, req.(*Req), answer.(Res))
	}}
}

// bindTable is bind for a stream whose answers are rows of one table.
func bindTable[Req, Res any](v *verb.Verb[Req, Res], row func(*show.Console, Res) []show.Cell) *bound {
	return &bound{spec: &v.Spec, row: func(c *show.Console, answer any) []show.Cell {
		return row(c, answer.(Res))
	}}
}

// run runs a verb with a request of its own and prints the answers.
func (v *bound) run(ctx context.Context, c *cli, req any) error {
	if err := c.permits(v, req); err != nil {
		return err
	}
	once := func(ctx context.Context) error { return v.answer(ctx, c, req) }
	if v.around != nil {
		return v.around(ctx, c, req, once)
	}
	return once(ctx)
}

func (v *bound) answer(ctx context.Context, c *cli, req any) error {
	c.Answers, c.long = 0, v.spec.Long
	var rows [][]show.Cell
	err := c.ask(ctx, v.spec, req, func(answer any) error {
		c.Answers++
		c.worked()
		if namesGit(req) {
			if err := c.nameGit(ctx, answer); err != nil {
				return err
			}
		}
		switch {
		case c.InJSON:
			return c.PrintJSON(answer)
		case v.row == nil:
			return v.print(&c.Console, req, answer)
		}
		if r := v.row(&c.Console, answer); r != nil {
			rows = append(rows, r)
		}
		return nil
	})
	c.worked()
	var news *verb.News
	if errors.As(err, &news) {
		c.exit, err = news.Outcome.Exit, nil
	}
	return firstError(err, c.Table(rows))
}
