package community

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/mnem-project/mnem/graph"
)

// MaxEdges bounds the edges of a graph whose communities are found: more would take gigabytes.
const MaxEdges = 1 << 23

// ErrTooLarge is returned by Find for more than MaxEdges edges.
var ErrTooLarge = errors.New("too many edges for communities")

// Edge is an edge as communities see it.
type Edge struct {
	Src, Dst graph.ID
	Weight   uint32 // 1 to graph.MaxWeight in units of 2^-16
}

// Member is a node of a community.
type Member struct {
	ID     graph.ID
	Inside uint64 // weight of its edges to other members, in units of 2^-16
}

// Partition is the communities of a graph. It is immutable and safe for concurrent use.
type Partition struct {
	members [][]Member
	ids     []graph.ID // of all members, ascending
	of      []int32    // their communities
	least   []graph.ID // the smallest id of each
}

// Find returns the communities of the nodes that edges connect, of at least two nodes each. It reads edges once; their
// order does not matter. It returns errors of edges and the context's, and one that wraps ErrTooLarge.
func Find(ctx context.Context, edges iter.Seq2[Edge, error]) (*Partition, error) {
	links, loops, ids, err := read(edges)
	if err != nil {
		return nil, err
	}
	l := newLevel(len(ids), links, loops)
	of, err := leiden(ctx, l)
	if err != nil {
		return nil, err
	}
	return newPartition(group(l, of, ids)), nil
}

// read numbers the ends of the edges in the order of their ids.
func read(edges iter.Seq2[Edge, error]) (links []link, loops map[int32]uint64, ids []graph.ID, err error) {
	numbers, n := make(map[graph.ID]int32), 0
	number := func(id graph.ID) int32 {
		u, ok := numbers[id]
		if !ok {
			u = int32(len(numbers))
			numbers[id] = u
			ids = append(ids, id)
		}
		return u
	}
	loops = make(map[int32]uint64)
	for e, err := range edges {
		if err != nil {
			return nil, nil, nil, err
		}
		if n++; n > MaxEdges {
			return nil, nil, nil, fmt.Errorf("%w: limit %d", ErrTooLarge, MaxEdges)
		}
		a, b := number(e.Src), number(e.Dst)
		if a == b {
			loops[a] += uint64(e.Weight)
			continue
		}
		links = append(links, link{a, b, uint64(e.Weight)})
	}
	slices.SortFunc(ids, func(a, b graph.ID) int { return bytes.Compare(a[:], b[:]) })
	place := make([]int32, len(ids)) // of what was numbered as it came
	for i, id := range ids {
		place[numbers[id]] = int32(i)
	}
	for i, e := range links {
		a, b := place[e.a], place[e.b]
		links[i].a, links[i].b = min(a, b), max(a, b)
	}
	placed := make(map[int32]uint64, len(loops))
	for u, w := range loops {
		placed[place[u]] = w
	}
	return links, placed, ids, nil
}

// group returns the communities of at least two nodes in order, and their members in order.
func group(l *level, of []int32, ids []graph.ID) [][]Member {
	sets := make(map[int32][]Member)
	for u, c := range of {
		m := Member{ID: ids[u]}
		for i := l.from[u]; i < l.from[u+1]; i++ {
			if of[l.to[i]] == c {
				m.Inside += l.weight[i]
			}
		}
		sets[c] = append(sets[c], m)
	}
	out := make([][]Member, 0, len(sets))
	first := make(map[graph.ID]graph.ID, len(sets)) // smallest member by that in front
	for _, set := range sets {
		if len(set) < 2 {
			continue
		}
		least := set[0].ID // ids ascend so far
		slices.SortFunc(set, byInside)
		first[set[0].ID] = least
		out = append(out, set)
	}
	slices.SortFunc(out, func(a, b []Member) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), first[a[0].ID].Compare(first[b[0].ID]))
	})
	return out
}

func byInside(a, b Member) int {
	return cmp.Or(cmp.Compare(b.Inside, a.Inside), a.ID.Compare(b.ID))
}

// newPartition makes the table by id. An id in two places is there twice.
func newPartition(members [][]Member) *Partition {
	p := &Partition{members: members}
	type row struct {
		id graph.ID
		of int32
	}
	var rows []row
	for c, set := range members {
		for _, m := range set {
			rows = append(rows, row{m.ID, int32(c)})
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return a.id.Compare(b.id) })
	p.ids, p.of = make([]graph.ID, len(rows)), make([]int32, len(rows))
	p.least = make([]graph.ID, len(members))
	for i := len(rows) - 1; i >= 0; i-- {
		r := rows[i]
		p.ids[i], p.of[i], p.least[r.of] = r.id, r.of, r.id
	}
	return p
}

// Len returns the number of communities.
func (p *Partition) Len() int { return len(p.members) }

// Nodes returns the number of nodes that are in a community.
func (p *Partition) Nodes() int { return len(p.ids) }

// Members returns the members of a community, 0 to Len()-1: those of the most weight inside first,
// of equal ones the smallest id. Communities are in order: the largest first, of equally large ones
// that with the smallest id. The list must not be changed.
func (p *Partition) Members(number int) []Member { return p.members[number] }

// Smallest returns the smallest id in a community.
func (p *Partition) Smallest(number int) graph.ID { return p.least[number] }

// Of returns the number of the community that a node is in, ok false if it is in none.
func (p *Partition) Of(id graph.ID) (number int, ok bool) {
	i, ok := slices.BinarySearchFunc(p.ids, id, graph.ID.Compare)
	if !ok {
		return 0, false
	}
	return int(p.of[i]), true
}
