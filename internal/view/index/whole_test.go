package index

import (
	"context"

	"github.com/mnem-project/mnem/graph"
)

// Text is Search for a query as it is written.
func (x *Index) Text(ctx context.Context, query string, accept Accept, k int) (TextResult, error) {
	return x.Search(ctx, x.Query(query), accept, k)
}

// TermScores is Split for a query as it is written.
func (x *Index) TermScores(ctx context.Context, query string, ids []graph.ID, only []int) (*TermScores, error) {
	return x.Split(ctx, x.Query(query), ids, only)
}

// Doc returns the live document of a node, and whether there is one.
func (x *Index) Doc(ctx context.Context, id graph.ID) (Doc, bool, error) {
	return x.Finder(ctx).Doc(id)
}
