package cli

import (
	"context"
	"strings"

	"github.com/mnem-project/mnem/internal/settings"
	"github.com/mnem-project/mnem/model"
	"github.com/mnem-project/mnem/model/embed"
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
		"$RERANKERS", rerankSpecs(","), "$REWRITERS", model.List(model.Specs(settings.Rewrite.Providers), "or"),
	).Replace(text)
}
