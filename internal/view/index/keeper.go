package index

import (
	"cmp"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/heap"
)

// Keeper keeps the best nodes that Accept accepts; nil accepts all. It calls Accept only for nodes that would be among
// the best of those offered so far.
type Keeper struct {
	Accept func(graph.ID) (bool, error)
	Gone   func(graph.ID) // called with a node that is no longer kept; nil for no call
	k      int
	heap   []Hit // the worst at its root
}

// NewKeeper returns a keeper of k nodes, LaneDepth if that is 0.
func NewKeeper(accept func(graph.ID) (bool, error), k int) Keeper {
	if k <= 0 {
		k = LaneDepth
	}
	return Keeper{Accept: accept, k: k}
}

// Take keeps a hit that is among the best so far, if it is accepted.
func (s *Keeper) Take(h Hit) error {
	full := len(s.heap) == s.k
	if full && worse(h, s.heap[0]) {
		return nil
	}
	if s.Accept != nil {
		if ok, err := s.Accept(h.ID); !ok || err != nil {
			return err
		}
	}
	if full {
		if s.Gone != nil {
			s.Gone(s.heap[0].ID)
		}
		s.heap[0] = h
		heap.Down(s.heap, 0, worse)
	} else {
		s.heap = append(s.heap, h)
		heap.Up(s.heap, worse)
	}
	return nil
}

// worse reports whether a ranks after b.
func worse(a, b Hit) bool {
	return a.Score < b.Score || a.Score == b.Score && a.ID.Compare(b.ID) > 0
}

// Hits returns the best nodes in the order (score descending, id ascending).
func (s *Keeper) Hits() []Hit {
	hits := slices.Clone(s.heap)
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), a.ID.Compare(b.ID))
	})
	return hits
}
