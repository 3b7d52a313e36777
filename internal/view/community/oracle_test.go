package community

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
