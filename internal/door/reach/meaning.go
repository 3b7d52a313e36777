package reach

import (
	"context"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/show"
)

// embedsLeft reports whether nodes that a write leaves without vectors are embedded afterwards. If commits are signed
// they are not, since no key would sign those commits.
func embedsLeft(c *line.Line) (bool, error) {
	m, err := c.Meaning()
	if m == nil || err != nil {
		return false, err
	}
	sign, err := c.Configured("sign")
	if err != nil || sign == "true" {
		return false, err
	}
	required, err := c.Configured("require-signed")
	return required == "" || required == "none", err
}

// embedLeft embeds what writes left without vectors, when their answers are out: at most core.LeftNodes nodes, as other
// commands wait. What goes wrong is a remark: the writes succeeded, and 'mnem embed' goes on.
func embedLeft(ctx context.Context, c *line.Line, r *core.Repo) {
	select {
	case <-r.Embeddings().Left():
	default:
		return
	}
	embeds, err := embedsLeft(c)
	if !embeds && err == nil || ctx.Err() != nil || c.Out.Flush() != nil {
		return
	}
	left := 0
	p := c.Progress()
	defer p.Done()
	if err == nil {
		left, err = r.Embeddings().Few(ctx, c.App.Meaning, func(done, total int) { p.Set("embedded:", done, total) })
	}
	switch lacking, _ := r.Embeddings().Missing(ctx); {
	case err != nil:
		c.Remark("note: some nodes have no vectors yet, 'mnem embed' makes them: %s", line.OneLine(err.Error()))
	case left > 0 && lacking <= core.LeftNodes: // else the answer says it
		c.Remark("note: %s have vectors of older texts, 'mnem embed --stale' makes new ones", show.Plural(left, "node"))
	}
}
