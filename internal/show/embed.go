package show

import (
	"fmt"

	"github.com/mnem-project/mnem/ops"
)

func (c *Console) Embedded(out *ops.Embedded) error {
	verb, place := "embedded", ""
	switch {
	case out.DryRun:
		verb = "would embed"
	case out.Commits > 0:
		place = fmt.Sprintf("%s ", c.at(out.Branch, out.Commit))
	}
	text := fmt.Sprintf("%s%s %s with %s", place, verb, plural(out.Embedded, "node"), line(out.Model))
	if out.Dim != nil {
		text += fmt.Sprintf(" (%s)", plural(*out.Dim, "dimension"))
	}
	for _, n := range []struct {
		count int
		what  string
	}{
		{out.Unchanged, "unchanged"}, {out.Stale, "stale"}, {out.Skipped, "without text to embed"},
		{out.TooLong, "too long"}, {out.Remaining, "left by --limit"},
	} {
		if n.count > 0 {
			text += fmt.Sprintf(", %d %s", n.count, n.what)
		}
	}
	c.put("%s\n", text)
	if out.Stale > 0 {
		c.Remark("note: stale embeddings are of an older text of their nodes; --stale embeds them anew")
	}
	return nil
}
