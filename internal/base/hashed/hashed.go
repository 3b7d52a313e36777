// Package hashed makes vectors of texts without a model: words and n-grams are hashed into counters. The built-in
// embedder and digests share it; the documentation of package embed defines it.
package hashed

import (
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/base/vector"
)

// Constants of the hashed features, version 1. They are part of the model: another value needs
// another version in its name.
const (
	// Dim is the number of dimensions. 1,024 found one answer in fifty more, for twice the bytes in every commit.
	Dim = 512

	gramShort = 3 // code points of the shortest n-gram
	gramLong  = 5 // and of the longest
	wordTag   = 'w'
	gramTag   = 'g'
	// wordWeight is the weight of a word relative to an n-gram: a word of six letters has 18 of those.
	wordWeight = 4
	gramWeight = 1

	fnvOffset = 14695981039346656037 // FNV-1a of 64 bits
	fnvPrime  = 1099511628211
)

// Vector returns the vector of a text, nil if it has no term. Features are counted by hash and summed as integers,
// so that map order cannot matter.
func Vector(a *text.Analyzer, s string) ([]int8, error) {
	f := features{}
	a.Each(s, func(term string) bool {
		f.add(term)
		return true
	})
	counters := make([]int64, Dim)
	for feature, n := range f {
		hash := mix(feature.hash)
		w := feature.weight * (fixed.One + fixed.Log2(n))
		if hash>>63 == 1 {
			w = -w
		}
		counters[hash%Dim] += w
	}
	return vector.QuantiseInts(counters)
}

// feature is a word or n-gram, identified by the hash of its tag and bytes.
type feature struct {
	hash   uint64
	weight int64
}

// features counts occurrences.
type features map[feature]uint64

// add counts a term and its n-grams.
func (f features) add(term string) {
	hash := hashByte(fnvOffset, wordTag)
	for i := range len(term) {
		hash = hashByte(hash, term[i])
	}
	f[feature{hash, wordWeight}]++
	f.addGrams("<" + term + ">")
}

// addGrams counts the n-grams of a padded term, except the term itself.
func (f features) addGrams(padded string) {
	all := utf8.RuneCountInString(padded)
	for start := range padded {
		hash := hashByte(fnvOffset, gramTag)
		n := 0
		for i := start; i < len(padded) && n < gramLong; {
			_, width := utf8.DecodeRuneInString(padded[i:])
			for _, c := range []byte(padded[i : i+width]) {
				hash = hashByte(hash, c)
			}
			i += width
			if n++; n >= gramShort && n < all {
				f[feature{hash, gramWeight}]++
			}
		}
	}
}

// hashByte is one step of FNV-1a.
func hashByte(hash uint64, c byte) uint64 { return (hash ^ uint64(c)) * fnvPrime }

// mix spreads the entropy of FNV-1a's high bits: its lowest bits depend only on the lowest bits of the bytes. It is
// the finaliser of MurmurHash3.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
