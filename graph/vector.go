package graph

import (
	"math"
	"slices"

	"github.com/mnem-project/mnem/internal/base/vector"
	"github.com/mnem-project/mnem/ipld"
)

// weightOne is the weight 1.0 of a sparse term.
const weightOne = 1 << 16

// SparseWeight is one entry of a sparse vector as given.
type SparseWeight struct {
	Term   string
	Weight float64
}

// Quantise returns a dense vector as i8, by the rule of package vector. An invalid vector is a *FieldError.
func Quantise(values []float64) ([]int8, error) {
	q, err := vector.Quantise(values)
	if err != nil {
		return nil, Fieldf("vector", "%v", err)
	}
	return q, nil
}

// checkDense returns the *FieldError of a dense vector that Quantise refuses.
func checkDense(values []float64) error {
	if _, err := vector.Largest(values); err != nil {
		return Fieldf("vector", "%v", err)
	}
	return nil
}

// NewDense returns the embedding of a dense vector in the form i8. text is the TextHash of the
// node.
func NewDense(model string, values []float64, text [32]byte) (*Embedding, error) {
	q, err := Quantise(values)
	if err != nil {
		return nil, err
	}
	data := make([]byte, len(q))
	for i, x := range q {
		data[i] = byte(x)
	}
	e := &Embedding{Model: model, DType: Int8, Dims: len(data), Data: data, Text: text}
	return e, e.Validate()
}

// SparseWeights returns the terms of a sparse vector, shorter first and then bytewise, with
// weights in units of 2^-16: RoundHalfEven(x·65536). A vector without terms or with more than
// MaxTerms, a term twice, and weights that do not round to 1 … 2^31-1 are refused with a
// *FieldError.
func SparseWeights(vector []SparseWeight) ([]Term, error) {
	if len(vector) == 0 || len(vector) > MaxTerms {
		return nil, Fieldf("sparse", "%d terms, want 1 to %d", len(vector), MaxTerms)
	}
	terms := make([]Term, len(vector))
	for i, v := range vector {
		if err := CheckText("sparse", v.Term, 1, MaxTerm); err != nil {
			return nil, err
		}
		scaled := math.RoundToEven(float64(v.Weight * weightOne))
		// The condition is false for NaN.
		if !(scaled >= 1 && scaled <= math.MaxInt32) {
			return nil, Fieldf("sparse."+v.Term, "weight %g is outside 2^-16 to 2^15", v.Weight)
		}
		terms[i] = Term{v.Term, int64(scaled)}
	}
	slices.SortFunc(terms, func(a, b Term) int { return ipld.CompareKeys(a.Term, b.Term) })
	for i := 1; i < len(terms); i++ {
		if terms[i].Term == terms[i-1].Term {
			return nil, Fieldf("sparse."+terms[i].Term, "given twice")
		}
	}
	return terms, nil
}

// NewSparse returns the embedding of a sparse vector. text is the TextHash of the node.
func NewSparse(model string, vector []SparseWeight, text [32]byte) (*Embedding, error) {
	terms, err := SparseWeights(vector)
	if err != nil {
		return nil, err
	}
	data := ipld.AppendMap(nil, len(terms))
	for _, t := range terms {
		data = ipld.AppendInt(ipld.AppendString(data, t.Term), t.Weight)
	}
	e := &Embedding{Model: model, DType: Sparse, Dims: len(terms), Data: data, Text: text}
	return e, e.Validate()
}
