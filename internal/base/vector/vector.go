// Package vector holds the one rule that quantises a model's numbers for storage: int8, by clause 3.6 of the
// specification. Records of embeddings and the models that fill them share it.
package vector

import (
	"errors"
	"fmt"
	"math"
)

// Bounds of stored vectors.
const (
	// MaxDims is the largest number of dimensions of a dense vector.
	MaxDims = 1 << 16
	// MaxModel is the longest name of a model, in bytes.
	MaxModel = 255
)

// int8Max is the quantised value of the component with the largest absolute value.
const int8Max = 127

// Quantise returns a dense vector as int8: RoundHalfEven(x·127/m) with m the largest absolute value. Only here are
// floats converted to stored values, and each operation is rounded by its own conversion: the language forbids fusing
// across those. It fails for the vectors that Largest refuses.
func Quantise(vector []float64) ([]int8, error) {
	m, err := Largest(vector)
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

// QuantiseInts returns the vector of integer counters, each below 2^53 in absolute value so that it is exact as a
// float64, and nil if all are zero.
func QuantiseInts(counters []int64) ([]int8, error) {
	floats := make([]float64, len(counters))
	zero := true
	for i, x := range counters {
		floats[i] = float64(x)
		zero = zero && x == 0
	}
	if zero {
		return nil, nil
	}
	return Quantise(floats)
}

// Largest returns the largest absolute value. An empty vector, one of more than MaxDims
// dimensions, zeros, NaN, infinities, and values whose product with 127 is infinite are refused.
func Largest(vector []float64) (float64, error) {
	if len(vector) == 0 || len(vector) > MaxDims {
		return 0, fmt.Errorf("%d dimensions, want 1 to %d", len(vector), MaxDims)
	}
	m := 0.0
	for i, x := range vector {
		if math.IsNaN(x) || math.Abs(x) > math.MaxFloat64/int8Max {
			return 0, fmt.Errorf("number at position %d is too large or not a number", i)
		}
		m = max(m, math.Abs(x))
	}
	if m == 0 {
		return 0, errors.New("all zeros")
	}
	return m, nil
}
