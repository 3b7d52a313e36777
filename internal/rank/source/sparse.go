package source

import (
	"context"

	"github.com/mnem-project/mnem/retrieve"
)

// SparseVectors is the ability of an Index to find documents by their sparse embeddings. A request
// with sparse vectors needs it.
type SparseVectors interface {
	Vectors
	// Sparse returns the best k accepted documents by the product of their sparse embedding by the
	// query's model with the query (clause 9.7), in the order (score descending, id ascending).
	Sparse(ctx context.Context, q retrieve.SparseVector, accept Accept, k int) (SparseResult, error)
}

// SparseResult is the answer of a sparse lane.
type SparseResult struct {
	Hits   []Hit
	None   bool     // whether there is no sparse embedding of the model
	Models []string // where None: the first MaxModelsNamed models there are, ascending
}
