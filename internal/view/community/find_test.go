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
