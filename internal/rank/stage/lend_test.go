package stage

import (
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/retrieve"
)

// TestLendingAmongMany compares answers if more nodes receive something than may contribute or join, with edges that go
// to some nodes far more often than to others.
func TestLendingAmongMany(t *testing.T) {
	rng := seeded(t)
	rounds := effort.Pick(6, 12, 300)
	for range rounds {
		nodes := 200 + rng.IntN(500)
		m := randomMemory(rng, nodes, nodes)
		for range 2 * nodes {
			m.link(num(rng.IntN(nodes)), "y", num(rng.IntN(1+rng.IntN(nodes))), 1+rng.Int64N(65_536))
		}
		m.scores = map[graph.ID]int64{}
		for i := range nodes {
			m.scores[num(i)] = 1 + rng.Int64N(1<<uint(1+rng.IntN(20)))
		}
		req := retrieve.Request{
			Text:  []string{"u1 u2", "u3 u4 a", "u5"}[rng.IntN(3)],
			Limit: new(0), Budget: new(0), ExpansionOptions: retrieve.ExpansionOptions{Expand: new(1 + rng.IntN(4)),
				Direction: []retrieve.Direction{retrieve.Both, retrieve.Out, retrieve.In}[rng.IntN(3)]},
		}
		req.MaxExpand = new([]int{1, 3, 20, 100}[rng.IntN(4)])
		randomFilters(rng, &req)
		checkExpansion(t, newOracle(t, m, req, nil), m.ask(t, req))
	}
}

// TestLendingCountsFew: of the nodes that receive something, only the edges of those that may join are counted.
func TestLendingCountsFew(t *testing.T) {
	m := newMemory()
	m.scores = map[graph.ID]int64{}
	const sources, each = 30, 30
	for h := range sources {
		hub := m.add(graph.Node{ID: num(h), Summary: "a", Created: 1})
		m.scores[hub] = int64(1000 + 100*h)
		for i := range each {
			leaf := m.add(graph.Node{ID: num(1000 + h*each + i), Created: 1})
			m.link(hub, "x", leaf, int64(65_536-i*1000))
		}
	}
	join := 20
	req := retrieve.Request{Text: "a", ExpansionOptions: retrieve.ExpansionOptions{Expand: new(1)}}
	req.MaxExpand = &join
	checkExpansion(t, newOracle(t, m, with(req, 0), nil), m.ask(t, with(req, 0)))
	m.buckets = 0
	m.ask(t, req)
	if most := 2*sources + 2*join; m.buckets > most {
		t.Errorf("%d buckets for %d of %d nodes that join, want at most %d", m.buckets, join,
			sources*each, most)
	}
}

// with returns a request without a budget and with a limit.
func with(req retrieve.Request, limit int) retrieve.Request {
	req.Limit, req.Budget = &limit, new(0)
	return req
}

func TestGreatest(t *testing.T) {
	rng := seeded(t)
	for range 200 {
		most := 1 + rng.IntN(5)
		kept := &greatest{most: most}
		var all []int64
		for range rng.IntN(20) {
			n := rng.Int64N(10)
			if among := len(all) < most || n >= all[most-1]; kept.among(n) != among {
				t.Fatalf("%d among the first %d of %v: %v", n, most, all, !among)
			}
			kept.add(n)
			all = append(all, n)
			slices.Sort(all)
			slices.Reverse(all)
			if want := all[:min(most, len(all))]; !slices.Equal(kept.list, want) {
				t.Fatalf("%v, want %v", kept.list, want)
			}
		}
	}
}
