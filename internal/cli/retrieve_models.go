package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/model"
	"github.com/mnem-project/mnem/model/rerank"
	"github.com/mnem-project/mnem/model/rewrite"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
)

// keyRerankModel is the key of the configuration that says what judges items.
const keyRerankModel = "rerank.model"

var rerankUse = &modelUse{
	name: "rerank", providers: rerank.Providers(), limitHelp: "a reranker",
	limit: 10 * time.Second, // somebody waits for the answer
	check: func(spec string, opt model.Options) error { _, err := rerank.Open(spec, opt); return err },
}

func rerankKeys() []configKey {
	return append(append([]configKey{
		{keyRerankModel, "MNEM_RERANK_MODEL", "", "what judges items anew: local or PROVIDER:MODEL, as --rerank",
			checkRerankModel},
	}, rerankUse.urlKeys()...), rerankUse.timeoutKey())
}

// rerankSpecs lists what --rerank takes; before the last stands word.
func rerankSpecs(word string) string {
	specs := append([]string{retrieve.RerankLocal}, model.Specs(rerankUse.providers)...)
	last := len(specs) - 1
	return strings.Join(specs[:last], ", ") + word + " " + specs[last]
}

// checkRerankModel lets package rerank look at a spec: nothing is asked of anybody.
func checkRerankModel(v string) error {
	if v == retrieve.RerankLocal {
		return nil
	}
	if _, err := rerank.Open(v, model.Options{}); err != nil {
		return fmt.Errorf("%w: %s: want %s, or a model: %w", repo.ErrInvalid, keyRerankModel,
			retrieve.RerankLocal, err)
	}
	return nil
}

// rerankSpec returns what a value of --rerank names.
func (c *cli) rerankSpec(value string) (string, error) {
	if err := c.mayChooseModel(value); err != nil || value != modelConfigured {
		return value, err
	}
	spec, err := c.configured(keyRerankModel)
	if err == nil && spec == "" {
		err = c.noModel("no model to rerank with: there are "+rerankSpecs(" and"), "--rerank SPEC", keyRerankModel)
	}
	return spec, err
}

func (c *cli) openReranker(spec string) (*rerank.Reranker, error) {
	opt, err := c.modelOptions(rerankUse, spec, queryAttempts)
	if err != nil {
		return nil, err
	}
	m, err := rerank.Open(spec, opt)
	if err != nil {
		return nil, fmt.Errorf("%w: --rerank: want %s, or a model: %w", repo.ErrInvalid,
			retrieve.RerankLocal, err)
	}
	return m, nil
}

// tellingReranker says beside the answer why a reranker failed. The answer says only that it did,
// since it must come out the same without asking again.
type tellingReranker struct {
	*rerank.Reranker
	c *cli
}

func (r tellingReranker) Rerank(
	ctx context.Context, query string, texts []string,
) ([]int64, error) {
	scores, err := r.Reranker.Rerank(ctx, query, texts)
	if err != nil && ctx.Err() == nil {
		r.c.modelWarning(retrieve.FailedRerank, "%v", err)
	}
	return scores, err
}

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
