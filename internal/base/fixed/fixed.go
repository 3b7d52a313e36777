// Package fixed is the integer arithmetic of ranking: logarithms, roots and products whose bits are the same on every
// machine. It works in Q16, unsigned or signed integers that count units of 2^-16; One is the number 1.
//
// Nothing here allocates, fails or panics, whatever the arguments; results that do not fit are either reported (MulDiv)
// or saturate (MulDivSat, AddSat). All functions are pure and safe for concurrent use.
//
// # Log2, step by step
//
// Log2 is normative: a second implementation must give the same bits, including the truncations.
// All values are unsigned 64-bit integers, shifts to the right truncate.
//
//  1. L(0) = 0, by definition. (The ranking formulas never need it: they have x >= 1.)
//  2. e = position of the highest set bit of x, counted from 0.
//  3. m = x shifted so that 2^31 <= m < 2^32: x >> (e-31) when e >= 31, else x << (31-e).
//  4. r = e * 2^16.
//  5. For i = 15, 14, ... 0: m = (m*m) >> 31, which lies in [2^31, 2^33); if m >= 2^32, then
//     m = m >> 1 and r = r + 2^i.
//  6. L(x) = r.
//
// L never decreases, L(2^k) = k * 2^16 exactly, and otherwise L(x) is the exact value
// floor(2^16 * log2 x) or the integer below it: the squares lose at most that much.
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

	// mantissaBits is the width of the normalised mantissa of Log2: the widest whose square fits 64 bits.
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

// powers[i] is floor(2^32 * 2^-(2^(i-16))): one half to the power of the place value of bit i of a Q16 fraction.
var powers = [FracBits]uint64{
	0xffff4e8e, 0xfffe9d1c, 0xfffd3a3b, 0xfffa747e, 0xfff4e91b, 0xffe9d2b2, 0xffd3a751, 0xffa75652,
	0xff4ecb59, 0xfe9e115c, 0xfd3e0c0c, 0xfa83b2db, 0xf5257d15, 0xeac0c6e7, 0xd744fcca, 0xb504f333,
}

// Half returns 2^-x in Q16 for x in Q16: One for 0, and 0 from 17*One on. Bit for bit it is
//
//  1. r = 2^32.
//  2. For i = 15, 14, ... 0: if bit i of x is set, r = (r * floor(2^32 * 2^-(2^(i-16)))) >> 32.
//  3. The result is r >> (16 + (x >> 16)), and 0 if x >> 16 is 17 or more.
//
// It never increases with x, and is the exact value floor(2^16 * 2^-(x/2^16)) or the integer below.
func Half(x uint64) int64 {
	whole := x >> FracBits
	if whole > FracBits {
		return 0
	}
	r := uint64(1) << 32
	for i := FracBits - 1; i >= 0; i-- {
		if x>>uint(i)&1 == 1 {
			r = r * powers[i] >> 32
		}
	}
	return int64(r >> (FracBits + whole))
}
