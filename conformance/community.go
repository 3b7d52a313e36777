package main

import (
	"math/big"
	"sort"
)

// setGraph is a graph of sets of clause 20.1: w between sets, twice the inner weight on the diagonal.
type setGraph [][]int64

func (g setGraph) k(u int) int64 {
	sum := int64(0)
	for _, w := range g[u] {
		sum += w
	}
	return sum
}

func (g setGraph) m() int64 {
	sum := int64(0)
	for u := range g {
		sum += g.k(u)
	}
	return sum
}

// crossing is w(A, B).
func (g setGraph) crossing(a, b []int) int64 {
	sum := int64(0)
	for _, u := range a {
		for _, v := range b {
			sum += g[u][v]
		}
	}
	return sum
}

func (g setGraph) ks(a []int) int64 {
	sum := int64(0)
	for _, u := range a {
		sum += g.k(u)
	}
	return sum
}

// less is m · w − k · l, which may need more than 64 bits.
func (g setGraph) less(w, k, l int64) *big.Int {
	a := new(big.Int).Mul(big.NewInt(g.m()), big.NewInt(w))
	return a.Sub(a, new(big.Int).Mul(big.NewInt(k), big.NewInt(l)))
}

func (g setGraph) gain(u int, c []int) *big.Int {
	return g.less(g.crossing([]int{u}, c), g.k(u), g.ks(c))
}

// named are the sets whose name is c, without one of them.
func named(names []int, c, without int) []int {
	var out []int
	for u, name := range names {
		if name == c && u != without {
			out = append(out, u)
		}
	}
	return out
}

func (g setGraph) move(names []int) {
	for range 32 {
		changed := false
		for u := range g {
			best := names[u]
			most := g.gain(u, named(names, best, u))
			for c := range g {
				members := named(names, c, u)
				if c == names[u] || g.crossing([]int{u}, members) == 0 {
					continue
				}
				if n := g.gain(u, members); n.Cmp(most) > 0 {
					best, most = c, n
				}
			}
			changed = changed || best != names[u]
			names[u] = best
		}
		if !changed {
			return
		}
	}
}

func (g setGraph) held(a, s []int) bool {
	var rest []int
	for _, u := range s {
		if !contains(a, u) {
			rest = append(rest, u)
		}
	}
	return g.less(g.crossing(a, rest), g.ks(a), g.ks(rest)).Sign() >= 0
}

func contains(list []int, n int) bool {
	for _, x := range list {
		if x == n {
			return true
		}
	}
	return false
}

// refine returns the names of the parts, and whether any set joined another.
func (g setGraph) refine(names []int) ([]int, bool) {
	parts := make([]int, len(g))
	for u := range parts {
		parts[u] = u
	}
	joined := false
	for u := range g {
		s := named(names, names[u], -1)
		if len(named(parts, parts[u], -1)) > 1 || !g.held([]int{u}, s) {
			continue
		}
		best, most := u, new(big.Int)
		for c := range g {
			part := named(parts, c, -1)
			if c == u || len(part) == 0 || names[part[0]] != names[u] ||
				g.crossing([]int{u}, part) == 0 || !g.held(part, s) {
				continue
			}
			if n := g.gain(u, part); n.Cmp(most) > 0 {
				best, most = c, n
			}
		}
		joined = joined || best != u
		parts[u] = best
	}
	return parts, joined
}

// group20 is a community: its members in order, and the weight inside of each.
type group20 struct {
	ids    []string
	inside map[string]int64
}

// weightsOf is w over the ends of all edges, whose ids ascend.
func (s *store) weightsOf() (setGraph, []string) {
	place := map[string]int{}
	var ids []string
	for _, e := range s.edges {
		for _, end := range []string{"src", "dst"} {
			id := text(e, end)
			if _, ok := place[id]; !ok {
				place[id] = 0
				ids = append(ids, id)
			}
		}
	}
	sort.Strings(ids)
	g := make(setGraph, len(ids))
	for i, id := range ids {
		place[id], g[i] = i, make([]int64, len(ids))
	}
	for _, e := range s.edges {
		a, b := place[text(e, "src")], place[text(e, "dst")]
		g[a][b] += number(e, "weight")
		g[b][a] += number(e, "weight")
	}
	return g, ids
}

// communities is clause 20.1.
func (s *store) communities() []group20 {
	first, ids := s.weightsOf()
	sets, names := [][]int{}, []int{}
	for u := range first {
		sets, names = append(sets, []int{u}), append(names, u)
	}
	for range 32 {
		g := make(setGraph, len(sets))
		for a := range sets {
			for b := range sets {
				g[a] = append(g[a], first.crossing(sets[a], sets[b]))
			}
		}
		g.move(names)
		parts, joined := g.refine(names)
		if !joined {
			break
		}
		var next [][]int
		var of []int // the old name of each
		for u := range sets {
			at := len(next)
			for v := range u {
				if parts[v] == parts[u] {
					at = -1
				}
			}
			if at < 0 {
				continue
			}
			var union []int
			for _, v := range named(parts, parts[u], -1) {
				union = append(union, sets[v]...)
			}
			sort.Ints(union)
			next, of = append(next, union), append(of, names[u])
		}
		names = nil
		for _, old := range of {
			for a := range of {
				if of[a] == old {
					names = append(names, a)
					break
				}
			}
		}
		sets = next
	}
	whole := make([]int, len(first))
	for a, set := range sets {
		for _, u := range set {
			whole[u] = names[a]
		}
	}
	return first.groups(whole, ids)
}

// groups divides communities into connected parts and puts them in order.
func (g setGraph) groups(names []int, ids []string) []group20 {
	var out []group20
	seen := map[int]bool{}
	for u := range g {
		if seen[u] {
			continue
		}
		part := []int{u}
		for i := 0; i < len(part); i++ {
			for v := range g {
				if names[v] == names[u] && g[part[i]][v] > 0 && !contains(part, v) {
					part = append(part, v)
				}
			}
		}
		c := group20{inside: map[string]int64{}}
		for _, v := range part {
			seen[v] = true
			c.ids = append(c.ids, ids[v])
			c.inside[ids[v]] = g.crossing([]int{v}, part) - g[v][v]
		}
		if len(part) > 1 {
			sort.Strings(c.ids)
			out = append(out, c)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return len(out[i].ids) > len(out[j].ids) })
	for _, c := range out {
		sort.SliceStable(c.ids, func(i, j int) bool { return c.inside[c.ids[i]] > c.inside[c.ids[j]] })
	}
	return out
}

// group is clause 20.2.
func (q request) group(st *store, a *answer) {
	a.ungrouped = true
	if !q.community || q.blank() {
		return
	}
	groups := st.communities()
	of := func(id string) int {
		for n, c := range groups {
			if has(c.ids, id) {
				return n
			}
		}
		return -1
	}
	candidate := map[string]bool{}
	for _, h := range a.order {
		candidate[h.id] = true
	}
	more := map[string]int64{}
	var done []int
	var joined []hit
	for i, seed := range a.order {
		n := of(seed.id)
		if i == 10 || len(done) == 3 {
			break
		}
		if n < 0 || contains(done, n) {
			continue
		}
		done = append(done, n)
		for _, h := range a.order {
			if h.id != seed.id && of(h.id) == n {
				more[h.id] = seed.score / 16
				a.ungrouped = false
			}
		}
		j := int64(0)
		for at, id := range groups[n].ids {
			if at == 256 || j == 20 || seed.score/(4+j) == 0 {
				break
			}
			if candidate[id] || !q.passes(st, id) {
				continue
			}
			joined = append(joined, hit{id: id, score: seed.score / (4 + j)})
			j++
			a.ungrouped = false
		}
	}
	for i, h := range a.order {
		a.order[i].score += more[h.id]
	}
	a.order = append(a.order, joined...)
	sortHits(a.order)
}
