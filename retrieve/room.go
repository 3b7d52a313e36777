package retrieve

import (
	"sync"

	"github.com/mnem-project/mnem/graph"
)

// room is the memory that a retrieval works in. Its end leaves it to the next one: expansion looks at
// thousands of nodes and hands out a hundred of them, and to clear memory is cheaper than to collect it.
type room struct {
	facts   slab[facts]
	gifts   slab[gift]
	lents   slab[lent]
	spreads slab[spread]
	nodes   map[graph.ID]*facts
	links   map[graph.ID][]edge
	edges   []edge // what is left for entries of links
	bucket  []Link // of one bucket
	taken   bool   // whether nodes and links are in use
}

var rooms = sync.Pool{New: func() any {
	return &room{nodes: map[graph.ID]*facts{}, links: map[graph.ID][]edge{}}
}}

// most that a room keeps for the next retrieval.
const (
	slabSize    = 128
	maxSlabs    = 64
	maxRoom     = maxSlabs * slabSize // entries of a map
	edgeRoom    = 1024
	maxBucketed = 2 * maxFanOut
)

// leave clears the room, of which nothing may be in use any more.
func (m *room) leave() {
	m.facts.clear()
	m.gifts.clear()
	m.lents.clear()
	m.spreads.clear()
	if len(m.nodes) > maxRoom {
		m.nodes = map[graph.ID]*facts{}
	}
	clear(m.nodes)
	clear(m.links)
	m.taken, m.edges = false, nil
	clear(m.bucket[:cap(m.bucket)])
	if m.bucket = m.bucket[:0]; cap(m.bucket) > maxBucketed {
		m.bucket = nil
	}
	rooms.Put(m)
}

// slab makes values that live as long as the request, many in one allocation.
type slab[T any] struct {
	chunks [][]T
	at     int // the chunk that values are taken from
	used   int // of it
}

func (s *slab[T]) take() *T {
	if s.used == slabSize {
		s.at, s.used = s.at+1, 0
	}
	if s.at == len(s.chunks) {
		s.chunks = append(s.chunks, make([]T, slabSize))
	}
	s.used++
	return &s.chunks[s.at][s.used-1]
}

// clear takes all values back.
func (s *slab[T]) clear() {
	for i := range min(s.at+1, len(s.chunks)) {
		clear(s.chunks[i])
	}
	if len(s.chunks) > maxSlabs {
		clear(s.chunks[maxSlabs:])
		s.chunks = s.chunks[:maxSlabs]
	}
	s.at, s.used = 0, 0
}

// entries returns room for so many entries of links.
func (m *room) entries(n int) []edge {
	if n > len(m.edges) {
		m.edges = make([]edge, max(n, edgeRoom))
	}
	list := m.edges[:0:n]
	m.edges = m.edges[n:]
	return list
}
