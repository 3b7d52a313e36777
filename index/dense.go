package index

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/fixed"
)

const (
	// denseBlockBytes is the size of the pieces that a matrix grows by: large enough that a scan hardly
	// notices them, small enough that growing wastes little.
	denseBlockBytes = 1 << 20
	// rowOverhead is what a vector takes in a matrix beside its dimensions: id, norm and root.
	rowOverhead = graph.IDLen + 4 + 2
)

// Matrix is the dense vectors of one model in memory: for each number of dimensions a list of
// rows. The zero Matrix is empty. Safe for concurrent searches once nothing is added any more.
type Matrix struct {
	blocks map[int][]*denseBlock // by dimensions
	rows   map[int]int
	total  int
	bytes  int64
}

// denseBlock is some rows, ascending by id.
type denseBlock struct {
	ids   []graph.ID
	norms []uint32 // sums of squares: at most 2^16 · 127², which is below 2^31
	roots []uint16 // their integer roots
	data  []int8   // rows one after another
}

// Add adds a node's vector. Nodes come in ascending order of their ids, each once.
func (m *Matrix) Add(id graph.ID, vector []int8) {
	if m.blocks == nil {
		m.blocks, m.rows = map[int][]*denseBlock{}, map[int]int{}
	}
	dims := len(vector)
	list := m.blocks[dims]
	if n := len(list); n == 0 || len(list[n-1].data)+dims > max(denseBlockBytes, dims) {
		m.blocks[dims] = append(list, new(denseBlock))
		list = m.blocks[dims]
	}
	b := list[len(list)-1]
	b.ids = append(b.ids, id)
	norm := uint64(dot(vector, vector))
	b.norms = append(b.norms, uint32(norm))
	b.roots = append(b.roots, uint16(fixed.Isqrt(norm)))
	b.data = append(b.data, vector...)
	m.rows[dims]++
	m.total++
	m.bytes += int64(dims) + rowOverhead
}

// Rows returns the number of vectors of some dimensions, and of all.
func (m *Matrix) Rows(dims int) (of, all int) { return m.rows[dims], m.total }

// Bytes returns about how many bytes the matrix takes.
func (m *Matrix) Bytes() int64 { return m.bytes }

// Search offers all vectors of the query's dimensions to s.
func (m *Matrix) Search(ctx context.Context, s *DenseSearch) error {
	dims := len(s.query)
	for _, b := range m.blocks[dims] {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.searchBlock(b); err != nil {
			return err
		}
	}
	return nil
}

// searchBlock offers the rows of a block. Most are out without a root being taken: isqrt(n·m) is no
// less than the product of the roots of n and m, so that what is below the worst score kept by
// those is below it by the formula too.
func (s *DenseSearch) searchBlock(b *denseBlock) error {
	dims, root := len(s.query), int64(fixed.Isqrt(s.norm))
	for i, id := range b.ids {
		d := dot(s.query, b.data[i*dims:(i+1)*dims])
		if d <= 0 {
			continue
		}
		if len(s.heap) == s.k &&
			int64(d)<<fixed.FracBits < s.heap[0].Score*root*int64(b.roots[i]) {
			continue
		}
		if err := s.offer(id, d, uint64(b.norms[i])); err != nil {
			return err
		}
	}
	return nil
}

// DenseSearch ranks vectors by their cosine with a query: clause 9.5 of the specification. Not
// safe for concurrent use.
type DenseSearch struct {
	query []int8
	norm  uint64
	keeper
}

// keeper keeps the best accepted nodes.
type keeper struct {
	accept func(graph.ID) (bool, error)
	k      int
	heap   []Hit // the worst at its root
}

func newKeeper(accept func(graph.ID) (bool, error), k int) keeper {
	if k <= 0 {
		k = LaneDepth
	}
	return keeper{accept: accept, k: k}
}

// NewDenseSearch returns a search for the best k accepted nodes; k = 0 stands for LaneDepth, and a
// nil accept for all nodes. accept is asked of a node only where it would be among the best of
// those offered so far; its error ends the search.
func NewDenseSearch(query []int8, accept func(graph.ID) (bool, error), k int) *DenseSearch {
	return &DenseSearch{
		query: query, norm: uint64(dot(query, query)), keeper: newKeeper(accept, k),
	}
}

// Offer ranks a node's vector. One of other dimensions than the query's is passed over.
func (s *DenseSearch) Offer(id graph.ID, vector []int8) error {
	if len(vector) != len(s.query) {
		return nil
	}
	return s.offer(id, dot(s.query, vector), uint64(dot(vector, vector)))
}

func (s *DenseSearch) offer(id graph.ID, product int32, norm uint64) error {
	h := Hit{ID: id, Score: cosine(product, s.norm, norm)}
	if h.Score <= 0 {
		return nil
	}
	return s.take(h)
}

// take keeps a hit that is among the best so far, if it is accepted.
func (s *keeper) take(h Hit) error {
	full := len(s.heap) == s.k
	if full && worse(h, s.heap[0]) {
		return nil
	}
	if s.accept != nil {
		if ok, err := s.accept(h.ID); !ok || err != nil {
			return err
		}
	}
	if full {
		s.heap[0] = h
		heapDown(s.heap, 0, worse)
	} else {
		s.heap = append(s.heap, h)
		heapUp(s.heap, worse)
	}
	return nil
}

// worse reports whether a ranks after b.
func worse(a, b Hit) bool {
	return a.Score < b.Score || a.Score == b.Score && a.ID.Compare(b.ID) > 0
}

// Hits returns the best nodes in the order (score descending, id ascending).
func (s *keeper) Hits() []Hit {
	hits := slices.Clone(s.heap)
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), a.ID.Compare(b.ID))
	})
	return hits
}

// cosine returns floor(dot · 2^16 / isqrt(n · m)) of the dot product and the sums of squares of two
// vectors, and 0 for products that are not above 0: those say of no likeness. It is at most 2^16,
// since dot is an integer no larger than the root.
func cosine(product int32, n, m uint64) int64 {
	if product <= 0 {
		return 0
	}
	return int64(uint64(product) << fixed.FracBits / fixed.Isqrt(n*m))
}

// dot returns the sum of products of two vectors of one length, which fits since that is at most
// graph.MaxDims. Sums of integers are the same in every order, so that four of them at a time
// change nothing but the speed.
func dot(a, b []int8) int32 {
	const _ = uint(math.MaxInt32 - graph.MaxDims*127*127) // it fits
	b = b[:len(a)]
	var s0, s1, s2, s3 int32
	for len(a) >= 8 && len(b) >= 8 {
		x, y := (*[8]int8)(a), (*[8]int8)(b)
		s0 += int32(x[0])*int32(y[0]) + int32(x[4])*int32(y[4])
		s1 += int32(x[1])*int32(y[1]) + int32(x[5])*int32(y[5])
		s2 += int32(x[2])*int32(y[2]) + int32(x[6])*int32(y[6])
		s3 += int32(x[3])*int32(y[3]) + int32(x[7])*int32(y[7])
		a, b = a[8:], b[8:]
	}
	for i, x := range a {
		s0 += int32(x) * int32(b[i])
	}
	return s0 + s1 + s2 + s3
}
