package minilm

import (
	"slices"

	"github.com/mnem-project/mnem/internal/model/minilm/dot"
)

// quantiseHeads fills q and m with queries, keys and values, of each head by itself.
func (s *scratch) quantiseHeads(rows int) {
	for i := range rows * 3 * heads {
		s.m[i] = quantise(s.q[i*width:][:width], s.sums[i*width:][:width], headLimit)
	}
}

// attend sets added to what each piece from first to end takes from all of them.
func (p *parameters) attend(s *scratch, first, end int) {
	for h := range heads {
		s.score(first, end, h)
		p.share(s, first, end, h)
		s.collect(first, end, h)
	}
}

// head returns the rows of one head's queries, keys or values, kind 0, 1 or 2.
func (s *scratch) head(first, kind, h int) dot.Matrix {
	const stride = 3 * hidden
	return dot.Matrix{Data: s.q[first*stride+kind*hidden+h*width:], Stride: stride}
}

// scale returns the scale of a row of head.
func (s *scratch) scale(row, kind, h int) int64 { return int64(s.m[row*3*heads+kind*heads+h]) }

// score sets the scores of each piece's query with each piece's key: exponents of powers of two.
func (s *scratch) score(first, end, h int) {
	n := end - first
	columns := (n + dot.Columns - 1) / dot.Columns * dot.Columns
	dot.Products(s.scores, columns, s.head(first, 0, h), n, s.head(first, 1, h), columns, width)
	for j := range n {
		s.columns[j] = shifted(s.scale(first+j, 1, h)*scoreScale, scoreBits)
	}
	for i := range n {
		m := s.scale(first+i, 0, h)
		rescore(s.scores[i*columns:][:n], s.columns[:n], m)
	}
}

// rescore makes scores of sums.
func rescore(sums []int32, columns []int64, m int64) {
	columns = columns[:len(sums)]
	for j, sum := range sums {
		sums[j] = int32((int64(sum)*m*columns[j] + 1<<31) >> 32)
	}
}

// share makes scores weights: powers of two, times the scale of the value that each is for, in units of the largest / 127.
// It keeps by what a sum of weighted values has to be multiplied.
func (p *parameters) share(s *scratch, first, end, h int) {
	n := end - first
	columns := (n + dot.Columns - 1) / dot.Columns * dot.Columns
	padded := (n + dot.Step - 1) / dot.Step * dot.Step
	for j := range n {
		s.columns[j] = s.scale(first+j, 2, h)
	}
	for i := range n {
		shares := s.shares[:n]
		sum, m := p.shares(shares, s.scores[i*columns:][:n], s.columns[:n])
		r := int64(levels<<48) / m
		weights := s.weights[i*padded:][:padded]
		for j, v := range shares {
			weights[j] = int8((v*r + 1<<47) >> 48)
		}
		clear(weights[n:])
		s.factors[i] = m << 17 / (levels * levels * sum)
	}
}

// shares sets shares to the powers of two that scores stand for, the largest one 1, times what columns have. It returns the
// sum of the powers and the largest share.
func (p *parameters) shares(shares []int64, scores []int32, columns []int64) (sum, largest int64) {
	coarse, fine := (*[256]int32)(p.power[0]), (*[256]int32)(p.power[1])
	top := slices.Max(scores)
	shares, columns = shares[:len(scores)], columns[:len(scores)]
	largest = 1
	for j, v := range scores {
		e := power(coarse, fine, uint64(top)-uint64(v))
		sum += e
		shares[j] = e * columns[j]
		largest = max(largest, shares[j])
	}
	return sum, largest
}

// collect sets one head's part of added to the sums of the weighted values.
func (s *scratch) collect(first, end, h int) {
	n := end - first
	padded := (n + dot.Step - 1) / dot.Step * dot.Step
	values := s.head(first, 2, h)
	for j := range n {
		for i, v := range values.Row(j, width) {
			s.values[i*padded+j] = v
		}
	}
	for i := range width {
		clear(s.values[i*padded+n:][:padded-n])
	}
	added := s.added[first*hidden+h*width:]
	weights := dot.Matrix{Data: s.weights, Stride: padded}
	dot.Products(added, hidden, weights, n, dot.Matrix{Data: s.values, Stride: padded}, width, padded)
	for i := range n {
		factor := s.factors[i]
		for j, v := range added[i*hidden:][:width] {
			added[i*hidden+j] = int32(shifted(int64(v)*factor, 17))
		}
	}
}
