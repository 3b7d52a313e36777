package index

import (
	"context"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/fixed"
)

const (
	// listOverhead is the approximate overhead of a term in a SparseMatrix, without its bytes and places.
	listOverhead = 64
	placeBytes   = 8
	// rowsPerCheck is how many rows are ranked before the context is asked again.
	rowsPerCheck = 1 << 14
)

// SparseMatrix is the sparse vectors of one model in memory, by their terms. The zero SparseMatrix
// is empty. Safe for concurrent searches once nothing is added any more.
type SparseMatrix struct {
	ids   []graph.ID
	terms map[string][]sparsePlace
	bytes int64
}

type sparsePlace struct{ row, weight uint32 }

// Add adds a node's vector, whose weights are 1 to 2^31 - 1. Nodes come in ascending order of their ids, each once.
func (m *SparseMatrix) Add(id graph.ID, vector []graph.Term) {
	if m.terms == nil {
		m.terms = map[string][]sparsePlace{}
	}
	row := uint32(len(m.ids))
	before := cap(m.ids)
	m.ids = append(m.ids, id)
	m.bytes += int64(cap(m.ids)-before) * graph.IDLen
	for _, t := range vector {
		list, known := m.terms[t.Term]
		if !known {
			m.bytes += int64(len(t.Term)) + listOverhead
		}
		before := cap(list)
		list = append(list, sparsePlace{row, uint32(t.Weight)})
		m.bytes += int64(cap(list)-before) * placeBytes
		m.terms[t.Term] = list
	}
}

// Rows returns the number of vectors.
func (m *SparseMatrix) Rows() int { return len(m.ids) }

// Bytes returns about how many bytes the matrix takes.
func (m *SparseMatrix) Bytes() int64 { return m.bytes }

// Search offers all vectors that share a term with the query to s. It looks at nothing of the other
// terms, and takes 8 bytes a row while it runs.
func (m *SparseMatrix) Search(ctx context.Context, s *SparseSearch) error {
	products := make([]uint64, len(m.ids))
	for _, t := range s.query {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, p := range m.terms[t.Term] {
			products[p.row] = fixed.AddSat(products[p.row], uint64(t.Weight)*uint64(p.weight))
		}
	}
	for row, product := range products {
		if row%rowsPerCheck == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if err := s.offer(m.ids[row], product); err != nil {
			return err
		}
	}
	return nil
}

// SparseSearch ranks vectors by their product with a query: clause 9.7 of docs/internals/ranking.md. Not
// safe for concurrent use.
type SparseSearch struct {
	query   []graph.Term
	weights map[string]int64 // of the query, made where vectors are offered one by one
	Keeper
}

// NewSparseSearch returns a search for the best k accepted nodes; k = 0 stands for LaneDepth, and a nil accept for all
// nodes. accept is called for a node only if it would be among the best of those offered so far; if it returns an
// error, the search ends. Weights of the query are 1 to 2^31 - 1.
func NewSparseSearch(query []graph.Term, accept func(graph.ID) (bool, error), k int) *SparseSearch {
	return &SparseSearch{query: query, Keeper: NewKeeper(accept, k)}
}

// Offer ranks a node's vector.
func (s *SparseSearch) Offer(id graph.ID, vector []graph.Term) error {
	if s.weights == nil {
		s.weights = make(map[string]int64, len(s.query))
		for _, t := range s.query {
			s.weights[t.Term] = t.Weight
		}
	}
	product := uint64(0)
	for _, t := range vector {
		product = fixed.AddSat(product, uint64(t.Weight)*uint64(s.weights[t.Term]))
	}
	return s.offer(id, product)
}

// offer takes a product of weights, in units of 2^-32. Sums that stop at the largest number are the
// same in every order.
func (s *SparseSearch) offer(id graph.ID, product uint64) error {
	const _ = uint(53 - (64 - fixed.FracBits)) // a score fits
	if product == 0 {
		return nil
	}
	return s.Take(Hit{ID: id, Score: max(1, int64(product>>fixed.FracBits))})
}
