package retrieve

import (
	"errors"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// Bounds of the sparse vectors of a request: clause 8.1. They keep a receipt within one block.
const (
	MaxSparseTerms = 1024   // of one vector
	MaxSparseBytes = 65_536 // of the terms of all vectors
)

// SparseVector is a query as a learned-sparse model sees it. It is compared with the sparse
// embeddings of that model, in a lane of its own.
type SparseVector struct {
	Model string // 1 to graph.MaxModel bytes of UTF-8 without NUL
	// Terms are 1 to MaxSparseTerms, each of another name of 1 to graph.MaxTerm bytes of UTF-8,
	// shorter names first and then bytewise. They must not be changed.
	Terms []graph.Term
}

// NewSparseVector rounds the weights as those of nodes are (graph.SparseWeights). It returns a
// *RequestError for what cannot be a vector.
func NewSparseVector(model string, weights []graph.SparseWeight) (SparseVector, error) {
	terms, err := graph.SparseWeights(weights)
	if err != nil {
		return SparseVector{}, badSparse(model, err)
	}
	v := SparseVector{Model: model, Terms: terms}
	return v, v.validate()
}

// badSparse names the model whose vector was refused.
func badSparse(model string, err error) error {
	reason := err.Error()
	var field *graph.FieldError
	if errors.As(err, &field) {
		reason = field.Reason
		if _, term, ok := strings.Cut(field.Field, "."); ok {
			reason = shortQuote(term) + ": " + reason
		}
	}
	return badParam("sparse", "%s: %s", shortQuote(model), reason)
}

// ParseSparseVector reads a vector from a JSON object of terms and their weights.
func ParseSparseVector(model string, v ipld.Value) (SparseVector, error) {
	if v.Kind() != ipld.Map {
		return SparseVector{}, badParam("sparse", "%s: %s, want an object of terms and weights",
			shortQuote(model), v.Kind())
	}
	weights := make([]graph.SparseWeight, 0, len(v.Entries()))
	for _, e := range v.Entries() {
		x, ok := e.Value.Number()
		if !ok {
			return SparseVector{}, badParam("sparse", "%s: %s: %s, want a number",
				shortQuote(model), shortQuote(e.Key), e.Value.Kind())
		}
		weights = append(weights, graph.SparseWeight{Term: e.Key, Weight: x})
	}
	return NewSparseVector(model, weights)
}

func (v SparseVector) validate() error {
	if err := checkModel(v.Model); err != nil {
		return badSparse(v.Model, err)
	}
	if n := len(v.Terms); n == 0 || n > MaxSparseTerms {
		return badParam("sparse", "%s: %d terms, want 1 to %d", shortQuote(v.Model), n, MaxSparseTerms)
	}
	for i, t := range v.Terms {
		if err := graph.CheckTerm(t); err != nil {
			return badSparse(v.Model, err)
		}
		if i > 0 && ipld.CompareKeys(v.Terms[i-1].Term, t.Term) >= 0 {
			return badParam("sparse", "%s: %s is not in its place, or given twice",
				shortQuote(v.Model), shortQuote(t.Term))
		}
	}
	return nil
}

var sparseVectors = keyed[SparseVector]{
	many: "vectors", two: "vectors of the model", most: MaxVectors,
	at:       func(r *Request) *[]SparseVector { return &r.Sparse },
	key:      func(v SparseVector) string { return v.Model },
	validate: SparseVector.validate,
	parse:    ParseSparseVector,
	value: func(v SparseVector) ipld.Value {
		terms := make([]ipld.Entry, len(v.Terms))
		for i, t := range v.Terms {
			terms[i] = ipld.Entry{Key: t.Term, Value: ipld.IntValue(t.Weight)}
		}
		return ipld.MapValue(terms...)
	},
	item: func(model string, v ipld.Value) SparseVector {
		q := SparseVector{Model: model}
		for _, t := range v.Entries() {
			q.Terms = append(q.Terms, graph.Term{Term: t.Key, Weight: t.Value.Int()})
		}
		return q
	},
}

func (r *Request) checkSparse() error {
	if err := sparseVectors.check("sparse", r.Sparse); err != nil {
		return err
	}
	size := 0
	for _, v := range r.Sparse {
		for _, t := range v.Terms {
			size += len(t.Term)
		}
	}
	if size > MaxSparseBytes {
		return badParam("sparse", "terms of %d bytes, limit %d", size, MaxSparseBytes)
	}
	return nil
}
