package stage

import (
	"context"
	"errors"

	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// searchSparse asks for the list of one model.
func (f *finder) searchSparse(ctx context.Context, q retrieve.SparseVector) ([]source.Hit, error) {
	x, ok := f.x.(source.SparseVectors)
	if !ok {
		return nil, errors.New("this index has no sparse vectors")
	}
	res, err := x.Sparse(ctx, q, f.filter.Accept(ctx), laneDepth)
	if err != nil {
		return nil, err
	}
	if res.None {
		f.noSparse = append(f.noSparse, noVectors(retrieve.NoSparse, q.Model, res.Models))
	}
	return ranked(res.Hits), nil
}
