package index

import (
	"cmp"
	"slices"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/heap"
)

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
func (s *keeper) Hits() []Hit {
	hits := slices.Clone(s.heap)
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), a.ID.Compare(b.ID))
	})
	return hits
}
