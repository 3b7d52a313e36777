package fixed

import (
	"math"
	"math/bits"
)

const (
	// FracBits is the number of fractional bits of a Q16 number.
	FracBits = 16
	// One is the Q16 number 1.
	One = 1 << FracBits

	// mantissaBits is the width of the normalised mantissa of Log2: the widest whose square fits
	// 64 bits.
	mantissaBits = 32
)

// Log2 returns the base-2 logarithm of x in Q16, between 0 and 64*One - 1. Log2(0) is 0. The package documentation
// defines every bit of the result.
func Log2(x uint64) int64 {
	if x == 0 {
		return 0
	}
	e := bits.Len64(x) - 1
	m := x
	if e >= mantissaBits {
		m >>= uint(e - (mantissaBits - 1))
	} else {
		m <<= uint(mantissaBits - 1 - e)
	}
	r := int64(e) << FracBits
	for i := FracBits - 1; i >= 0; i-- {
		m = m * m >> (mantissaBits - 1)
		if m >= 1<<mantissaBits {
			m >>= 1
			r |= 1 << uint(i)
		}
	}
	return r
}

// Isqrt returns the largest r with r*r <= x.
func Isqrt(x uint64) uint64 {
	if x == 0 {
		return 0
	}
	// Newton's method from above: starting at a power of two that is no less than the root, each
	// step stays at or above the root and falls until it reaches it.
	r := uint64(1) << uint((bits.Len64(x)+1)/2)
	for {
		next := (r + x/r) / 2
		if next >= r {
			return r
		}
		r = next
	}
}

// MulDiv returns floor(a*b/c), computed with a 128-bit product. ok is false, and q is 0, when
// c is 0 or the quotient needs more than 64 bits.
func MulDiv(a, b, c uint64) (q uint64, ok bool) {
	hi, lo := bits.Mul64(a, b)
	if hi >= c {
		return 0, false
	}
	q, _ = bits.Div64(hi, lo, c)
	return q, true
}

// MulDivSat returns floor(a*b/c), or the largest uint64 if MulDiv fails: on overflow, or if c = 0 for any a and b.
func MulDivSat(a, b, c uint64) uint64 {
	if q, ok := MulDiv(a, b, c); ok {
		return q
	}
	return math.MaxUint64
}

// AddSat returns a+b, or the largest uint64 when the sum does not fit.
func AddSat(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return math.MaxUint64
	}
	return sum
}
