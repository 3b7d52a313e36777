package complete

import (
	"slices"

	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// meanBits are the bits of the fraction in which directions are added: clause 22.1.
const meanBits = 32

// MeanVector returns the vector that lies amidst others of one model, whatever the lengths of these:
// what a text and a hypothetical answer to it have in common. Of one vector it is that one, and where
// they cancel each other the first. It takes 1 to MaxRewrites+1 vectors of the same dimensions, of a text first and
// then of its rewrites, and returns a *RequestError for others.
func MeanVector(model string, vectors ...[]int8) (retrieve.QueryVector, error) {
	if n := len(vectors); n == 0 || n > retrieve.MaxRewrites+1 {
		return retrieve.QueryVector{}, source.Reject("vectors", "%s: the mean of %d vectors, want 1 to %d",
			source.Quoted(model), n, retrieve.MaxRewrites+1)
	}
	sum := make([]float64, len(vectors[0])) // of integers below 2^37
	for _, values := range vectors {
		if err := (retrieve.Request{Vectors: []retrieve.QueryVector{{Model: model, Values: values}}}).Validate(); err != nil {
			return retrieve.QueryVector{}, err
		}
		if len(values) != len(sum) {
			return retrieve.QueryVector{}, source.Reject("vectors", "%s: the mean of vectors of %d and %d dimensions",
				source.Quoted(model), len(sum), len(values))
		}
		addDirection(sum, values)
	}
	if len(vectors) > 1 && slices.ContainsFunc(sum, func(x float64) bool { return x != 0 }) {
		return retrieve.NewQueryVector(model, sum)
	}
	return retrieve.QueryVector{Model: model, Values: vectors[0]}, nil
}

// addDirection adds a vector of length 1 to a sum.
func addDirection(sum []float64, values []int8) {
	square := uint64(0) // at most 127² · 2^16
	for _, x := range values {
		square += uint64(int(x) * int(x))
	}
	length := fixed.Isqrt(square << meanBits)
	for i, x := range values {
		sum[i] += float64(int64(x) << (meanBits + meanBits/2) / int64(length))
	}
}
