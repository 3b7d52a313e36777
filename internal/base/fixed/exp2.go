package fixed

// powers[i] is floor(2^32 * 2^-(2^(i-16))): one half to the power of the place value of bit i of a
// Q16 fraction.
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
