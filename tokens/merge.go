package tokens

import "container/heap"

// merger counts the parts that are left of a piece. It may be used again, one piece at a time.
type merger struct {
	list  []part
	pairs pairHeap
}

// part is a run of bytes that begins at its own place in the list of parts.
type part struct{ before, after int32 }

// pair is two parts next to each other that together are a token.
type pair struct {
	rank     int32
	at       int32 // where the first begins
	mid, end int32 // where the second begins and ends: of parts merged since these differ
}

// pairHeap has the pair of the lowest rank in front, of equal ones the first in the piece.
type pairHeap []pair

func (h pairHeap) Len() int      { return len(h) }
func (h pairHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h pairHeap) Less(i, j int) bool {
	return h[i].rank < h[j].rank || h[i].rank == h[j].rank && h[i].at < h[j].at
}
func (h *pairHeap) Push(x any) { *h = append(*h, x.(pair)) }
func (h *pairHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

// parts returns how many tokens a piece is merged into. Every byte is a token.
func (m *merger) parts(ranks map[string]int32, piece string) int {
	n := int32(len(piece))
	m.list, m.pairs = m.list[:0], m.pairs[:0]
	for i := range n {
		m.list = append(m.list, part{i - 1, i + 1})
	}
	look := func(at int32) (pair, bool) {
		mid := m.list[at].after
		if mid == n {
			return pair{}, false
		}
		end := m.list[mid].after
		rank, ok := ranks[piece[at:end]]
		return pair{rank, at, mid, end}, ok
	}
	for at := range n {
		if p, ok := look(at); ok {
			m.pairs = append(m.pairs, p)
		}
	}
	heap.Init(&m.pairs)
	left := int(n)
	for len(m.pairs) > 0 {
		p := heap.Pop(&m.pairs).(pair)
		// One of its parts may have been merged with another meanwhile.
		if m.list[p.at].after != p.mid || m.list[p.mid].after != p.end {
			continue
		}
		left--
		m.list[p.at].after = p.end
		m.list[p.mid].after = -1 // no part begins here any more
		if p.end < n {
			m.list[p.end].before = p.at
		}
		if next, ok := look(p.at); ok {
			heap.Push(&m.pairs, next)
		}
		if before := m.list[p.at].before; before >= 0 {
			if next, ok := look(before); ok {
				heap.Push(&m.pairs, next)
			}
		}
	}
	return left
}
