package community

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
)

// Bounds of clause 20.1: both are far above what graphs of any kind take, and make the time proportional to the edges.
const (
	maxPasses = 32
	maxLevels = 32
)

// ctxEvery is how many nodes take their turns between two looks at the context.
const ctxEvery = 1 << 14

// number is a signed integer of 128 bits in two's complement.
type number struct {
	hi int64
	lo uint64
}

// difference returns a*b - c*d, each of them below 2^62: exactly.
func difference(a, b, c, d uint64) number {
	hi1, lo1 := bits.Mul64(a, b)
	hi2, lo2 := bits.Mul64(c, d)
	lo, borrow := bits.Sub64(lo1, lo2, 0)
	hi, _ := bits.Sub64(hi1, hi2, borrow)
	return number{int64(hi), lo}
}

func (n number) compare(o number) int {
	switch {
	case n.hi != o.hi && n.hi < o.hi, n.hi == o.hi && n.lo < o.lo:
		return -1
	case n == o:
		return 0
	}
	return 1
}

func (n number) positive() bool { return n.hi > 0 || n.hi == 0 && n.lo > 0 }

// gain is the increase of modularity, times total²/2, if u, which is alone, joins a community with a total degree.
// weight is the weight of u's edges to it.
func (l *level) gain(u int32, weight, degrees uint64) number {
	return difference(l.total, weight, l.degree[u], degrees)
}

func leiden(ctx context.Context, l *level) ([]int32, error) {
	first := l
	at := make([]int32, l.size()) // the nodes of the first level in this level
	p := make([]int32, l.size())
	for u := range p {
		at[u], p[u] = int32(u), int32(u)
	}
	for range maxLevels {
		if err := l.move(ctx, p); err != nil {
			return nil, err
		}
		r, err := l.refine(ctx, p)
		if err != nil {
			return nil, err
		}
		next, into := l.merge(r)
		if next.size() == l.size() {
			break
		}
		p = carry(p, into, next.size())
		for u, v := range at {
			at[u] = into[v]
		}
		l = next
	}
	for u, v := range at {
		at[u] = p[v]
	}
	return first.connected(ctx, at)
}

// carry returns the communities of a level's nodes in the next level, each named by its first node there. The parts of
// a new node are all in one community.
func carry(p, into []int32, size int) []int32 {
	of := make([]int32, size)
	for u, a := range into {
		of[a] = p[u]
	}
	name := make([]int32, len(p))
	for i := range name {
		name[i] = -1
	}
	for a, c := range of {
		if name[c] < 0 {
			name[c] = int32(a)
		}
		of[a] = name[c]
	}
	return of
}

// move lets the nodes, in order and again and again, each go to the community of a neighbour where
// modularity gains the most, until none gains anything.
func (l *level) move(ctx context.Context, p []int32) error {
	degrees := make([]uint64, l.size()) // of the communities
	for u, c := range p {
		degrees[c] += l.degree[u]
	}
	t := newTally(l.size())
	for range maxPasses {
		moved := false
		for i := range p {
			if i%ctxEvery == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			u, own := int32(i), p[i]
			l.gather(t, p, u)
			degrees[own] -= l.degree[u]
			best, most := own, l.gain(u, t.sum[own], degrees[own])
			for _, c := range t.found {
				if c == own {
					continue
				}
				g := l.gain(u, t.sum[c], degrees[c])
				if sign := g.compare(most); sign > 0 || sign == 0 && best != own && c < best {
					best, most = c, g
				}
			}
			degrees[best] += l.degree[u]
			if best != own {
				p[u], moved = best, true
			}
		}
		if !moved {
			break
		}
	}
	return nil
}

// refine divides each community of p again, starting from single nodes. A node that is still alone joins the set in its
// community with the largest gain in modularity. Only sets that are well connected to the rest of their community take
// part.
func (l *level) refine(ctx context.Context, p []int32) ([]int32, error) {
	n := l.size()
	r, alone := make([]int32, n), make([]bool, n)
	whole := make([]uint64, n)   // degrees of the communities of p
	degrees := make([]uint64, n) // of the communities of r
	cut := make([]uint64, n)     // weight of their edges to the rest of their community of p
	inside := make([]uint64, n)  // of the nodes, likewise
	for u, c := range p {
		r[u], alone[u] = int32(u), true
		whole[c] += l.degree[u]
		degrees[u] = l.degree[u]
		for i := l.from[u]; i < l.from[u+1]; i++ {
			if p[l.to[i]] == c {
				inside[u] += l.weight[i]
			}
		}
		cut[u] = inside[u]
	}
	held := func(c int32, whole uint64) bool {
		lost := difference(l.total, cut[c], degrees[c], whole-degrees[c])
		return lost.hi >= 0
	}
	t := newTally(n)
	for i := range r {
		if i%ctxEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		u := int32(i)
		if !alone[u] || !held(u, whole[p[u]]) {
			continue
		}
		t.clear()
		for i := l.from[u]; i < l.from[u+1]; i++ {
			if v := l.to[i]; p[v] == p[u] {
				t.add(r[v], l.weight[i])
			}
		}
		best, most := u, number{}
		for _, c := range t.found {
			g := l.gain(u, t.sum[c], degrees[c])
			sign := g.compare(most)
			if sign < 0 || sign == 0 && (!g.positive() || c > best) || !held(c, whole[p[u]]) {
				continue
			}
			best, most = c, g
		}
		if best == u {
			continue
		}
		r[u], alone[u], alone[best] = best, false, false
		cut[best] += inside[u] - 2*t.sum[best]
		degrees[best] += l.degree[u]
	}
	return r, nil
}

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

// connected returns the parts of the communities of p that edges hold together, each by the number of its first node.
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
