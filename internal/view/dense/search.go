package dense

import (
	"context"
	"encoding/binary"
	"math"
	"runtime"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
	"github.com/mnem-project/mnem/internal/base/parallel"
	"github.com/mnem-project/mnem/internal/view/index"
)

// Query asks for the vectors of a model that are like one.
type Query struct {
	Model  string
	Values []int8
	Accept Accept // nil accepts all
	K      int    // how many at most; 0 for index.LaneDepth
	// Shortlist is how many vectors at most are compared exactly where there are too many to compare
	// them all: those whose sketches are the nearest. 0 or less compares all.
	Shortlist int
	// Near leaves out of the shortlist what is farther than the vector of this rank by more than
	// chance makes likely; 0 or less leaves out nothing.
	Near  int
	Peers Peers
}

// Result is the answer to a query.
type Result struct {
	Hits  []index.Hit // by the cosine: score descending, id ascending
	Own   []index.Hit // the same nodes as Peers score them, in their order; nil without peers
	Other int         // vectors of the model of other dimensions
	None  bool        // whether there is no vector of the model
}

// Search answers a query: clause 9.5 of docs/internals/ranking.md.
func (x *Index) Search(ctx context.Context, q Query) (Result, error) {
	k := groupKey{q.Model, len(q.Values)}
	same, all, err := x.counts(ctx, k)
	res := Result{Other: all - same, None: all == 0}
	if err != nil || same == 0 {
		return res, err
	}
	g, err := x.group(ctx, k)
	if err != nil {
		return res, err
	}
	s := newSearch(q.Values, q.Accept, q.K)
	if q.Peers.Most > 0 {
		s.keepRows()
	}
	if x.exact(g.rows, k.dims, q.Shortlist) {
		err = x.scan(ctx, g, s)
	} else {
		err = x.shortlist(ctx, g, s, q)
	}
	if err != nil {
		return res, err
	}
	if res.Hits = s.Hits(); q.Peers.Most > 0 {
		res.Own = s.own(res.Hits, q.Peers)
	}
	return res, nil
}

// scan compares all vectors, some pages at a time: the processors share the products, this goroutine ranks them.
func (x *Index) scan(ctx context.Context, g *group, s *search) error {
	return x.eachBatch(ctx, g, func(batch []scanned) error {
		_ = parallel.Share(runtime.GOMAXPROCS(0), len(batch), 4, func(next func() (from, to int)) error {
			for from, to := next(); from < to; from, to = next() {
				for i := from; i < to; i++ {
					batch[i].score(g, s)
				}
			}
			return nil
		})
		for _, at := range batch {
			for i, score := range at.scores {
				if score == 0 {
					continue
				}
				if err := s.rank(at.page.rows[i], int64(score)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (p *scanned) score(g *group, s *search) {
	p.scores = make([]int32, len(p.page.rows))
	for i := range p.scores {
		if !g.dead[p.seg].Has(uint32(p.first + i)) {
			p.scores[i] = int32(s.score(p.page.rows[i]))
		}
	}
}

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

// dot returns the sum of products of two vectors of one length, which fits since that is at most graph.MaxDims.
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
	slices.SortFunc(out, index.Hit.Compare)
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
	v := values(s.rows[id])
	return v, uint64(dot(v, v))
}

// signedCosine is cosine for products below 0 too.
func signedCosine(product int32, n, m uint64) int64 {
	if product < 0 {
		return -cosine(-product, n, m)
	}
	return cosine(product, n, m)
}
