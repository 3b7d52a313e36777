package index

import (
	"math/bits"

	"github.com/mnem-project/mnem/internal/base/fixed"
)

// Constants of ranking version 1, clause 8.1, in units of 2^-16.
const (
	rankK       = 58_982  // 0.9
	rankB       = 26_214  // 0.4, of a field whose texts are short
	rankLongB   = 32_768  // 0.5, by which it grows until their mean is longTerms
	longTerms   = 64      // terms
	rankSummary = 131_072 // weight of the summary
	rankOther   = fixed.One
)

// tableLens is the number of lengths for which the share of one occurrence is kept: most fields
// are shorter, and a table saves two divisions a posting.
const tableLens = 256

// scorer computes scores of clause 9.2 under the statistics of one collection.
type scorer struct {
	stats  Stats
	norms  [Fields][tableLens]uint64 // n of each length, 0 if it is not known yet
	shares [Fields][tableLens]uint64 // share of one occurrence
}

// idf returns what a term weighs that so many nodes have.
func (s *Stats) idf(df int64) uint64 {
	idf := fixed.Log2(2*uint64(s.Nodes)+2) - fixed.Log2(2*uint64(df)+1)
	return uint64(max(1, idf))
}

func weight(field int) uint64 {
	if field == FieldSummary {
		return rankSummary
	}
	return rankOther
}

// norm returns n of a field of some length. That (1 - B)·T is a multiple of T lets it stand
// outside the division.
func (s *scorer) norm(field int, length uint32) uint64 {
	if length < tableLens && s.norms[field][length] != 0 {
		return s.norms[field][length]
	}
	total, filled := uint64(s.stats.Terms[field]), uint64(s.stats.Filled[field])
	b := s.lengthShare(field)
	n := fixed.One - b + fixed.MulDivSat(b*uint64(length), filled, total)
	if length < tableLens {
		s.norms[field][length] = n
	}
	return n
}

// lengthShare returns B of a field: the longer its texts are in the mean, the more it says that one of them is long, since a
// long note tells more and a long document has more words.
func (s *scorer) lengthShare(field int) uint64 {
	terms, filled := uint64(s.stats.Terms[field]), uint64(s.stats.Filled[field])
	if filled == 0 {
		return rankB
	}
	return rankB + fixed.MulDivSat(rankLongB, min(terms, longTerms*filled), longTerms*filled)
}

// share returns what a field adds to x: W·tf/n in units of 2^-16.
func (s *scorer) share(field int, tf, length uint32) uint64 {
	small := tf == 1 && length < tableLens
	if small && s.shares[field][length] != 0 {
		return s.shares[field][length]
	}
	q := fixed.MulDivSat(weight(field)*fixed.One, uint64(tf), s.norm(field, length))
	if small {
		s.shares[field][length] = q
	}
	return q
}

// maxX bounds x, so that idf·x, idf below 2^23, needs no wide product.
const maxX = 1 << 40

// saturate returns the score of a term that a node has: idf·x/(x+K), at least 1.
func saturate(idf, x uint64) uint64 {
	if x < maxX {
		return max(1, idf*x/(x+rankK))
	}
	return max(1, fixed.MulDivSat(idf, x, fixed.AddSat(x, rankK)))
}

// score returns the score of one posting of a term.
func (s *scorer) score(idf uint64, mask byte, tf *[Fields]uint32, lens *docLens) uint64 {
	x := uint64(0)
	for m := mask; m != 0; m &= m - 1 {
		f := bits.TrailingZeros8(m)
		x = fixed.AddSat(x, s.share(f, tf[f], lens[f]))
	}
	return saturate(idf, x)
}

// bound returns a score that no posting of a block exceeds: each share grows with tf and shrinks
// with length, and the score grows with each share, all divisions rounding down.
func (s *scorer) bound(idf uint64, b *bounds) uint64 {
	return s.score(idf, b.mask, &b.maxTF, (*docLens)(&b.minLen))
}
