package graph

import (
	"crypto/sha256"
	"math"
	"math/big"
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
		got := must.Get(Quantise(v))(t)
		m := big.NewFloat(0)
		for _, x := range v {
			if a := big.NewFloat(math.Abs(x)); a.Cmp(m) > 0 {
				m = a
			}
		}
		for i, x := range v {
			product := rounded(exact().Mul(big.NewFloat(x), big.NewFloat(127)))
			q, _ := exact().Quo(product, m).Float64()
			must.Equal(t, got[i], int8(math.RoundToEven(q)), x, " of ", v, " becomes")
		}
	})
}

func TestSparseWeightsRefuse(t *testing.T) {
	for _, bad := range [][]SparseWeight{
		nil, {{"a", 0}}, {{"a", -1}}, {{"a", math.NaN()}}, {{"a", math.Inf(1)}}, {{"a", 32768}},
		{{"a", 0x1p-18}}, {{"", 1}}, {{"\xff", 1}}, {{"a", 1}, {"b", 1}, {"a", 2}}, {{"a", 1e308}},
		{{strings.Repeat("t", MaxTerm+1), 1}}, make([]SparseWeight, MaxTerms+1),
	} {
		must.Fail(t, must.Err(SparseWeights(bad)), ErrInvalid, len(bad), " terms become")
	}
}

func TestEmbeddingForms(t *testing.T) {
	dense := goldenEmbedding(t)
	must.Same(t, dense.Int8(), []int8{64, -127, 0}, "dimensions")
	if terms, err := dense.Terms(); terms != nil || err != nil {
		t.Errorf("a dense vector has terms %v, %v", terms, err)
	}
	sparse := goldenSparse(t)
	terms := must.Get(sparse.Terms())(t, "terms")
	must.Same(t, terms, []Term{{"pay", 81920}, {"berth", 45875}}, "terms")
	must.True(t, sparse.Int8() == nil, "a sparse vector has dimensions")
	float := &Embedding{Model: "m", DType: Float32, Dims: 2, Data: []byte{0, 0, 0, 0, 0, 0, 128, 63}}
	must.OK(t, float.Validate())
	widest := make([]float64, MaxDims)
	widest[7] = 1
	must.Get(NewDense("m", widest, [32]byte{}))(t)
	terms, most := nil, make([]SparseWeight, MaxTerms)
	for i := range most {
		most[i] = SparseWeight{string(rune(0x10000 + i)), 1}
	}
	e := must.Get(NewSparse("m", most, [32]byte{}))(t)
	terms, err := e.Terms()
	must.True(t, len(terms) == MaxTerms && err == nil, "%d terms, %v", len(terms), err)
}

func TestTextHash(t *testing.T) {
	n := &Node{Context: "c", Summary: "s"}
	joined := TextHash(&Node{Summary: "c\ns\nt"}, "")
	must.Equal(t, TextHash(n, "t"), joined, "parts are not joined by newlines")
	must.Equal(t, TextHash(&Node{Context: "c\ns"}, "t"), joined, "an absent part leaves a newline")
	must.Equal(t, TextHash(&Node{}, ""), sha256.Sum256(nil), "the hash of no text is not that of no bytes")
}
