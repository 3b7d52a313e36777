// Package fixed is the integer arithmetic of ranking: logarithms, roots and products whose bits
// are the same on every machine. It works in Q16, unsigned or signed integers that count units of
// 2^-16; One is the number 1.
//
// Nothing here allocates, fails or panics, whatever the arguments; results that do not fit are
// either reported (MulDiv) or saturate (MulDivSat, AddSat). All functions are pure and safe for
// concurrent use.
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
