package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/model"
	"github.com/mnem-project/mnem/model/rewrite"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
)

// keyRewriteModel is the key of the configuration that says what rewrites queries.
const keyRewriteModel = "rewrite.model"

var rewriteUse = &modelUse{
	name: "rewrite", providers: rewrite.Providers(), does: " that rewrites queries",
	limit: 30 * time.Second, limitHelp: "a model that rewrites", // chat models are slow
	check: func(spec string, opt model.Options) error { _, err := rewrite.Open(spec, opt); return err },
}

func rewriteKeys() []configKey {
	return append(append([]configKey{
		{keyRewriteModel, "MNEM_REWRITE_MODEL", "", "what rewrites queries: " +
			model.List(model.Specs(rewriteUse.providers), "or"),
			func(v string) error { return graph.CheckLine(keyRewriteModel, v, 1, maxEmbedSpec) }},
	}, rewriteUse.urlKeys()...), rewriteUse.timeoutKey())
}

// queryRewriter opens the chat model that rewrites queries, or writes cues: the one that flag names, "" for the
// one of the configuration.
func (c *cli) queryRewriter(spec, flag string, attempts int) (retrieve.Rewriter, error) {
	err := c.mayChooseModel(spec)
	if err != nil {
		return nil, err
	}
	if spec == "" {
		if spec, err = c.configured(keyRewriteModel); err != nil {
			return nil, err
		}
	}
	if spec == "" {
		return nil, c.noModel("no model to rewrite with: there are "+
			model.List(model.Specs(rewriteUse.providers), "and"), flag, keyRewriteModel)
	}
	opt, err := c.modelOptions(rewriteUse, spec, attempts)
	if err != nil {
		return nil, err
	}
	m, err := rewrite.Open(spec, opt)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", repo.ErrInvalid, strings.TrimRight(strings.TrimSuffix(flag, "SPEC"), " ="), err)
	}
	return queryRewriter{m}, nil
}
