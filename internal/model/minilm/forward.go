package minilm

import (
	"github.com/mnem-project/mnem/internal/model/minilm/dot"
)

// maxRows is the number of pieces of several texts that go through the layers together.
const maxRows = 2 * MaxPieces

// spare is the number of rows beyond the last that a matrix of keys is read to, since it has a multiple of dot.Columns.
const spare = dot.Columns - 1

// scratch holds the intermediate values of one run through the layers. Its slices have room for maxRows pieces or the
// most that a run needed.
type scratch struct {
	rows  int
	state []int32 // hidden numbers for each piece
	sums  []int32 // results of matrices, as sums and as numbers
	added []int32 // increments of the state
	q     []int8  // input of a matrix product
	m     []int32 // scale of each row of q; of queries, keys and values of each head

	scores  []int32 // of one head of one text
	weights []int8  // likewise
	values  []int8  // of one head of one text, a row for each of its numbers
	columns [MaxPieces]int64
	factors [MaxPieces]int64
	shares  [MaxPieces]int64
}

// grow makes room for so many pieces.
func (s *scratch) grow(rows int) {
	if rows <= s.rows {
		return
	}
	s.rows = min((rows+15)/16*16, maxRows)
	n := s.rows
	s.state, s.added = make([]int32, n*hidden), make([]int32, n*hidden)
	s.sums, s.q = make([]int32, n*inner), make([]int8, (n+spare)*inner)
	s.m = make([]int32, (n+spare)*3*heads)
	longest := min(n, MaxPieces)
	padded := (longest + dot.Step - 1) / dot.Step * dot.Step
	s.scores, s.weights = make([]int32, longest*(longest+spare)), make([]int8, longest*padded)
	s.values = make([]int8, width*padded)
}

// run computes the states of the pieces of some texts; text i ends before ends[i]. After the embeddings and each layer
// it calls seen, unless that is nil. Texts do not affect each other: the numbers of a text are the same in any batch.
func (p *parameters) run(s *scratch, ids []int32, ends []int, seen func(state []int32)) {
	s.grow(len(ids))
	p.embed(s, ids, ends)
	rows := len(ids)
	state := s.state[:rows*hidden]
	for i := range p.layers {
		if seen != nil {
			seen(state)
		}
		l := &p.layers[i]
		s.quantiseState(rows, l.smooth[0])
		l.joint.multiply(s.sums, s, rows)
		first := 0
		s.quantiseHeads(rows)
		for _, end := range ends {
			p.attend(s, first, end)
			first = end
		}
		s.quantise(s.added, rows, hidden)
		l.out.multiply(s.sums, s, rows)
		s.addAndNormalise(rows, &l.first)
		s.quantiseState(rows, l.smooth[1])
		l.up.multiply(s.sums, s, rows)
		activate(s.sums[:rows*inner], p.gelu)
		s.quantise(s.sums, rows, inner)
		l.down.multiply(s.sums, s, rows)
		s.addAndNormalise(rows, &l.second)
	}
	if seen != nil {
		seen(state)
	}
}

// embed sets the states to the normalised sums of the embeddings of pieces and positions.
func (p *parameters) embed(s *scratch, ids []int32, ends []int) {
	var sum [hidden]int32
	at, first := 0, 0
	for _, end := range ends {
		for ; at < end; at++ {
			id := int(ids[at])
			scale := int64(int32At(p.wordScale, id))
			place := p.place[(at-first)*hidden:][:hidden]
			for i, w := range p.words[id*hidden:][:hidden] {
				sum[i] = int32(shifted(int64(w)*scale, p.wordExponent-wordPoint)) + place[i]
			}
			p.norm.normalise(s.state[at*hidden:][:hidden], sum[:])
		}
		first = end
	}
}

// quantise fills q and m with rows of x.
func (s *scratch) quantise(x []int32, rows, columns int) {
	for i := range rows {
		s.m[i] = quantise(s.q[i*columns:][:columns], x[i*columns:][:columns], inputLimit)
	}
}

// quantiseState fills q and m with the states, each number times its factor.
func (s *scratch) quantiseState(rows int, factors []int32) {
	var row [hidden]int32
	factors = factors[:hidden]
	for i := range rows {
		for j, v := range s.state[i*hidden:][:hidden] {
			row[j] = int32((int64(v)*int64(factors[j]) + 1<<(smoothPoint-1)) >> smoothPoint)
		}
		s.m[i] = quantise(s.q[i*hidden:][:hidden], row[:], inputLimit)
	}
}

// addAndNormalise adds to each state a row of sums.
func (s *scratch) addAndNormalise(rows int, n *norm) {
	for i := range rows {
		state, added := s.state[i*hidden:][:hidden], s.sums[i*hidden:][:hidden]
		for j, v := range added {
			state[j] += v
		}
		n.normalise(state, state)
	}
}

// multiply sets y to the products of the matrix and each row of q, as numbers.
func (l *linear) multiply(y []int32, s *scratch, rows int) {
	q := dot.Matrix{Data: s.q, Stride: l.columns}
	dot.Products(y, l.rows, q, rows, dot.Matrix{Data: l.weights, Stride: l.columns}, l.rows, l.columns)
	for i := range rows {
		rescale(y[i*l.rows:][:l.rows], l.scale, l.bias, int64(s.m[i]), uint(l.exponent-factorDrop))
	}
}

// rescale converts a row of sums of scale m. It is a separate function so that all its values fit into registers.
func rescale(sums, scale, bias []int32, m int64, drop uint) {
	scale, bias = scale[:len(sums)], bias[:len(sums)]
	half := int64(1) << (drop - 1)
	for j, sum := range sums {
		factor := (m*int64(scale[j]) + 1<<(factorDrop-1)) >> factorDrop
		v := (int64(sum)*factor+half)>>(drop&63) + int64(bias[j])
		if v < -linearLimit || v > linearLimit {
			v = min(max(v, -linearLimit), linearLimit)
		}
		sums[j] = int32(v)
	}
}
