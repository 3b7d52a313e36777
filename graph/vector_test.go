package graph

import (
	"crypto/sha256"
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestQuantiseAgainstBig computes each operation exactly and rounds it once, as the specification says; it would
// detect a fused multiply-add or another order.
func TestQuantiseAgainstBig(t *testing.T) {
	rounded := func(x *big.Float) *big.Float {
		f, _ := x.Float64()
		return big.NewFloat(f)
	}
	exact := func() *big.Float { return new(big.Float).SetPrec(2200) }
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float64Range(-1e300, 1e300), 1, 12).Draw(t, "vector")
		v[0] = 1 + math.Abs(v[0]) // not all zeros
		got, err := Quantise(v)
		must.OK(t, err)
		m := big.NewFloat(0)
		for _, x := range v {
			if a := big.NewFloat(math.Abs(x)); a.Cmp(m) > 0 {
				m = a
			}
		}
		for i, x := range v {
			product := rounded(exact().Mul(big.NewFloat(x), big.NewFloat(127)))
			q, _ := exact().Quo(product, m).Float64()
			if want := int8(math.RoundToEven(q)); got[i] != want {
				t.Fatalf("%g of %v becomes %d, want %d", x, v, got[i], want)
			}
		}
	})
}

func TestSparseWeightsRefuse(t *testing.T) {
	for _, bad := range [][]SparseWeight{
		nil, {{"a", 0}}, {{"a", -1}}, {{"a", math.NaN()}}, {{"a", math.Inf(1)}}, {{"a", 32768}},
		{{"a", 0x1p-18}}, {{"", 1}}, {{"\xff", 1}}, {{"a", 1}, {"b", 1}, {"a", 2}}, {{"a", 1e308}},
		{{strings.Repeat("t", MaxTerm+1), 1}}, make([]SparseWeight, MaxTerms+1),
	} {
		if terms, err := SparseWeights(bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("%d terms become %v, %v", len(bad), terms, err)
		}
	}
}

func TestEmbeddingForms(t *testing.T) {
	dense := goldenEmbedding(t)
	if got, want := dense.Int8(), []int8{64, -127, 0}; !slices.Equal(got, want) {
		t.Errorf("dimensions are %v, want %v", got, want)
	}
	if terms, err := dense.Terms(); terms != nil || err != nil {
		t.Errorf("a dense vector has terms %v, %v", terms, err)
	}
	sparse := goldenSparse(t)
	terms, err := sparse.Terms()
	if want := []Term{{"pay", 81920}, {"berth", 45875}}; err != nil || !slices.Equal(terms, want) {
		t.Errorf("terms are %v, %v, want %v", terms, err, want)
	}
	if sparse.Int8() != nil {
		t.Error("a sparse vector has dimensions")
	}
	float := &Embedding{Model: "m", DType: Float32, Dims: 2, Data: []byte{0, 0, 0, 0, 0, 0, 128, 63}}
	must.OK(t, float.Validate())
	widest := make([]float64, MaxDims)
	widest[7] = 1
	if _, err := NewDense("m", widest, [32]byte{}); err != nil {
		t.Error(err)
	}
	terms, most := nil, make([]SparseWeight, MaxTerms)
	for i := range most {
		most[i] = SparseWeight{string(rune(0x10000 + i)), 1}
	}
	e, err := NewSparse("m", most, [32]byte{})
	must.OK(t, err)
	if terms, err = e.Terms(); len(terms) != MaxTerms || err != nil {
		t.Errorf("%d terms, %v", len(terms), err)
	}
}

func TestTextHash(t *testing.T) {
	n := &Node{Context: "c", Summary: "s"}
	joined := TextHash(&Node{Summary: "c\ns\nt"}, "")
	must.Equal(t, TextHash(n, "t"), joined, "parts are not joined by newlines")
	must.Equal(t, TextHash(&Node{Context: "c\ns"}, "t"), joined, "an absent part leaves a newline")
	must.Equal(t, TextHash(&Node{}, ""), sha256.Sum256(nil), "the hash of no text is not that of no bytes")
}
