package stage

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

func randomFilters(rng *rand.Rand, req *retrieve.Request) {
	if rng.IntN(3) == 0 {
		req.ExpandTypes = []string{"y", "x"}[:1+rng.IntN(2)]
	}
	if rng.IntN(3) == 0 {
		req.Types = []string{"A"}
	}
	if rng.IntN(2) == 0 {
		req.EdgeWeights = []retrieve.EdgeWeight{{Type: "y", Weight: rng.Int64N(retrieve.MaxWeight + 1)}, {Type: "x", Weight: rng.Int64N(1 << 18)}}
	}
	if rng.IntN(3) == 0 {
		req.Marks = []graph.State{graph.Retired, graph.Expired}
	}
}

// TestRoom has more nodes, or more entries, than contribute in one round.
func TestRoom(t *testing.T) {
	for _, tt := range []struct {
		hubs, leaves, rounds int
		cut                  bool
	}{{100, 3, 2, false}, {100, 1, 2, false}, {20, 60, 1, true}, {18, 60, 1, false}, {1, 257, 1, false}} {
		m := newMemory()
		for h := range tt.hubs {
			hub := m.add(graph.Node{ID: num(h), Summary: "a", Created: 1})
			for i := range tt.leaves {
				leaf := m.add(graph.Node{ID: num(1000 + h*1000 + i), Created: 1})
				m.link(hub, "x", leaf, 65_536)
			}
		}
		req := retrieve.Request{Text: "a", Limit: new(0), Budget: new(0),
			ExpansionOptions: retrieve.ExpansionOptions{Expand: new(tt.rounds)}}
		if a := m.ask(t, req); slices.Contains(codes(a), retrieve.ExpansionTruncated) != tt.cut {
			t.Errorf("%+v: warnings %v", tt, a.Warnings)
		}
	}
}

// TestFanOut has one edge more than is followed, in each direction.
func TestFanOut(t *testing.T) {
	m := newMemory()
	hub := m.add(graph.Node{ID: num(0), Summary: "a", Created: 1})
	for i := range 257 {
		weight := int64(1 + 200*i) // the last in key order would be the best
		m.link(hub, "x", m.add(graph.Node{ID: num(1 + i), Created: 1}), weight)
		m.link(m.add(graph.Node{ID: num(1000 + i), Created: 1}), "x", hub, weight)
	}
	m.link(hub, "w", m.add(graph.Node{ID: num(5000), Created: 1}), 65_536)
	req := retrieve.Request{Text: "a", Limit: new(0), Budget: new(0)}
	got := ids(m.ask(t, req))
	// The entry of type w comes first in its bucket, so only 255 others are looked at.
	must.True(t, !slices.Contains(got, num(256)) && slices.Contains(got, num(255)) && slices.Contains(got, num(1255)) &&
		!slices.Contains(got, num(1256)), "reached %v", got)
}

// mapMemo remembers everything.
type mapMemo struct {
	of   map[graph.ID]map[retrieve.Direction]*source.Mentioning
	hits int
}

func (k *mapMemo) Known(id graph.ID, d retrieve.Direction) *source.Mentioning {
	m := k.of[id][d]
	if m != nil {
		k.hits++
	}
	return m
}

func (k *mapMemo) Remember(id graph.ID, d retrieve.Direction, m *source.Mentioning) {
	if k.of[id] == nil {
		k.of[id] = map[retrieve.Direction]*source.Mentioning{}
	}
	k.of[id][d] = m
}

// TestMentionMemo asks with what was remembered of requests that wanted other nodes, and gets the same answers.
func TestMentionMemo(t *testing.T) {
	rng := seeded(t)
	hits := 0
	for range effort.Pick(20, 60, 1000) {
		m := randomMemory(rng, 5+rng.IntN(120), rng.IntN(100))
		memo := &mapMemo{of: map[graph.ID]map[retrieve.Direction]*source.Mentioning{}}
		for range 12 {
			req := retrieve.Request{
				Text: fmt.Sprintf("u%d %c", rng.IntN(9), 'a'+rng.IntN(4)),
				ExpansionOptions: retrieve.ExpansionOptions{Direction: []retrieve.Direction{retrieve.Both, retrieve.Out,
					retrieve.In}[rng.IntN(3)]},
			}
			randomFilters(rng, &req)
			req = ofAll(req)
			got := must.Get(Runner{Mentions: memo}.Run(t.Context(), m, m, testCommit, req))(t)
			must.Equal(t, diff(m.ask(t, req), got), "", "request ", req)
		}
		hits += memo.hits
	}
	must.True(t, hits != 0, "nothing was known")
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
		must.True(t, m.buckets <= tt.buckets && m.entries <= tt.entries,
			"%+v: %d buckets, %d entries", tt, m.buckets, m.entries)
		must.True(t, slices.Contains(codes(a), retrieve.LinksCut) == tt.cut &&
			!slices.Contains(codes(a), retrieve.NothingLinked), "%+v: warnings %v", tt, codes(a))
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
	must.True(t, len(a.Warnings) == 0 && m.entries == 8100, "%d entries, warnings %v", m.entries, a.Warnings)
	// One more edge than mass for one source, which is not enough of it for a warning.
	m.link(num(5), "y", m.add(graph.Node{ID: num(20_000), Created: 1}), 65_536)
	m.entries = 0
	a = m.ask(t, retrieve.Request{Text: "a", ExpansionOptions: retrieve.ExpansionOptions{Expansion: retrieve.PPR}})
	must.True(t, len(a.Warnings) == 0 && m.entries == 8100-81, "%d entries, warnings %v", m.entries, a.Warnings)
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
	m.ask(t, req)
	if most := 2*sources + 2*join; m.buckets > most {
		t.Errorf("%d buckets for %d of %d nodes that join, want at most %d", m.buckets, join, sources*each, most)
	}
}
