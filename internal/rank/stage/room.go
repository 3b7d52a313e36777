package stage

import (
	"slices"
	"sync"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// room is the memory that a retrieval works in. Its end leaves it to the next one: expansion looks at
// thousands of nodes and hands out a hundred of them, and to clear memory is cheaper than to collect it.
type room struct {
	facts         arena[facts]
	contributions arena[contribution]
	inflows       arena[inflow]
	spreads       arena[spread]
	nodes         map[graph.ID]*facts
	links         map[graph.ID][]edge
	edges         arena[edge]   // entries of links
	bucket        []source.Link // of one bucket
	taken         bool          // whether nodes and links are in use

	round, reached []*facts // of a contributor
	others         []offer
	gains          arena[int64] // of spreads

	candidates arena[candidate]
	lanes      arena[retrieve.LaneHit] // of candidates
}

var rooms = sync.Pool{New: func() any {
	return &room{nodes: map[graph.ID]*facts{}, links: map[graph.ID][]edge{}}
}}

// most that a room keeps for the next retrieval.
const (
	chunkSize   = 256 // entries of a chunk; one with more belongs to a single list
	maxChunks   = 32
	maxRoom     = maxChunks * chunkSize // entries of a map
	maxBucketed = 2 * maxFanOut
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

// arena makes values and lists that live as long as the request, many in one allocation.
type arena[T any] struct {
	chunks [][]T
	at     int // the chunk that they are taken from
	used   int // of it
}

// list returns room for a list of n.
func (a *arena[T]) list(n int) []T {
	for a.at < len(a.chunks) && a.used+n > len(a.chunks[a.at]) {
		a.at, a.used = a.at+1, 0
	}
	if a.at == len(a.chunks) {
		a.chunks = append(a.chunks, make([]T, max(n, chunkSize)))
	}
	from := a.used
	a.used += n
	return a.chunks[a.at][from:from:a.used]
}

// one returns a zero value.
func (a *arena[T]) one() *T { return &a.list(1)[:1][0] }

// clear takes everything back.
func (a *arena[T]) clear() {
	if len(a.chunks) > maxChunks {
		a.chunks = slices.Delete(a.chunks, maxChunks, len(a.chunks))
	}
	for i := range min(a.at+1, len(a.chunks)) {
		clear(a.chunks[i])
	}
	a.at, a.used = 0, 0
}
