package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/model"
	"github.com/mnem-project/mnem/internal/model/rerank"
	"github.com/mnem-project/mnem/internal/model/rewrite"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/state"
)

// rerankSpecs lists what --rerank takes; before the last stands word.
func rerankSpecs(word string) string {
	specs := model.Specs(settings.Rerank.Providers)
	last := len(specs) - 1
	return strings.Join(specs[:last], ", ") + word + " " + specs[last]
}

// rerankSpec returns what a value of --rerank names.
func (c *cli) rerankSpec(value string) (string, error) {
	if err := c.mayChooseModel(value); err != nil || value != modelConfigured {
		return value, err
	}
	spec, err := c.configured(settings.RerankModel)
	if err == nil && spec == "" {
		err = c.noModel("no model to rerank with: there are "+rerankSpecs(" and"), "--rerank SPEC", settings.RerankModel)
	}
	return spec, err
}

func (c *cli) openReranker(spec string) (*rerank.Reranker, error) {
	opt, err := c.modelOptions(settings.Rerank, spec, queryAttempts)
	if err != nil {
		return nil, err
	}
	m, err := rerank.Open(spec, opt)
	if err != nil {
		return nil, fmt.Errorf("%w: --rerank: want a model: %w", state.ErrInvalid, err)
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
		r.c.modelWarning(complete.FailedRerank, "%v", err)
	}
	return scores, err
}

// queryRewriter opens the chat model that rewrites queries, or writes cues: the one that flag names, "" for the
// one of the configuration.
func (c *cli) queryRewriter(spec, flag string, attempts int) (complete.Rewriter, error) {
	err := c.mayChooseModel(spec)
	if err != nil {
		return nil, err
	}
	if spec == "" {
		if spec, err = c.configured(settings.RewriteModel); err != nil {
			return nil, err
		}
	}
	if spec == "" {
		return nil, c.noModel("no model to rewrite with: there are "+
			model.List(model.Specs(settings.Rewrite.Providers), "and"), flag, settings.RewriteModel)
	}
	opt, err := c.modelOptions(settings.Rewrite, spec, attempts)
	if err != nil {
		return nil, err
	}
	m, err := rewrite.Open(spec, opt)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", state.ErrInvalid, strings.TrimRight(strings.TrimSuffix(flag, "SPEC"), " ="), err)
	}
	return queryRewriter{m}, nil
}
