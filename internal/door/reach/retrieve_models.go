package reach

import (
	"context"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/model"
	"github.com/mnem-project/mnem/internal/model/rerank"
	"github.com/mnem-project/mnem/internal/model/rewrite"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/state"
)

// rerankSpecs lists the values of rerank, with word before the last.
func rerankSpecs(word string) string {
	specs := model.Specs(settings.Rerank.Providers)
	last := len(specs) - 1
	return strings.Join(specs[:last], ", ") + word + " " + specs[last]
}

// openReranker opens the reranker of a value of rerank, nil for "".
func openReranker(c *line.Line, spec string) (*rerank.Reranker, error) {
	if err := MayChooseModel(c, spec); err != nil || spec == "" {
		return nil, err
	}
	kept := spec == ModelConfigured
	if kept {
		var err error
		if spec, err = c.Configured(settings.RerankModel); err != nil {
			return nil, err
		}
	}
	if spec == "" {
		return nil, noModel(c, "no model to rerank with: there are "+rerankSpecs(" and"), "--set rerank=SPEC", settings.RerankModel)
	}
	opt, err := modelOptions(c, settings.Rerank, spec, kept, QueryAttempts)
	if err != nil {
		return nil, err
	}
	m, err := rerank.Open(spec, opt)
	if err != nil {
		return nil, fmt.Errorf("%w: rerank: want a model: %w", state.ErrInvalid, err)
	}
	return m, nil
}

// tellingReranker prints why a reranker failed. The answer says only that it did, since it must be the same when it is
// replayed without the model.
type tellingReranker struct {
	*rerank.Reranker
	c *line.Line
}

func (r tellingReranker) Rerank(
	ctx context.Context, query string, texts []string,
) ([]int64, error) {
	scores, err := r.Reranker.Rerank(ctx, query, texts)
	if err != nil && ctx.Err() == nil {
		modelWarning(r.c, complete.FailedRerank, "%v", err)
	}
	return scores, err
}

// openQueryRewriter opens the chat model that rewrites queries or writes cues: the one that flag names, "" for the
// configured one.
func openQueryRewriter(c *line.Line, spec, flag string, attempts int) (complete.Rewriter, error) {
	err := MayChooseModel(c, spec)
	if err != nil {
		return nil, err
	}
	kept := spec == ""
	if kept {
		if spec, err = c.Configured(settings.RewriteModel); err != nil {
			return nil, err
		}
	}
	if spec == "" {
		return nil, noModel(c, "no model to rewrite with: there are "+
			model.List(model.Specs(settings.Rewrite.Providers), "and"), flag, settings.RewriteModel)
	}
	opt, err := modelOptions(c, settings.Rewrite, spec, kept, attempts)
	if err != nil {
		return nil, err
	}
	m, err := rewrite.Open(spec, opt)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", state.ErrInvalid, strings.TrimRight(strings.TrimSuffix(flag, "SPEC"), " ="), err)
	}
	return queryRewriter{m}, nil
}
