package stage

import (
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
