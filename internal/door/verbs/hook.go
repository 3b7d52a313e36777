package verbs

import (
	"context"

	"github.com/mnem-project/mnem/internal/door/answers"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/verb/asking"
)

// bindLast binds the verb that tells what an agent was given, and says so if that is nothing.
func bindLast() *line.Bound {
	v := reach.Bind(asking.Last, answers.Last)
	v.Around = func(ctx context.Context, c *line.Line, _ any, run func(context.Context) error) error {
		err := run(ctx)
		if err == nil && c.Answers == 0 {
			c.Remark("nothing was given to an agent yet")
		}
		return err
	}
	return v
}
