package complete

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// What models do for a request, as Models.Failed is told.
const (
	FailedEmbed   = "embed"
	FailedRewrite = "rewrite"
	FailedRerank  = "rerank"
)

// Embedder makes vectors of queries.
type Embedder interface {
	// Model names it: 1 to graph.MaxModel bytes.
	Model() string
	// Embed returns the vectors of a query, unless that is empty, and of texts that may answer it, in their
	// order: nil for one that the model finds nothing in.
	Embed(ctx context.Context, query string, answers []string) ([][]int8, error)
}

// Knower is an Embedder that reports how well it knows the words of texts.
type Knower interface {
	// Whole returns how many of 1,000 pieces of some texts are whole words, and whether there are any.
	Whole(texts ...string) (permille int, ok bool)
}

// Rewriter puts a query into other words, by a way of Request.Rewrite.
type Rewriter interface {
	Rewrite(ctx context.Context, way, query string, n int) ([]string, error)
}

// Models complete requests before they are answered. A model that fails leaves the request to what
// else it has.
type Models struct {
	Embedder Embedder // nil for none
	Rewriter Rewriter // nil for none
	Rewrites int      // texts that the Rewriter makes of a query
	// Failed is told that a model failed, and at what; the answer does not say so.
	Failed func(use string, err error)
}

// Complete adds to a request the rewrites that it asks for and does not have, and the vector of its
// text unless it has one by that model: with hypothetical answers the mean of that and theirs. With the vector comes the
// share of whole words, if the model is a Knower. It
// refuses a request that names a reranker which it does not have.
func (m *Models) Complete(ctx context.Context, r retrieve.Request) (retrieve.Request, error) {
	if r.Rerank != "" && r.Reranker == nil && len(r.Reranked) == 0 {
		return r, source.Reject("rerank", "%q is not asked here: name it with --set rerank too, or give "+
			"\"reranked\"", r.Rerank)
	}
	if strings.TrimSpace(r.Text) == "" {
		return r, nil
	}
	if m.Rewriter != nil && r.Rewrite != "" && len(r.Rewrites) == 0 {
		texts, err := m.Rewriter.Rewrite(ctx, r.Rewrite, r.Text, m.Rewrites)
		switch {
		case ctx.Err() != nil:
			return r, err
		case err != nil:
			m.Failed(FailedRewrite, err)
		default:
			r.Rewrites = texts
		}
	}
	if m.Embedder == nil || HasVector(r, m.Embedder.Model()) || len(r.Vectors) == retrieve.MaxVectors {
		return r, nil
	}
	v, whole, err := m.embed(ctx, &r)
	switch {
	case ctx.Err() != nil:
		return r, err
	case err != nil:
		m.Failed(FailedEmbed, err)
	default:
		r.Vectors = append(slices.Clone(r.Vectors), v)
		r.Whole = slices.Concat(r.Whole, whole)
	}
	return r, nil
}

// embed returns the vector of a request's texts, and how well its model knows their words if it is a Knower.
func (m *Models) embed(
	ctx context.Context, r *retrieve.Request,
) (v retrieve.QueryVector, whole []retrieve.WholeWords, err error) {
	var answers []string
	if r.Rewrite == retrieve.RewriteHyde {
		answers = r.Rewrites
	}
	model := m.Embedder.Model()
	vectors, err := m.Embedder.Embed(ctx, r.Text, answers)
	vectors = slices.DeleteFunc(vectors, func(v []int8) bool { return v == nil })
	if err == nil && len(vectors) == 0 {
		return v, nil, fmt.Errorf("the model %s finds nothing to embed in the query", model)
	}
	if err == nil {
		v, err = MeanVector(model, vectors...)
	}
	if err != nil {
		return v, nil, fmt.Errorf("%w: the answer is without embeddings", err)
	}
	if k, tells := m.Embedder.(Knower); tells {
		if share, ok := k.Whole(append([]string{r.Text}, answers...)...); ok {
			whole = []retrieve.WholeWords{{Model: model, Share: share}}
		}
	}
	return v, whole, nil
}

// HasVector reports whether a request has the query as a model sees it.
func HasVector(r retrieve.Request, model string) bool {
	return slices.ContainsFunc(r.Vectors, func(v retrieve.QueryVector) bool { return v.Model == model })
}
