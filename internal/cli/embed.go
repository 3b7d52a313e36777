package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/model"
	"github.com/mnem-project/mnem/model/embed"
	"github.com/mnem-project/mnem/ops"
)

// documents is a model as what embeds nodes.
type documents struct{ embed.Embedder }

// MaxText implements ops.Embedder.
func (documents) MaxText() int { return embed.MaxText }

// Documents implements ops.Embedder.
func (d documents) Documents(ctx context.Context, texts []string) ([][]int8, error) {
	return d.Embed(ctx, texts, embed.Document)
}

// withModels puts the models there are into a help text.
func withModels(text string) string {
	return strings.NewReplacer("$EMBEDDERS", model.List(embed.Specs(), "or"),
		"$REMOTE_EMBEDDERS", model.List(model.Specs(embed.Remotes()), "or"),
		"$RERANKERS", rerankSpecs(","), "$REWRITERS", model.List(model.Specs(rewriteUse.providers), "or"),
	).Replace(text)
}

func (c *cli) printEmbedded(out *ops.Embedded) error {
	verb, place := "embedded", ""
	switch {
	case out.DryRun:
		verb = "would embed"
	case out.Commits > 0:
		place = fmt.Sprintf("[%s %s] ", c.paint(styleCyan, line(out.Branch)),
			c.paint(styleYellow, shortCID(out.Commit)))
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
	if err := c.printf("%s\n", text); err != nil {
		return err
	}
	if out.Stale > 0 {
		c.remark("note: stale embeddings are of an older text of their nodes; --stale embeds them anew")
	}
	return nil
}
