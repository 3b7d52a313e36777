package stage

import (
	"fmt"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/retrieve"
)

// tied returns a memory with a source, and nodes that it gives the same, which it has links to in the
// descending order of their ids.
func tied(nodes int) (m *memory, middle []graph.ID) {
	m = newMemory()
	source := m.add(graph.Node{ID: num(0), Summary: "a", Created: 1})
	for i := range nodes {
		middle = append(middle, m.add(graph.Node{ID: num(100 + i), Created: 1}))
		m.link(source, fmt.Sprintf("t%03d", nodes-i), middle[i], 65_536)
	}
	return m, middle
}

// TestTiesOfWays has two nodes give another the same: the way is over the one with the lesser id, whichever
// came first.
func TestTiesOfWays(t *testing.T) {
	for _, e := range retrieve.Expansions() {
		m, middle := tied(2)
		last := m.add(graph.Node{ID: num(500), Created: 1})
		for _, id := range middle {
			m.link(id, "x", last, 65_536)
		}
		req := with(retrieve.Request{Text: "a", ExpansionOptions: retrieve.ExpansionOptions{Expand: new(2),
			Direction: retrieve.Out}}, 0)
		req.Expansion = e
		a := m.ask(t, req)
		i := slices.Index(ids(a), last)
		if i < 0 || a.Items[i].Reach == nil || a.Items[i].Reach.Path[0].Node != middle[0] {
			t.Errorf("%s: %+v", e, a.Items)
		}
	}
}

// TestTiesOfSeeds has two sources of one score, and one link from each to a node.
func TestTiesOfSeeds(t *testing.T) {
	for _, e := range retrieve.Expansions() {
		m := newMemory()
		last := m.add(graph.Node{ID: num(500), Created: 1})
		m.scores = map[graph.ID]int64{}
		for _, n := range []int{2, 1} {
			source := m.add(graph.Node{ID: num(n), Summary: "a", Created: 1})
			m.scores[source] = 1000
			m.link(source, "x", last, 65_536)
		}
		req := with(retrieve.Request{Text: "a", ExpansionOptions: retrieve.ExpansionOptions{Expand: new(1),
			Direction: retrieve.Out}}, 0)
		req.Expansion = e
		a := m.ask(t, req)
		i := slices.Index(ids(a), last)
		if i < 0 || a.Items[i].Reach == nil || a.Items[i].Reach.Seed != num(1) {
			t.Errorf("%s: %+v", e, a.Items)
		}
	}
}

// TestTiesOfRoom has room for two of the nodes that are given the same: those with the least ids join.
func TestTiesOfRoom(t *testing.T) {
	for _, e := range retrieve.Expansions() {
		m, middle := tied(5)
		req := with(retrieve.Request{Text: "a", ExpansionOptions: retrieve.ExpansionOptions{Expand: new(1),
			Direction: retrieve.Out}}, 0)
		req.Expansion, req.MaxExpand = e, new(2)
		if got, want := ids(m.ask(t, req)), []graph.ID{num(0), middle[0], middle[1]}; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", e, got, want)
		}
	}
}

// TestTiesOfSenders has more nodes that were given the same than may send in a round: those with the least
// ids do. Nodes that send PageRank are not bounded by a number.
func TestTiesOfSenders(t *testing.T) {
	for _, e := range []retrieve.Expansion{retrieve.Lend, retrieve.Decay} {
		m, middle := tied(maxSenders + 2)
		for i, id := range middle {
			m.link(id, "x", m.add(graph.Node{ID: num(500 + i), Created: 1}), 65_536)
		}
		req := with(retrieve.Request{Text: "a", ExpansionOptions: retrieve.ExpansionOptions{Expand: new(2),
			Direction: retrieve.Out}}, 0)
		req.Expansion, req.MaxExpand = e, new(retrieve.MaxMaxExpand)
		got := ids(m.ask(t, req))
		for i := range middle {
			if reached := slices.Contains(got, num(500+i)); reached != (i < maxSenders) {
				t.Errorf("%s: node %d sends: %t", e, i, reached)
			}
		}
	}
}

// TestTiesOfLengths has a node be given the same over one link and over two: the way is the short one.
func TestTiesOfLengths(t *testing.T) {
	for _, e := range []retrieve.Expansion{retrieve.Lend, retrieve.Decay} {
		m, middle := tied(1)
		last := m.add(graph.Node{ID: num(500), Created: 1})
		m.link(num(0), "x", last, 32_768)
		m.link(middle[0], "x", last, 65_536)
		req := with(retrieve.Request{Text: "a", ExpansionOptions: retrieve.ExpansionOptions{Expand: new(2),
			Direction: retrieve.Out}}, 0)
		if req.Expansion = e; e == retrieve.Decay {
			req.Decay = new(32_768)
		}
		a := m.ask(t, req)
		i := slices.Index(ids(a), last)
		if i < 0 || a.Items[i].Reach == nil || a.Items[i].Reach.Hops != 1 {
			t.Errorf("%s: %+v", e, a.Items)
		}
	}
}
