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
	if slices.Contains(got, num(256)) || !slices.Contains(got, num(255)) ||
		!slices.Contains(got, num(1255)) || slices.Contains(got, num(1256)) {
		t.Errorf("reached %v", got)
	}
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
	must.Check(t, hits != 0, "nothing was known")
}
