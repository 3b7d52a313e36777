package dense

import (
	"encoding/binary"
	"math"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/view/index"
)

// Accept decides whether a node takes part. It is called on the calling goroutine, in any order,
// once or more for a node. Its error ends the query and is returned as it is.
type Accept func(graph.ID) (bool, error)

// search keeps the best accepted vectors by their cosine with a query: clause 9.5.
type search struct {
	index.Keeper
	query []int8
	norm  uint64
	row   []byte              // that is ranked
	rows  map[graph.ID][]byte // what was kept, nil if nothing asks for it
}

func newSearch(query []int8, accept Accept, k int) *search {
	norm := uint64(dot(query, query))
	return &search{Keeper: index.NewKeeper(accept, k), query: query, norm: norm}
}

// offer ranks a row.
func (s *search) offer(row []byte) error { return s.rank(row, s.score(row)) }

// score returns what a row scores. Safe for concurrent use.
func (s *search) score(row []byte) int64 {
	d := dotBytes(s.query, row[rowHead:])
	if d <= 0 {
		return 0
	}
	return cosine(d, s.norm, uint64(binary.LittleEndian.Uint32(row[graph.IDLen:])))
}

// rank keeps a row of a score where it is among the best and accepted.
func (s *search) rank(row []byte, score int64) error {
	if score <= 0 {
		return nil
	}
	s.row = row[:rowHead+len(s.query)]
	return s.Take(index.Hit{ID: graph.ID(row[:graph.IDLen]), Score: score})
}

// cosine returns floor(dot · 2^16 / isqrt(n · m)) of the dot product and the sums of squares of two
// vectors, and 0 for products that are not above 0: those say of no likeness. It is at most 2^16,
// since dot is an integer no larger than the root.
func cosine(product int32, n, m uint64) int64 {
	if product <= 0 || n == 0 || m == 0 {
		return 0
	}
	return int64(uint64(product) << fixed.FracBits / fixed.Isqrt(n*m))
}

// dot returns the sum of products of two vectors of one length, which fits since that is at most
// graph.MaxDims.
func dot(a, b []int8) int32 {
	const _ = uint(math.MaxInt32 - graph.MaxDims*128*128) // it fits
	sum := int32(0)
	for i, x := range a {
		sum += int32(x) * int32(b[i])
	}
	return sum
}

// dotBytes is dot for a vector as it is stored. Sums of integers are the same in every order, so
// that four of them at a time change nothing but the speed.
func dotBytes(a []int8, b []byte) int32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 int32
	for len(a) >= 8 && len(b) >= 8 {
		x, y := (*[8]int8)(a), (*[8]byte)(b)
		s0 += int32(x[0])*int32(int8(y[0])) + int32(x[4])*int32(int8(y[4]))
		s1 += int32(x[1])*int32(int8(y[1])) + int32(x[5])*int32(int8(y[5]))
		s2 += int32(x[2])*int32(int8(y[2])) + int32(x[6])*int32(int8(y[6]))
		s3 += int32(x[3])*int32(int8(y[3])) + int32(x[7])*int32(int8(y[7]))
		a, b = a[8:], b[8:]
	}
	for i, x := range a {
		s0 += int32(x) * int32(int8(b[i]))
	}
	return s0 + s1 + s2 + s3
}
