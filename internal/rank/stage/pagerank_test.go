package stage

import (
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

// hub is a memory in which n nodes are linked to the one with the word.
func hub(n int) *memory {
	m := newMemory()
	center := m.add(graph.Node{ID: num(0), Summary: "a", Created: 1})
	for i := range n {
		leaf := m.add(graph.Node{ID: num(1 + i), Created: 1})
		edge := graph.EdgeID(center, "x", leaf, "")
		m.out[center] = append(m.out[center], source.Link{Type: "x", Other: leaf, Edge: edge, Weight: 65_536})
		m.in[leaf] = []source.Link{{Type: "x", Other: center, Edge: edge, Weight: 65_536}}
	}
	return m
}

// TestHub bounds what expansion reads, however many edges a node has.
func TestHub(t *testing.T) {
	effort.Alone(t)
	memories := map[int]*memory{}
	many := effort.Pick(20_000, 100_000, 100_000)
	for _, tt := range []struct {
		expansion retrieve.Expansion
		edges     int
		from      string // "a" the hub, "leaf" what hangs on it
		buckets   int
		entries   int
		cut       bool
	}{
		{retrieve.Decay, many, "a", 4000, 2000, true},
		{retrieve.PPR, many, "a", 10, 0, true},
		{retrieve.PPR, 8192, "a", 20_000, 16_384, false},
		{retrieve.PPR, 8193, "a", 10, 0, true},
		{retrieve.Decay, many, "leaf", 4000, 2000, false},
		{retrieve.PPR, many, "leaf", 50, 2, false},
	} {
		m := memories[tt.edges]
		if m == nil {
			m = hub(tt.edges)
			memories[tt.edges] = m
		}
		m.buckets, m.entries = 0, 0
		m.nodes[num(0)].Summary, m.nodes[num(7)].Summary = "a", ""
		if tt.from == "leaf" {
			m.nodes[num(0)].Summary, m.nodes[num(7)].Summary = "", "a"
		}
		a := m.ask(t, retrieve.Request{Text: "a", ExpansionOptions: retrieve.ExpansionOptions{Expansion: tt.expansion}})
		must.Check(t, m.buckets <= tt.buckets && m.entries <= tt.entries,
			"%+v: %d buckets, %d entries", tt, m.buckets, m.entries)
		if slices.Contains(codes(a), retrieve.LinksCut) != tt.cut || slices.Contains(codes(a), retrieve.NothingLinked) {
			t.Errorf("%+v: warnings %v", tt, codes(a))
		}
	}
}

// TestMassRead reads no more nodes once enough entries were looked at.
func TestMassRead(t *testing.T) {
	m := newMemory()
	for h := range 100 {
		source := m.add(graph.Node{ID: num(h), Summary: "a", Created: 1})
		for i := range 81 { // 8,192 / 100
			m.link(source, "x", m.add(graph.Node{ID: num(1000 + h*100 + i), Created: 1}), 65_536)
		}
	}
	// 8,100 entries for the sources; then of the leaves 1/100 · .85 / 81 of all mass, below 2^-13.
	a := m.ask(t, retrieve.Request{Text: "a", ExpansionOptions: retrieve.ExpansionOptions{Expansion: retrieve.PPR}})
	must.Check(t, len(a.Warnings) == 0 && m.entries == 8100, "%d entries, warnings %v", m.entries, a.Warnings)
	// One more edge than mass for one source, which is not enough of it for a warning.
	m.link(num(5), "y", m.add(graph.Node{ID: num(20_000), Created: 1}), 65_536)
	m.entries = 0
	a = m.ask(t, retrieve.Request{Text: "a", ExpansionOptions: retrieve.ExpansionOptions{Expansion: retrieve.PPR}})
	must.Check(t, len(a.Warnings) == 0 && m.entries == 8100-81,
		"%d entries, warnings %v", m.entries, a.Warnings)
}
