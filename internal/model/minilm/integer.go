package minilm

import (
	"math/bits"

	"github.com/mnem-project/mnem/internal/base/fixed"
)

// Formats of numbers: how many of their bits are fractional.
const (
	point      = 16 // states, activations, addends, scores
	wordPoint  = 20 // the sum of the embeddings of a piece and its position
	unitPoint  = 24 // a vector divided by the root of the sum of its squares; powers
	gainPoint  = 20 // factors of a normalisation
	powerPoint = 30 // tables of powers
	scoreBits  = 16 // of scoreScale, beyond those of a score

	// scoreScale is log2(e) / sqrt(width) / 127^2, which makes of a product of int8 the exponent of a power of two, with
	// scoreBits + point fractional bits.
	scoreScale = 67912

	smoothPoint = 12 // factors of states before they are quantised, less than 2^16

	factorDrop = 10 // bits dropped from the product of two scales
	levels     = 127
)

// Limits keep every product within 63 bits. No text comes near them but the one on inner states, whose excess is cut off.
const (
	linearLimit = 1<<25 - 1 // 512: results of a matrix
	inputLimit  = 1<<22 - 1 // 64: an input of a matrix product
	headLimit   = 1<<21 - 1 // 32: queries, keys and values

	minExponent = 24 // of a matrix, and of the embeddings
	maxExponent = 46
)

// shifted returns x * 2^-n, rounded to the nearest integer, halves up.
func shifted(x int64, n int) int64 { return (x + 1<<(n-1)) >> n }

func abs(x int32) int32 {
	sign := x >> 31
	return (x ^ sign) - sign
}

// largest returns the largest absolute value, at most limit.
func largest(x []int32, limit int32) int32 {
	m := int32(0)
	for _, v := range x {
		m = max(m, abs(v))
	}
	return min(m, limit)
}

// quantise writes x into q in units of m/127, m the largest absolute value, and returns m. What exceeds the limit becomes
// 127 or -127.
func quantise(q []int8, x []int32, limit int32) int32 {
	m := largest(x, limit)
	r := int64(levels<<32) / int64(max(m, 1))
	q = q[:len(x)]
	if m < limit {
		for i, v := range x { // |v| <= m, and so |v| * r <= 127 * 2^32
			q[i] = int8((int64(v)*r + 1<<31) >> 32)
		}
		return m
	}
	for i, v := range x {
		q[i] = int8((int64(min(max(v, -m), m))*r + 1<<31) >> 32)
	}
	return m
}

// normalise writes into y what becomes of x: less its mean, divided by the root of the mean of the squares of that, times
// the gain, plus the bias.
func (n *norm) normalise(y, x []int32) {
	sum := int64(0)
	for _, v := range x {
		sum += int64(v)
	}
	mean := floorDiv(2*sum+hidden, 2*hidden)
	square := int64(0)
	for _, v := range x {
		d := int64(v) - mean
		square += d * d
	}
	if square == 0 {
		copy(y, n.bias)
		return
	}
	// The shift is even, so that the root of the shifted number is the root shifted by half as many bits.
	half := (62 - bits.Len64(uint64(square))) / 2
	inverse := int64(1<<61) / int64(fixed.Isqrt(uint64(square)<<(2*half)))
	y, gain, bias := y[:len(x)], n.gain[:len(x)], n.bias[:len(x)]
	for i, v := range x {
		z := shifted((int64(v)-mean)*inverse, 61-unitPoint-half)
		y[i] = int32(shifted(z*int64(gain[i]), unitPoint+gainPoint-point)) + bias[i]
	}
}

// floorDiv divides by a positive number and rounds down.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// The table of GELU: its values from 0 to geluEnd, geluStep apart. Between them it is taken for straight, which is wrong by
// less than 2^-19, and beyond them for x or 0, which is wrong by less than 2^-46.
const (
	geluEnd  = 8 << point
	geluStep = 1 << geluBits
	geluBits = point - 8
)

// activate replaces x by GELU(x). GELU(-x) is GELU(x) - x.
func activate(x []int32, table []int32) {
	table = table[:geluEnd/geluStep+1]
	for i, v := range x {
		a := abs(v)
		y := a
		if a < geluEnd {
			at, rest := uint(a)>>geluBits, a&(geluStep-1)
			y = table[at] + ((table[at+1]-table[at])*rest+geluStep/2)>>geluBits
		}
		if v < 0 {
			y -= a
		}
		x[i] = y
	}
}

// power returns 2^-d with unitPoint fractional bits, wrong by less than 2^-23; d has point fractional bits.
func power(coarse, fine *[256]int32, d uint64) int64 {
	e := int64(coarse[d>>8&255]) * int64(fine[d&255])
	return e >> (2*powerPoint - unitPoint) >> (d >> point) // 0 from 32 on: e has 24 bits
}

// halfEven returns a/b, b positive, rounded to the nearest integer, halves to even. Clause 3.6 of the specification
// gives the same result in binary64 for numbers below 2^40.
func halfEven(a, b int64) int64 {
	q, r := a/b, a%b
	up := int64(1)
	if r < 0 {
		r, up = -r, -1
	}
	if 2*r > b || 2*r == b && q&1 != 0 {
		q += up
	}
	return q
}
