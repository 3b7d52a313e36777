package retrieve

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// Bounds of the sparse vectors of a request: clause 8.1. They keep a receipt within one block.
const (
	MaxSparseTerms = 1024   // of one vector
	MaxSparseBytes = 65_536 // of the terms of all vectors
)

// NoSparse warns that no node has a sparse vector of a model: clause 11.1.
const NoSparse Code = "no_sparse_vectors"

// sparseInfos documents the codes of this file.
var sparseInfos = []WarningInfo{{
	Code:    NoSparse,
	When:    "no node has a sparse vector of the model of a sparse query vector",
	Message: "no node has a sparse vector of the model {model}",
	Remedy:  "commit sparse embeddings of it, or name another model with --vector; there are: {models}",
}}

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
		return badParam("sparse", "%s: %d terms, want 1 to %d", shortQuote(v.Model), n,
			MaxSparseTerms)
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

func (r *Request) checkSparse() error {
	if len(r.Sparse) > MaxVectors {
		return badParam("sparse", "%d vectors, limit %d", len(r.Sparse), MaxVectors)
	}
	size := 0
	for i, v := range r.Sparse {
		if err := v.validate(); err != nil {
			return err
		}
		for _, t := range v.Terms {
			size += len(t.Term)
		}
		for _, other := range r.Sparse[:i] {
			if other.Model == v.Model {
				return badParam("sparse", "two vectors of the model %s", shortQuote(v.Model))
			}
		}
	}
	if size > MaxSparseBytes {
		return badParam("sparse", "terms of %d bytes, limit %d", size, MaxSparseBytes)
	}
	return nil
}

// sortedSparse returns a copy in bytewise order of the models, nil for the empty list.
func sortedSparse(list []SparseVector) []SparseVector {
	if len(list) == 0 {
		return nil
	}
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b SparseVector) int { return cmp.Compare(a.Model, b.Model) })
	return out
}

// encodeSparse returns a map of models to maps of terms to weights.
func encodeSparse(list []SparseVector) ipld.Value {
	models := make([]ipld.Entry, len(list))
	for i, v := range list {
		terms := make([]ipld.Entry, len(v.Terms))
		for j, t := range v.Terms {
			terms[j] = ipld.Entry{Key: t.Term, Value: ipld.IntValue(t.Weight)}
		}
		models[i] = ipld.Entry{Key: v.Model, Value: ipld.MapValue(terms...)}
	}
	return ipld.MapValue(models...)
}

func decodeSparse(v ipld.Value) []SparseVector {
	var list []SparseVector
	for _, e := range v.Entries() {
		q := SparseVector{Model: e.Key}
		for _, t := range e.Value.Entries() {
			q.Terms = append(q.Terms, graph.Term{Term: t.Key, Weight: t.Value.Int()})
		}
		list = append(list, q)
	}
	return list
}
