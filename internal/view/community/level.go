package community

import (
	"cmp"
	"context"
	"slices"
)

// level is a graph of numbered nodes: the given graph, or one whose nodes are sets of nodes of the level before. An
// edge from a node to itself counts in the degrees only.
type level struct {
	from   []int32  // the neighbours of node u are to[from[u]:from[u+1]]
	to     []int32  // each neighbour once, in no order
	weight []uint64 // of the edges to each, at least 1
	degree []uint64 // weight of all edges of each node, those to itself twice
	total  uint64   // sum of the degrees
}

func (l *level) size() int { return len(l.degree) }

// link is a pair of different nodes and the weight of the edges between them.
type link struct {
	a, b   int32 // a < b
	weight uint64
}

// newLevel makes the level of n nodes. It sorts links; several may have the same ends.
func newLevel(n int, links []link, loops map[int32]uint64) *level {
	slices.SortFunc(links, func(x, y link) int {
		return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
	})
	kept := 0
	for _, e := range links {
		if last := kept - 1; last >= 0 && links[last].a == e.a && links[last].b == e.b {
			links[last].weight += e.weight
			continue
		}
		links[kept] = e
		kept++
	}
	links = links[:kept]
	l := &level{
		from: make([]int32, n+1), degree: make([]uint64, n),
		to: make([]int32, 2*kept), weight: make([]uint64, 2*kept),
	}
	for u, w := range loops {
		l.degree[u] += 2 * w
	}
	for _, e := range links {
		l.from[e.a+1]++
		l.from[e.b+1]++
	}
	for u := range n {
		l.from[u+1] += l.from[u]
	}
	next := slices.Clone(l.from[:n])
	for _, e := range links {
		for _, ends := range [][2]int32{{e.a, e.b}, {e.b, e.a}} {
			u, v := ends[0], ends[1]
			l.to[next[u]], l.weight[next[u]] = v, e.weight
			next[u]++
			l.degree[u] += e.weight
		}
	}
	for _, k := range l.degree {
		l.total += k
	}
	return l
}

// tally adds up weights by community. Clearing it takes time proportional to the number of entries.
type tally struct {
	sum   []uint64
	found []int32 // the communities with a sum
}

func newTally(n int) *tally { return &tally{sum: make([]uint64, n)} }

func (t *tally) add(c int32, w uint64) {
	if t.sum[c] == 0 {
		t.found = append(t.found, c)
	}
	t.sum[c] += w
}

func (t *tally) clear() {
	for _, c := range t.found {
		t.sum[c] = 0
	}
	t.found = t.found[:0]
}

// gather adds up the weights of u's edges by the communities of the other ends.
func (l *level) gather(t *tally, of []int32, u int32) {
	t.clear()
	for i := l.from[u]; i < l.from[u+1]; i++ {
		t.add(of[l.to[i]], l.weight[i])
	}
}

// merge makes the level whose nodes are the communities of r, numbered in the order of their first
// nodes, and returns the number of the new node that each old one is in.
func (l *level) merge(r []int32) (*level, []int32) {
	n := l.size()
	number := make([]int32, n) // of a community, 0 for none yet, else one more
	into := make([]int32, n)
	size := int32(0)
	for u, c := range r {
		if number[c] == 0 {
			size++
			number[c] = size
		}
		into[u] = number[c] - 1
	}
	start := make([]int32, size+1)
	for _, a := range into {
		start[a+1]++
	}
	for a := range size {
		start[a+1] += start[a]
	}
	members, next := make([]int32, n), slices.Clone(start[:size])
	for u, a := range into {
		members[next[a]] = int32(u)
		next[a]++
	}
	m := &level{from: make([]int32, 1, size+1), degree: make([]uint64, size), total: l.total}
	t := newTally(int(size))
	for a := range size {
		t.clear()
		for _, u := range members[start[a]:start[a+1]] {
			m.degree[a] += l.degree[u]
			for i := l.from[u]; i < l.from[u+1]; i++ {
				if b := into[l.to[i]]; b != a {
					t.add(b, l.weight[i])
				}
			}
		}
		for _, b := range t.found {
			m.to, m.weight = append(m.to, b), append(m.weight, t.sum[b])
		}
		m.from = append(m.from, int32(len(m.to)))
	}
	return m, into
}

// connected returns the parts of the communities of p that edges hold together, each by the number
// of its first node.
func (l *level) connected(ctx context.Context, p []int32) ([]int32, error) {
	part := make([]int32, len(p))
	for u := range part {
		part[u] = -1
	}
	var todo []int32
	for u := range part {
		if part[u] >= 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		part[u] = int32(u)
		for todo = append(todo, int32(u)); len(todo) > 0; {
			v := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			for _, w := range l.to[l.from[v]:l.from[v+1]] {
				if part[w] < 0 && p[w] == p[v] {
					part[w] = int32(u)
					todo = append(todo, w)
				}
			}
		}
	}
	return part, nil
}
