package line

import (
	"context"

	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/verb"
)

// Bound is a verb with what prints its answers for people.
type Bound struct {
	Spec *verb.Spec
	// Print prints an answer to a request, row returns the row of one table that an answer is: one of them is set.
	Print func(c *show.Console, req, answer any) error
	Row   func(c *show.Console, answer any) []show.Cell
	// Around is called in place of what runs the verb, which it is given; nil for most.
	Around func(ctx context.Context, c *Line, req any, run func(context.Context) error) error
}
