package retrieve

import (
	"math"
	"math/big"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestCompareMixed compares with arbitrary precision.
func TestCompareMixed(t *testing.T) {
	ints := []int64{math.MinInt64, math.MinInt64 + 1, -1 << 53, -1, 0, 1, 1<<53 - 1, 1 << 53,
		1<<53 + 1, 1<<62 + 1, math.MaxInt64 - 1, math.MaxInt64}
	floats := []float64{-math.MaxFloat64, -1 << 63, -1.5, -0.5, math.Copysign(0, -1), 0, 5e-324,
		0.5, 1, 1.5, 1 << 53, 1<<53 + 2, 1 << 62, 1 << 63, 1 << 64, math.MaxFloat64}
	rng := seeded(t)
	for range 2000 {
		n := rng.Int64() >> rng.IntN(64)
		ints = append(ints, n)
		floats = append(floats, float64(n), math.Nextafter(float64(n), 1), float64(n)/3)
	}
	for _, n := range ints {
		for _, f := range floats[:min(len(floats), 600)] {
			want := new(big.Rat).SetInt64(n).Cmp(new(big.Rat).SetFloat64(f))
			must.Equal(t, compareMixed(n, f), want, "compare ", n, " with ", f)
		}
	}
}

func FuzzParsePredicate(f *testing.F) {
	for _, s := range []string{`team = "infra"`, `"due date" < 1.5e3`, `a in [1,"b",null]`,
		`a !exists`, `"\u0000" prefix "x"`, `a={"/":{"bytes":"AA"}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePredicate(s)
		if err != nil {
			must.Fail(t, err, ErrRequest, s)
			return
		}
		again := must.Get(ParsePredicate(p.String()))(t, s, " prints as ", p.String())
		must.Equal(t, diff(p, again), "", s, " prints as ", p.String())
	})
}
