package stage

import (
	"context"
	"errors"

	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// searchSparse asks for the list of one model.
func (r *run) searchSparse(ctx context.Context, q retrieve.SparseVector) ([]source.Hit, error) {
	x, ok := r.x.(source.SparseVectors)
	if !ok {
		return nil, errors.New("this index has no sparse vectors")
	}
	res, err := x.Sparse(ctx, q, r.filter.Accept(ctx), laneDepth)
	if err != nil {
		return nil, err
	}
	if res.None {
		r.noSparse = append(r.noSparse, noVectors(retrieve.NoSparse, q.Model, res.Models))
	}
	return ranked(res.Hits), nil
}
