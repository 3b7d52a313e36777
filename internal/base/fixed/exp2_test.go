package fixed

import (
	"math"
	"math/big"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestPowers recomputes the table: each power is the square root of the next.
func TestPowers(t *testing.T) {
	const scale = 1 << 9 // bits, so that sixteen roots lose nothing that counts
	v := new(big.Int).Lsh(big.NewInt(1), scale-1)
	for i := FracBits - 1; i >= 0; i-- {
		v.Sqrt(v.Lsh(v, scale)) // of v/2^scale, in the same units
		want := new(big.Int).Rsh(v, scale-32).Uint64()
		must.Equal(t, powers[i], want, "power ", i)
	}
}

func TestHalf(t *testing.T) {
	for x, want := range map[uint64]int64{
		0: One, One: One / 2, 2 * One: One / 4, 16 * One: 1, 16*One + 1: 0, 17 * One: 0,
		One / 2: 46340, One / 4: 55108, 1: 65535, One - 1: 32768, math.MaxUint64: 0, 1 << 63: 0,
	} {
		must.Equal(t, Half(x), want, "Half(", x, ")")
	}
	last := Half(0)
	for x := uint64(0); x < 18*One; x++ {
		got := Half(x)
		exact := int64(math.Floor(One * math.Exp2(-float64(x)/One)))
		must.Require(t, got <= last && got <= exact+1 && got >= exact-1,
			"Half(%d) = %d after %d, exact %d", x, got, last, exact)
		last = got
	}
}
