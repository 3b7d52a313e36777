package rank

import (
	"cmp"
	"context"
	"fmt"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/view"
	"github.com/mnem-project/mnem/internal/view/dense"
	"github.com/mnem-project/mnem/internal/view/index"
	"github.com/mnem-project/mnem/retrieve"
)

// Dense ranks the nodes that have a dense embedding of the query's model.
func (v indexView) Dense(
	ctx context.Context, q retrieve.QueryVector, accept source.Accept, k int,
	list source.Shortlist,
) (source.DenseResult, error) {
	x, err := v.s.Dense(ctx)
	if err != nil || x == nil {
		return source.DenseResult{None: true}, err
	}
	got, err := x.Search(ctx, dense.Query{
		Model: q.Model, Values: q.Values, Accept: v.acceptID(ctx, accept), K: k,
		Shortlist: list.Most, Near: list.Near,
		Peers: dense.Peers{Most: list.Peers, Ease: list.Ease},
	})
	res := source.DenseResult{Hits: got.Hits, Own: got.Own, Other: got.Other, None: got.None}
	if err == nil && got.None {
		res.Models, err = x.Models(ctx, source.MaxModelsNamed)
	}
	return res, err
}

// Sparse ranks the nodes that have a sparse embedding of the query's model. Vectors that are in
// memory are scanned there; the first query of a model at a commit reads them all, and where they
// are more than the cache may hold so does every one.
func (v indexView) Sparse(
	ctx context.Context, q retrieve.SparseVector, accept source.Accept, k int,
) (source.SparseResult, error) {
	st := v.s.State
	set, err := v.s.Repo.Vectors.Vectors(ctx, st, q.Model)
	if err != nil {
		return source.SparseResult{}, err
	}
	search := index.NewSparseSearch(q.Terms, v.acceptID(ctx, accept), k)
	if set.Sparse != nil {
		err := set.Sparse.Search(ctx, search)
		return source.SparseResult{
			Hits: search.Hits(), None: set.Sparse.Rows() == 0, Models: set.Models,
		}, err
	}
	err = view.EachSparse(ctx, st, q.Model, search.Offer)
	return source.SparseResult{Hits: search.Hits()}, err
}

// acceptID asks a filter about the document of a node; a node that is none was erased.
func (v indexView) acceptID(
	ctx context.Context, accept source.Accept,
) func(graph.ID) (bool, error) {
	find := v.Finder(ctx)
	return func(id graph.ID) (bool, error) {
		d, ok, err := find.Doc(id)
		if err != nil || !ok {
			return false, err
		}
		ok, err = accept(document{d})
		return ok, cmp.Or(err, d.Err())
	}
}

// Embedding returns the embedding of a node by a model.
func (v indexView) Embedding(ctx context.Context, id graph.ID, model string) (*graph.Embedding, error) {
	item, ok, err := v.s.State.Vectors.Get(ctx, graph.EmbeddingKey(id, model))
	var e *graph.Embedding
	if err == nil && ok {
		e, err = view.Embedding(ctx, v.s.State, item)
	}
	if err == nil && e == nil { // a purge has just erased it: the retrieval begins again
		err = fmt.Errorf("embedding of %s by %q: %w", id, model, source.ErrNoNode)
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}
