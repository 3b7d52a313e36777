package source

import (
	"context"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/retrieve"
)

// MaxModelsNamed is the largest number of models that the warning NoVectors names.
const MaxModelsNamed = 16

// Vectors is the ability of an Index to find documents by their embeddings. A request with vectors
// needs it.
type Vectors interface {
	// Dense returns the best k accepted documents by the cosine of their dense embedding by the
	// query's model (clause 9.5), in the order (score descending, id ascending). If there are too
	// many to compare all, those on the shortlist are compared exactly.
	Dense(
		ctx context.Context, q retrieve.QueryVector, accept Accept, k int, list Shortlist,
	) (DenseResult, error)
	// Embedding returns a node's embedding by a model, which a lane has found.
	Embedding(ctx context.Context, id graph.ID, model string) (*graph.Embedding, error)
}

// DenseResult is the answer of a dense lane.
type DenseResult struct {
	Hits   []Hit    // by the cosine
	Own    []Hit    // the same hits by their own part of the cosine, if requested
	Other  int      // embeddings of the model that have other dimensions than the query
	None   bool     // whether there is no dense embedding of the model
	Models []string // where None: the first MaxModelsNamed models there are, ascending
}
