package reach

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/model"
	"github.com/mnem-project/mnem/internal/model/embed"
	"github.com/mnem-project/mnem/internal/state"
)

// Embedder opens what a spec names, or what is configured if it is empty. flag names
// one on the command line.
func Embedder(c *line.Line, spec, flag string, opt embed.OpenOptions) (embed.Embedder, error) {
	if err := MayChooseModel(c, spec); err != nil {
		return nil, err
	}
	kept := spec == ""
	if kept {
		var err error
		if spec, err = c.Configured(settings.EmbedModel); err != nil {
			return nil, err
		}
	}
	if spec == embed.BuiltIn || spec == "" && c.App.Meaning != nil {
		return builtIn(c, opt)
	}
	if spec == "" || spec == embed.Off {
		return nil, noModel(c, "no embedding model: there are hash (built in, needs nothing), static:DIR, "+
			model.List(model.Specs(embed.Remotes()), "or"), flag+"=SPEC", settings.EmbedModel)
	}
	dir, ok := strings.CutPrefix(spec, "static:")
	if ok && dir != "" {
		spec = "static:" + c.Absolute(dir)
	}
	var err error
	if opt.ProviderOptions, err = modelOptions(c, settings.Embed, spec, kept, opt.Attempts); err != nil {
		return nil, err
	}
	e, err := embed.Open(spec, opt)
	var path *fs.PathError
	if err != nil && !errors.As(err, &path) {
		err = fmt.Errorf("%w: %w", state.ErrInvalid, err)
	}
	return e, err
}

// builtIn returns the model that is a part of the program.
func builtIn(c *line.Line, opt embed.OpenOptions) (embed.Embedder, error) {
	if c.App.Meaning == nil {
		return nil, line.Hint(fmt.Errorf("%w: this program was built without a model of its own", state.ErrInvalid),
			"name another one: there are %s", model.List(embed.Specs(), "and"))
	}
	return embed.OpenExact(c.App.Meaning, opt.Progress), nil
}

// documents is a model as what embeds nodes.
type documents struct{ embed.Embedder }

// MaxText implements verb.Embedder.
func (documents) MaxText() int { return embed.MaxText }

// Vectors implements verb.Embedder.
func (d documents) Vectors(ctx context.Context, texts []string) ([][]int8, error) {
	return d.Embed(ctx, texts, embed.Document)
}

// WithModels puts the models there are into a help text. Nearly all texts name none: they are returned as they are,
// since every start of the program passes all of them.
func WithModels(text string) string {
	if !strings.Contains(text, "$") {
		return text
	}
	return strings.NewReplacer("$EMBEDDERS", model.List(embed.Specs(), "or"),
		"$REMOTE_EMBEDDERS", model.List(model.Specs(embed.Remotes()), "or"),
		"$RERANKERS", rerankSpecs(","), "$REWRITERS", model.List(model.Specs(settings.Rewrite.Providers), "or"),
	).Replace(text)
}
