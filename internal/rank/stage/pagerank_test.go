package stage

import (
	"math/big"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/retrieve"
)

// pagerank is clause 10.3 over all nodes in each round, in numbers of any size, and without bounds
// on what is read.
func (o *oracle) pagerank() map[graph.ID]int64 {
	score := o.convex()
	sources := o.ordered(score)
	sources = sources[:min(100, len(sources))]
	waiting, received := map[graph.ID]*big.Int{}, map[graph.ID]*big.Int{}
	total := new(big.Int)
	for id := range o.m.nodes {
		waiting[id], received[id] = new(big.Int), new(big.Int)
	}
	mentions := map[graph.ID][]graph.ID{}
	for i, id := range sources {
		waiting[id].Mul(big.NewInt(score[id]), big.NewInt(score[id]))
		total.Add(total, waiting[id])
		if i < 20 {
			mentions[id] = o.mentions(id)
		}
	}
	least := total.Rsh(total, 13)
	if least.Sign() == 0 {
		least = big.NewInt(1)
	}
	div := func(a *big.Int, b int64) *big.Int { return new(big.Int).Quo(a, big.NewInt(b)) }
	mul := func(a *big.Int, b int64) *big.Int { return new(big.Int).Mul(a, big.NewInt(b)) }
	for range *o.req.Expand {
		coming := map[graph.ID]*big.Int{}
		for id := range o.m.nodes {
			coming[id] = new(big.Int)
		}
		for u := range o.m.nodes {
			links, entries := o.followed(u)
			if waiting[u].Cmp(mul(least, int64(max(1, entries)))) < 0 {
				continue
			}
			for _, v := range mentions[u] {
				links = append(links, edge{Link: source.Link{Other: v, Weight: 65_536}})
			}
			weights := int64(0)
			for _, l := range links {
				weights += l.Weight
			}
			mass := div(mul(waiting[u], int64(*o.req.Damping)), 65_536)
			for _, l := range links {
				coming[l.Other].Add(coming[l.Other], div(mul(mass, l.Weight), max(1, weights)))
			}
			waiting[u].SetInt64(0)
		}
		for id, n := range coming {
			waiting[id].Add(waiting[id], n)
			received[id].Add(received[id], n)
		}
	}
	gain := map[graph.ID]int64{}
	for id, n := range received {
		gain[id] = div(n, 65_536).Int64()
	}
	return gain
}

func TestPageRankOracle(t *testing.T) {
	rng := seeded(t)
	randomExpansion(t, func(m *memory, req retrieve.Request, tier map[graph.ID]int) {
		req.Expansion, req.Expand = retrieve.PPR, nil
		if rng.IntN(2) == 0 {
			req.Expand, req.Damping = new(1+rng.IntN(64)), new(1+rng.IntN(65_535))
		}
		o := newOracle(t, m, req, tier)
		want, score := o.join(o.pagerank())
		a := m.ask(t, req)
		checkScores(t, a, want, score)
		for _, item := range a.Items {
			checkFlow(t, m, o, item)
		}
	})
}

// checkFlow follows the way to an item over links that there are.
func checkFlow(t *testing.T, m *memory, o *oracle, item retrieve.Item) {
	t.Helper()
	if item.Reach == nil {
		return
	}
	at := item.Reach.Seed
	for i, step := range item.Reach.Path {
		links := m.out[at]
		if !step.Forward {
			links = m.in[at]
		}
		ok := slices.ContainsFunc(links, func(l source.Link) bool {
			return l.Other == step.Node && l.Type == step.Type && !o.hides(m.edgeMark[l.Edge])
		})
		if step.Type == "" {
			ok = slices.Contains(o.mentions(at), step.Node)
		}
		if !ok || !o.passes(step.Node) {
			t.Fatalf("%s: no step %d of %+v", item.ID, i, item.Reach)
		}
		at = step.Node
	}
	if at != item.ID || len(item.Reach.Path) != item.Reach.Hops {
		t.Fatalf("%s: the way %+v leads elsewhere", item.ID, item.Reach)
	}
}

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
		if m.buckets > tt.buckets || m.entries > tt.entries {
			t.Errorf("%+v: %d buckets, %d entries", tt, m.buckets, m.entries)
		}
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
	if len(a.Warnings) != 0 || m.entries != 8100 {
		t.Errorf("%d entries, warnings %v", m.entries, a.Warnings)
	}
	// One more edge than mass for one source, which is not enough of it for a warning.
	m.link(num(5), "y", m.add(graph.Node{ID: num(20_000), Created: 1}), 65_536)
	m.entries = 0
	a = m.ask(t, retrieve.Request{Text: "a", ExpansionOptions: retrieve.ExpansionOptions{Expansion: retrieve.PPR}})
	if len(a.Warnings) != 0 || m.entries != 8100-81 {
		t.Errorf("%d entries, warnings %v", m.entries, a.Warnings)
	}
}
