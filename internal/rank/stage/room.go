package stage

import (
	"sync"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// room is the memory that a retrieval works in. Its end leaves it to the next one: expansion looks at
// thousands of nodes and hands out a hundred of them, and to clear memory is cheaper than to collect it.
type room struct {
	facts         slab[facts]
	contributions slab[contribution]
	inflows       slab[inflow]
	spreads       slab[spread]
	nodes         map[graph.ID]*facts
	links         map[graph.ID][]edge
	edges         stretches[edge] // entries of links
	bucket        []source.Link   // of one bucket
	taken         bool            // whether nodes and links are in use

	round, reached []*facts // of a contributor
	others         []offer
	gains          stretches[int64] // of spreads

	candidates slab[candidate]
	lanes      stretches[retrieve.LaneHit] // of candidates
}

var rooms = sync.Pool{New: func() any {
	return &room{nodes: map[graph.ID]*facts{}, links: map[graph.ID][]edge{}}
}}

// most that a room keeps for the next retrieval.
const (
	slabSize = 128
	maxSlabs = 64
	maxRoom  = maxSlabs * slabSize // entries of a map
	edgeRoom = 1024                // entries of a chunk; a chunk with more belongs to a single node with that many

	maxStretches = 8 // chunks
	maxBucketed  = 2 * maxFanOut
)

// leave clears the room, which must not be in use any longer.
func (m *room) leave() {
	m.facts.clear()
	m.contributions.clear()
	m.inflows.clear()
	m.spreads.clear()
	if len(m.nodes) > maxRoom {
		m.nodes = map[graph.ID]*facts{}
	}
	clear(m.nodes)
	clear(m.links)
	m.taken = false
	m.edges.clear()
	m.candidates.clear()
	m.lanes.clear()
	m.bucket = emptied(m.bucket, maxBucketed)
	m.round, m.reached = emptied(m.round, maxRoom), emptied(m.reached, maxRoom)
	m.others = emptied(m.others, maxRoom)
	m.gains.clear()
	rooms.Put(m)
}

// emptied returns the storage of a list, none if that is larger than most.
func emptied[T any](list []T, most int) []T {
	if cap(list) > most {
		return nil
	}
	clear(list[:cap(list)])
	return list[:0]
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

// stretches makes lists that live as long as the request, many in one allocation.
type stretches[T any] struct {
	chunks [][]T
	at     int // the chunk that lists are taken from
	used   int // of it
}

// take returns room for a list of n.
func (s *stretches[T]) take(n int) []T {
	for s.at < len(s.chunks) && s.used+n > len(s.chunks[s.at]) {
		s.at, s.used = s.at+1, 0
	}
	if s.at == len(s.chunks) {
		s.chunks = append(s.chunks, make([]T, max(n, edgeRoom)))
	}
	from := s.used
	s.used += n
	return s.chunks[s.at][from:from:s.used]
}

// clear takes all lists back.
func (s *stretches[T]) clear() {
	s.chunks = s.chunks[:min(len(s.chunks), maxStretches)]
	for i := range min(s.at+1, len(s.chunks)) {
		clear(s.chunks[i])
	}
	s.at, s.used = 0, 0
}
