package community

import (
	"slices"
	"testing"
)

// naive is a weighted graph as a matrix: w[u][v] = w[v][u], and w[u][u] twice the loops.
type naive [][]int64

func (g naive) degree(u int) (sum int64) {
	for _, w := range g[u] {
		sum += w
	}
	return sum
}

func (g naive) total() (sum int64) {
	for u := range g {
		sum += g.degree(u)
	}
	return sum
}

// modularity returns the modularity of a division, times total²: the weight inside less the weight expected by chance.
func (g naive) modularity(p []int) (q int64) {
	m := g.total()
	for u := range g {
		for v := range g {
			if p[u] == p[v] {
				q += m*g[u][v] - g.degree(u)*g.degree(v)
			}
		}
	}
	return q
}

// between is the weight between two sets.
func (g naive) between(a, b []int) (sum int64) {
	for _, u := range a {
		for _, v := range b {
			sum += g[u][v]
		}
	}
	return sum
}

func (g naive) degrees(set []int) (sum int64) {
	for _, u := range set {
		sum += g.degree(u)
	}
	return sum
}

func set(p []int, c int) (out []int) {
	for u := range p {
		if p[u] == c {
			out = append(out, u)
		}
	}
	return out
}

// move is the first step of clause 20.1 by the definition of modularity, and sees that each move
// raises it.
func (g naive) move(t *testing.T, p []int) {
	for range maxPasses {
		moved := false
		for u := range g {
			own, most := p[u], g.modularity(p)
			best, before := own, most
			for c := range g {
				near := false
				for v := range g {
					near = near || v != u && g[u][v] > 0 && p[v] == c
				}
				if p[u] = c; near && g.modularity(p) > most {
					best, most = c, g.modularity(p)
				}
			}
			if p[u] = best; best != own {
				if moved = true; g.modularity(p) <= before {
					t.Fatalf("moving %d to %d does not raise the modularity", u, best)
				}
			}
		}
		if !moved {
			return
		}
	}
}

func (g naive) refine(t *testing.T, p []int) []int {
	r := make([]int, len(g))
	for u := range r {
		r[u] = u
	}
	held := func(part []int, whole []int) bool {
		rest := slices.DeleteFunc(slices.Clone(whole), func(u int) bool {
			return slices.Contains(part, u)
		})
		return g.total()*g.between(part, rest) >= g.degrees(part)*g.degrees(rest)
	}
	for u := range g {
		whole := set(p, p[u])
		if len(set(r, u)) != 1 || r[u] != u || !held([]int{u}, whole) {
			continue
		}
		best, before := u, g.modularity(r)
		most := before
		for c := range g {
			part := set(r, c)
			if c == u || len(part) == 0 || p[part[0]] != p[u] || g.between([]int{u}, part) == 0 ||
				!held(part, whole) {
				continue
			}
			r[u] = c
			if q := g.modularity(r); q > most {
				best, most = c, q
			}
			r[u] = u
		}
		if r[u] = best; g.modularity(r) < before {
			t.Fatalf("refining %d lowers the modularity", u)
		}
	}
	return r
}

// connected reports whether edges hold a set together.
func (g naive) connected(nodes []int) bool {
	seen := []int{nodes[0]}
	for i := 0; i < len(seen); i++ {
		for _, v := range nodes {
			if g[seen[i]][v] > 0 && !slices.Contains(seen, v) {
				seen = append(seen, v)
			}
		}
	}
	return len(seen) == len(nodes)
}

// leiden is clause 20.1 for tests: slow, and by the definitions alone.
func (g naive) leiden(t *testing.T) []int {
	all := g
	at, p := make([]int, len(g)), make([]int, len(g))
	for u := range g {
		at[u], p[u] = u, u
	}
	for range maxLevels {
		g.move(t, p)
		r := g.refine(t, p)
		var names []int // of the refined communities, by their first nodes
		for _, c := range r {
			if !slices.Contains(names, c) {
				names = append(names, c)
			}
		}
		if len(names) == len(g) {
			break
		}
		next, q := make(naive, len(names)), make([]int, len(names))
		for a, c := range names {
			next[a] = make([]int64, len(names))
			for b, d := range names {
				next[a][b] = g.between(set(r, c), set(r, d))
			}
			q[a] = slices.IndexFunc(names, func(d int) bool {
				return p[set(r, d)[0]] == p[set(r, c)[0]]
			})
		}
		for u := range at {
			at[u] = slices.Index(names, r[at[u]])
		}
		g, p = next, q
	}
	for u := range at {
		at[u] = p[at[u]]
	}
	return all.split(at)
}

// split divides communities that are not connected.
func (g naive) split(p []int) []int {
	out := make([]int, len(p))
	for u := range out {
		out[u] = u
		for v := range u {
			if p[v] == p[u] && g.reach(p, u, v) {
				out[u] = out[v]
				break
			}
		}
	}
	return out
}

// reach reports whether a way inside their community leads from u to v.
func (g naive) reach(p []int, u, v int) bool {
	seen := []int{u}
	for i := 0; i < len(seen); i++ {
		for w := range g {
			if p[w] == p[u] && g[seen[i]][w] > 0 && !slices.Contains(seen, w) {
				seen = append(seen, w)
			}
		}
	}
	return slices.Contains(seen, v)
}
