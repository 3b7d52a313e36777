package community

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// node is the id with a number.
func node(n int) (id graph.ID) {
	binary.BigEndian.PutUint32(id[12:], uint32(n)+1)
	return id
}

func number2(id graph.ID) int { return int(binary.BigEndian.Uint32(id[12:])) - 1 }

func edge(a, b int) Edge { return Edge{node(a), node(b), graph.MaxWeight} }

func each(list []Edge) iter.Seq2[Edge, error] {
	return func(yield func(Edge, error) bool) {
		for _, e := range list {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func find(t testing.TB, list []Edge) *Partition {
	t.Helper()
	return must.Get(Find(context.Background(), each(list)))(t)
}

// sets are the communities as sorted numbers, in order.
func sets(p *Partition) [][]int {
	out := make([][]int, p.Len())
	for c := range out {
		for _, m := range p.Members(c) {
			out[c] = append(out[c], number2(m.ID))
		}
		slices.Sort(out[c])
	}
	return out
}

func clique(from, to int) (list []Edge) {
	for a := from; a < to; a++ {
		for b := a + 1; b < to; b++ {
			list = append(list, edge(a, b))
		}
	}
	return list
}

func TestKnownGraphs(t *testing.T) {
	bridge := append(append(clique(0, 5), clique(5, 10)...), edge(4, 5))
	var ring []Edge
	ringSets := [][]int{}
	for c := range 8 {
		ring = append(ring, clique(5*c, 5*c+5)...)
		ring = append(ring, edge(5*c+4, (5*c+5)%40))
		ringSets = append(ringSets, []int{5 * c, 5*c + 1, 5*c + 2, 5*c + 3, 5*c + 4})
	}
	weak := []Edge{edge(0, 1), {node(1), node(2), 1}, edge(2, 3)}
	cases := []struct {
		name string
		list []Edge
		want [][]int
	}{
		{"nothing", nil, [][]int{}},
		{"loop", []Edge{edge(3, 3)}, [][]int{}},
		{"pair", []Edge{edge(7, 3)}, [][]int{{3, 7}}},
		{"loops hold apart", []Edge{edge(1, 1), edge(2, 2), {node(1), node(2), 1}}, [][]int{}},
		{"bridge", bridge, [][]int{{0, 1, 2, 3, 4}, {5, 6, 7, 8, 9}}},
		{"ring", ring, ringSets},
		{"weights", weak, [][]int{{0, 1}, {2, 3}}},
	}
	for _, c := range cases {
		must.Equal(t, fmt.Sprint(sets(find(t, c.list))), fmt.Sprint(c.want), c.name)
	}
}

// karate is Zachary's karate club (1977), a list of facts in the public domain: members from 1 on
// who met outside of the club.
var karate = [][]int{
	{2, 1}, {3, 1, 2}, {4, 1, 2, 3}, {5, 1}, {6, 1}, {7, 1, 5, 6}, {8, 1, 2, 3, 4}, {9, 1, 3},
	{10, 3}, {11, 1, 5, 6}, {12, 1}, {13, 1, 4}, {14, 1, 2, 3, 4}, {17, 6, 7}, {18, 1, 2},
	{20, 1, 2}, {22, 1, 2}, {26, 24, 25}, {28, 3, 24, 25}, {29, 3}, {30, 24, 27}, {31, 2, 9},
	{32, 1, 25, 26, 29}, {33, 3, 9, 15, 16, 19, 21, 23, 24, 30, 31, 32},
	{34, 9, 10, 14, 15, 16, 19, 20, 21, 23, 24, 27, 28, 29, 30, 31, 32, 33},
}

func TestKarateClub(t *testing.T) {
	var list []Edge
	for _, row := range karate {
		for _, other := range row[1:] {
			list = append(list, edge(row[0], other))
		}
	}
	must.Require(t, len(list) == 78, "%d edges", len(list))
	p := find(t, list)
	g, of := matrix(list, 35), make([]int, 35)
	for u := range of {
		of[u] = 100 + u
		if c, ok := p.Of(node(u)); ok {
			of[u] = c
		}
	}
	// The best division known has 4 communities and a modularity of 0.4198.
	m := g.total()
	if q := float64(g.modularity(of)) / float64(m*m); p.Len() != 4 || q < 0.4150 {
		t.Errorf("%d communities of modularity %.4f: %v", p.Len(), q, sets(p))
	}
	// The two that the club split around.
	one, _ := p.Of(node(1))
	two, _ := p.Of(node(34))
	must.True(t, one != two, "the two leaders are in one community")
}

// matrix is a list of edges between nodes 0 to n-1 as a naive graph.
func matrix(list []Edge, n int) naive {
	g := make(naive, n)
	for u := range g {
		g[u] = make([]int64, n)
	}
	for _, e := range list {
		a, b := number2(e.Src), number2(e.Dst)
		g[a][b] += int64(e.Weight)
		g[b][a] += int64(e.Weight)
	}
	return g
}

// randomEdges draws a graph of some groups, with parallel edges, loops and all kinds of weights.
func randomEdges(r *rand.Rand, n int) []Edge {
	var list []Edge
	groups := 1 + r.IntN(4)
	for range r.IntN(4 * n) {
		a, b := r.IntN(n), r.IntN(n)
		if r.IntN(3) > 0 {
			b = (a/groups*groups + r.IntN(groups)) % n
		}
		w := uint32(1)
		if r.IntN(2) > 0 {
			w += uint32(r.IntN(1 << (1 + r.IntN(8))))
		}
		list = append(list, Edge{node(a), node(b), w})
	}
	return list
}

func TestHostileGraphs(t *testing.T) {
	var hub, parallel, path []Edge
	for i := range 100_000 {
		hub = append(hub, edge(0, i+1))
		path = append(path, edge(i, i+1))
	}
	for range 10_000 {
		parallel = append(parallel, edge(1, 2), edge(2, 1), edge(3, 3))
	}
	began := time.Now()
	if p := find(t, hub); p.Len() != 1 || p.Nodes() != 100_001 || p.Members(0)[0].ID != node(0) {
		t.Errorf("a hub has %d communities of %d nodes", p.Len(), p.Nodes())
	}
	must.Equal(t, fmt.Sprint(sets(find(t, parallel))), "[[1 2]]", "parallel edges give")
	p := find(t, path)
	must.True(t, p.Nodes() == 100_001 && p.Len() >= 100, "a path has %d communities of %d nodes", p.Len(), p.Nodes())
	took := time.Since(began)
	must.True(t, took <= 30*time.Second, "hostile graphs took %v", took)
}

func TestMembersInOrder(t *testing.T) {
	list := append(clique(0, 4), edge(3, 4), edge(4, 5), edge(5, 3))
	p := find(t, list)
	for c := range p.Len() {
		for i, m := range p.Members(c) {
			must.True(t, i <= 0 || byInside(p.Members(c)[i-1], m) < 0,
				"community %d: member %d is out of order", c, i)
			of, ok := p.Of(m.ID)
			must.True(t, ok && of == c, "node %v is in %d, not in %d", m.ID, of, c)
		}
	}
	_, ok := p.Of(node(99))
	must.True(t, !ok, "a node without edges is in a community")
}

func TestFindFails(t *testing.T) {
	broken := errors.New("broken")
	_, err := Find(context.Background(), func(yield func(Edge, error) bool) {
		_ = yield(edge(1, 2), nil) && yield(Edge{}, broken)
	})
	must.Fail(t, err, broken)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	must.Fail(t, must.Err(Find(ctx, each(clique(0, 4)))), context.Canceled)
	_, err = Find(context.Background(), func(yield func(Edge, error) bool) {
		for range MaxEdges + 1 {
			if !yield(edge(1, 1), nil) {
				return
			}
		}
	})
	must.Fail(t, err, ErrTooLarge)
}

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
