package stage

import (
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/retrieve"
)

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
	m.ask(t, req)
	if most := 2*sources + 2*join; m.buckets > most {
		t.Errorf("%d buckets for %d of %d nodes that join, want at most %d", m.buckets, join,
			sources*each, most)
	}
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
