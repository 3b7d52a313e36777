// Package embed turns texts into the vectors of the dense lane. What it returns is what a record
// of an embedding holds: int8, quantised by graph.Quantise, the one rule of the repository.
//
// # Hashed features
//
// The model "hash-1:LANGUAGE" needs no file and no network. It finds other forms and
// misspellings of words, not their meaning. Its vectors have 512 dimensions and are the same on
// every machine; these rules are normative, and testdata/hash.jsonl has vectors of a second
// implementation:
//
//  1. Terms. The text is analysed by clause 6 of the specification (package internal/text) in the
//     language of the model, "en" or "none". A term counts as often as it occurs.
//
//  2. Features. A term yields one word feature, the byte 'w' and the term's UTF-8, of weight 4;
//     and n-gram features of weight 1: '<' and '>' are put around the term, and for n = 3, 4, 5,
//     as long as n is less than the number of code points of this padded term, each run of n code
//     points in it yields the byte 'g' and the run's UTF-8. So "abc" yields wabc, g<ab, gabc,
//     gbc>, g<abc and gabc>.
//
//  3. Hash. A feature is the 64-bit FNV-1a hash of its bytes and its weight; features with the
//     same hash and weight are one. Let n be how often it occurred in the whole text.
//
//  4. Finish. All modulo 2^64, x >> k a shift that fills with zeros: h = h xor (h >> 33);
//     h = h * 0xff51afd7ed558ccd; h = h xor (h >> 33); h = h * 0xc4ceb9fe1a85ec53;
//     h = h xor (h >> 33).
//
//  5. Sum. Of 512 integers that begin as 0, each feature adds weight * (65536 + L(n)) to number
//     h mod 512 if h < 2^63, and else subtracts it there. L is the logarithm of clause 9 of the
//     specification, in units of 2^-16 (package internal/fixed).
//
//  6. Quantise. All zeros: there is no vector. Else the integers, as binary64, are quantised as
//     clause 3.6 says: RoundHalfEven(x * 127 / m), m the largest absolute value.
package embed
