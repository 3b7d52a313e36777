package fixed

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// rounds is the number of random cases of each test.
func rounds() int { return effort.Pick(20_000, 20_000, 2_000_000) }

// source returns a random source and prints its seed, so that a failure can be run again.
func source(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// sample draws numbers of every magnitude, since uniform ones are nearly all huge.
func sample(rng *rand.Rand) uint64 { return rng.Uint64() >> uint(rng.IntN(64)) }

// edges are the values around which shifts and carries go wrong.
func edges() []uint64 {
	out := []uint64{0, math.MaxUint64}
	for k := range 64 {
		p := uint64(1) << uint(k)
		out = append(out, p-1, p, p+1)
	}
	return out
}

func TestLog2Golden(t *testing.T) {
	cases := []struct {
		x    uint64
		want int64
	}{
		{0, 0},
		{1, 0},
		{2, 1 << 16},
		{3, 103872},
		{4, 2 << 16},
		{5, 152169},
		{6, 169408},
		{7, 183982},
		{9, 207744},
		{10, 217705},
		{100, 435411},
		{1000, 653117},
		{1_000_000, 1306235},
		{1<<31 - 1, 2031615},
		{1 << 31, 31 << 16},
		{1<<32 - 1, 2097151},
		{1 << 32, 32 << 16},
		{1<<32 + 1, 32 << 16},
		{3 << 31, 2135488},
		{1<<53 - 1, 3473407},
		{1 << 63, 63 << 16},
		{math.MaxUint64, 4194303},
	}
	for _, c := range cases {
		must.Equal(t, Log2(c.x), c.want, "Log2(", c.x, ")")
	}
}

// TestLog2Hash pins every bit over a range no table could list.
func TestLog2Hash(t *testing.T) {
	const want = "88f9282635c7b6117fd1f68d26977be42a925c4e476a0993f953bf4c60e166f1"
	h := sha256.New()
	var b [8]byte
	for x := range uint64(1 << 16) {
		for _, v := range []uint64{x, x<<16 | 0x8001, x<<40 | x, ^x} {
			binary.BigEndian.PutUint64(b[:], uint64(Log2(v)))
			h.Write(b[:])
		}
	}
	must.Equal(t, hex.EncodeToString(h.Sum(nil)), want, "hash of logarithms")
}

func TestLog2Monotone(t *testing.T) {
	rng := source(t)
	last := Log2(1)
	for x := uint64(2); x < 1<<17; x++ {
		v := Log2(x)
		must.Require(t, v >= last, "Log2(%d) = %d is below Log2(%d) = %d", x, v, x-1, last)
		last = v
	}
	for range rounds() {
		a, b := sample(rng), sample(rng)
		if a > b {
			a, b = b, a
		}
		must.Require(t, Log2(a) <= Log2(b), "Log2(%d) > Log2(%d)", a, b)
	}
}

func TestIsqrt(t *testing.T) {
	check := func(x uint64) {
		want := new(big.Int).Sqrt(new(big.Int).SetUint64(x)).Uint64()
		must.Equal(t, Isqrt(x), want, "Isqrt(", x, ")")
	}
	for x := range uint64(1 << 12) {
		check(x)
	}
	for _, x := range edges() {
		check(x)
	}
	rng := source(t)
	for range rounds() {
		check(sample(rng))
		r := uint64(rng.Uint32())
		check(r * r)
		check(r*r - 1)
		check(r*r + 1)
	}
}

// checkMulDiv compares both forms with big integers.
func checkMulDiv(t *testing.T, a, b, c uint64) {
	t.Helper()
	want, wantOK := uint64(0), false
	if c != 0 {
		q := new(big.Int).Mul(new(big.Int).SetUint64(a), new(big.Int).SetUint64(b))
		q.Quo(q, new(big.Int).SetUint64(c))
		if wantOK = q.IsUint64(); wantOK {
			want = q.Uint64()
		}
	}
	got, ok := MulDiv(a, b, c)
	must.True(t, got == want && ok == wantOK,
		"MulDiv(%d, %d, %d) = %d, %t, want %d, %t", a, b, c, got, ok, want, wantOK)
	if !wantOK {
		want = math.MaxUint64
	}
	must.Equal(t, MulDivSat(a, b, c), want, "MulDivSat(", a, ", ", b, ", ", c, ")")
}

func TestMulDiv(t *testing.T) {
	extremes := []uint64{
		0, 1, 2, 3, One - 1, One, One + 1, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63,
		math.MaxUint64 - 1, math.MaxUint64,
	}
	for _, a := range extremes {
		for _, b := range extremes {
			for _, c := range extremes {
				checkMulDiv(t, a, b, c)
			}
		}
	}
	rng := source(t)
	for range rounds() {
		checkMulDiv(t, sample(rng), sample(rng), sample(rng))
	}
}

func TestAddSat(t *testing.T) {
	limit := new(big.Int).SetUint64(math.MaxUint64)
	for _, a := range edges() {
		for _, b := range edges() {
			sum := new(big.Int).Add(new(big.Int).SetUint64(a), new(big.Int).SetUint64(b))
			if sum.Cmp(limit) > 0 {
				sum = limit
			}
			must.Equal(t, AddSat(a, b), sum.Uint64(), "AddSat(", a, ", ", b, ")")
		}
	}
}

func TestNoAllocations(t *testing.T) {
	var sink uint64
	n := testing.AllocsPerRun(100, func() {
		sink += uint64(Log2(sink+3)) + Isqrt(sink+7) + MulDivSat(sink, 5, 3)
	})
	must.Equal(t, n, 0, "allocations a round")
}

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
