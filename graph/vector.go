package graph

import (
	"math"
	"slices"

	"github.com/mnem-project/mnem/ipld"
)

const (
	// int8Max is the quantised value of the component with the largest absolute value.
	int8Max = 127
	// weightOne is the weight 1.0 of a sparse term.
	weightOne = 1 << 16
)

// SparseWeight is one entry of a sparse vector as it was given.
type SparseWeight struct {
	Term   string
	Weight float64
}

// Quantise returns a dense vector as i8: RoundHalfEven(x·127/m), where m is the largest absolute
// value. This is the one place where floats turn into what is stored, and each operation is
// rounded by a conversion of its own: the language forbids to fuse those. An empty vector, one of
// more than MaxDims dimensions, zeros, NaN, infinities, and values whose product with 127 is
// infinite are refused with a *FieldError.
func Quantise(vector []float64) ([]int8, error) {
	m, err := largest(vector)
	if err != nil {
		return nil, err
	}
	out := make([]int8, len(vector))
	for i, x := range vector {
		product := float64(x * int8Max)
		out[i] = int8(math.RoundToEven(float64(product / m)))
	}
	return out, nil
}

// largest checks a dense vector and returns its largest absolute value.
func largest(vector []float64) (float64, error) {
	if len(vector) == 0 || len(vector) > MaxDims {
		return 0, Fieldf("vector", "%d dimensions, want 1 to %d", len(vector), MaxDims)
	}
	m := 0.0
	for i, x := range vector {
		if math.IsNaN(x) || math.Abs(x) > math.MaxFloat64/int8Max {
			return 0, Fieldf("vector", "number at position %d is too large or not a number", i)
		}
		m = max(m, math.Abs(x))
	}
	if m == 0 {
		return 0, Fieldf("vector", "all zeros")
	}
	return m, nil
}

// NewDense returns the embedding of a dense vector in the form i8. text is the TextHash of the
// node.
func NewDense(model string, vector []float64, text [32]byte) (*Embedding, error) {
	q, err := Quantise(vector)
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
