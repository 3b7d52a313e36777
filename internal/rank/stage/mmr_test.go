package stage

import (
	"math/big"
	"slices"
	"testing"
)

// likeness is the similarity in Q16 of two sets; b has each number once.
func likeness(a, b []uint32) int64 {
	both := 0
	for _, term := range a {
		if slices.Contains(b, term) {
			both++
		}
	}
	if len(a)+len(b) == 0 {
		return 0
	}
	return int64(both * 65_536 / (len(a) + len(b) - both))
}

// naiveMarginal is clause 11.3 as it is written, in numbers without bounds.
func naiveMarginal(relevance []int64, terms [][]uint32, first []int, lambda int64) []int {
	out := slices.Clone(first)
	for len(out) < len(relevance) {
		best, value := -1, (*big.Int)(nil)
		for i := range relevance {
			if slices.Contains(out, i) {
				continue
			}
			like := int64(0)
			for _, before := range out {
				like = max(like, likeness(terms[i], terms[before]))
			}
			v := new(big.Int).Mul(big.NewInt(relevance[i]), big.NewInt(lambda))
			v.Sub(v, new(big.Int).Mul(big.NewInt(65_536-lambda), big.NewInt(like)))
			if value == nil || v.Cmp(value) > 0 {
				best, value = i, v
			}
		}
		out = append(out, best)
	}
	return out
}

func TestMarginalOracle(t *testing.T) {
	rng := seeded(t)
	moved := 0
	for range 200 {
		n := 1 + rng.IntN(40)
		relevance, terms := make([]int64, n), make([][]uint32, n)
		for i := range n {
			relevance[i] = rng.Int64N(65_537)
			for term := range uint32(12) {
				if rng.IntN(3) == 0 {
					terms[i] = append(terms[i], term)
				}
			}
		}
		first := rng.Perm(n)[:rng.IntN(min(n, 3)+1)]
		lambda := rng.Int64N(65_537)
		want := naiveMarginal(relevance, terms, first, lambda)
		if got := Marginal(relevance, terms, first, lambda, n); !slices.Equal(got, want) {
			t.Fatalf("lambda %d: %v, want %v", lambda, got, want)
		}
		most := rng.IntN(n + 1)
		if got := Marginal(relevance, terms, first, lambda, most); !slices.Equal(got, want[:max(most, len(first))]) {
			t.Fatalf("at most %d: %v of %v", most, got, want)
		}
		if !slices.Equal(want, naiveMarginal(relevance, terms, first, 65_536)) {
			moved++
		}
	}
	if moved == 0 {
		t.Error("likeness changed no order")
	}
}
