package dense

import (
	"cmp"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/view/index"
)

// ownRounds is how many times the shares of the peers are refined: docs/internals/ranking.md, Dense lanes.
const ownRounds = 32

// Peers reduces the cosines of vectors by the part that they have in common with the best ones. The zero value leaves
// cosines unchanged.
type Peers struct {
	Most int
	// Ease is added to the product of each peer with itself, in units of 2^-16: the greater it is, the smaller the
	// reduction.
	Ease int64
}

// keepRows caches copies of the rows of accepted nodes; the originals are parts of larger buffers.
func (s *search) keepRows() {
	s.rows = map[graph.ID][]byte{}
	accept := s.Accept
	s.Accept = func(id graph.ID) (bool, error) {
		if accept != nil {
			if ok, err := accept(id); err != nil || !ok {
				return ok, err
			}
		}
		s.rows[id] = slices.Clone(s.row)
		return true, nil
	}
	s.Gone = func(id graph.ID) { delete(s.rows, id) }
}

// own returns hits, which are in order, by their own share of the query: the cosine less the part that the cosines of
// the peers predict. In the order (score descending, id ascending).
func (s *search) own(hits []index.Hit, p Peers) []index.Hit {
	peers := make([][]int8, min(p.Most, len(hits)))
	norms := make([]uint64, len(peers))
	for i := range peers {
		peers[i], norms[i] = s.values(hits[i].ID)
	}
	like := make([]int64, len(hits)*len(peers)) // of each hit to each peer
	for i, h := range hits {
		v, n := s.values(h.ID)
		for j, peer := range peers {
			like[i*len(peers)+j] = signedCosine(dot(v, peer), n, norms[j])
		}
	}
	shares := solve(hits, like, len(peers), p.Ease)
	out := slices.Clone(hits)
	for i := range out {
		sum := int64(0)
		for j, share := range shares {
			sum += like[i*len(peers)+j] * share
		}
		out[i].Score = max(1, out[i].Score-sum>>fixed.FracBits)
	}
	slices.SortFunc(out, func(a, b index.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), a.ID.Compare(b.ID))
	})
	return out
}

// solve approximates the shares y of the first n hits, (like + ease)·y = scores, by rounds of Gauss and Seidel. Nothing
// overflows: like is a matrix of cosines, so y starts within a few units of one, and each round improves it.
func solve(hits []index.Hit, like []int64, n int, ease int64) []int64 {
	y := make([]int64, n)
	for range ownRounds {
		for i := range y {
			sum := hits[i].Score << fixed.FracBits
			for j := range y {
				if j != i {
					sum -= like[i*n+j] * y[j]
				}
			}
			y[i] = floorDiv(sum, fixed.One+ease)
		}
	}
	return y
}

// floorDiv returns floor(a / b) for b > 0.
func floorDiv(a, b int64) int64 {
	if q := a / b; q*b <= a {
		return q
	}
	return a/b - 1
}

// values returns the vector of a hit and the sum of its squares.
func (s *search) values(id graph.ID) ([]int8, uint64) {
	v := make([]int8, len(s.query))
	for i, b := range s.rows[id][rowHead:] {
		v[i] = int8(b)
	}
	return v, uint64(dot(v, v))
}

// signedCosine is cosine for products below 0 too.
func signedCosine(product int32, n, m uint64) int64 {
	if product < 0 {
		return -cosine(-product, n, m)
	}
	return cosine(product, n, m)
}
