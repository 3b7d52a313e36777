package stage

import (
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/retrieve"
)

// paths returns the value of the best path to each node from another source, by trying all of them.
func (o *oracle) paths() map[graph.ID]int64 {
	score := o.convex()
	sources := o.ordered(score)
	sources = sources[:min(100, len(sources))]
	keep, best := int64(*o.req.Decay), map[graph.ID]int64{}
	var walk func(from, u graph.ID, value int64, seen []graph.ID)
	walk = func(from, u graph.ID, value int64, seen []graph.ID) {
		try := func(v graph.ID, n int64) {
			if n > 0 && !slices.Contains(seen, v) {
				best[v] = max(best[v], n)
				walk(from, v, n, append(slices.Clone(seen), v))
			}
		}
		if len(seen) > *o.req.Expand {
			return
		}
		links, _ := o.followed(u)
		for _, l := range links {
			n := value * keep / 65_536 * min(l.Weight, 65_536) / 65_536 * o.damped(l.Other, l.out) / 65_536
			try(l.Other, n)
		}
		if i := slices.Index(sources, u); u == from && i < 20 {
			for _, v := range o.mentions(u) {
				try(v, value*keep/65_536)
			}
		}
	}
	for _, s := range sources {
		walk(s, s, score[s], []graph.ID{s})
	}
	return best
}

// weight returns the weight of an edge in expansion.
func (o *oracle) weight(l source.Link) int64 {
	for _, w := range o.req.EdgeWeights {
		if w.Type == l.Type {
			return l.Weight * w.Weight / 65_536
		}
	}
	return l.Weight
}

// join is how expansion joins what was reached: 10.2 and 10.3.
func (o *oracle) join(gain map[graph.ID]int64) ([]graph.ID, map[graph.ID]int64) {
	score, joining := o.convex(), map[graph.ID]int64{}
	for id, n := range gain {
		if _, ok := score[id]; ok {
			score[id] += n
		} else if n > 0 {
			joining[id] = n
		}
	}
	joined := o.ordered(joining)
	for _, id := range joined[:min(*o.req.MaxExpand, len(joined))] {
		score[id] = joining[id]
	}
	return o.ordered(score), score
}

// randomExpansion is a small graph and a request of it.
func randomExpansion(t *testing.T, each func(m *memory, req retrieve.Request, tier map[graph.ID]int)) {
	rng := seeded(t)
	rounds := effort.Pick(80, 150, 5000)
	for range rounds {
		nodes := 2 + rng.IntN(14)
		m := randomMemory(rng, nodes, rng.IntN(2*nodes))
		m.scores = map[graph.ID]int64{}
		for i := range nodes {
			m.scores[num(i)] = 1 + rng.Int64N(1<<uint(1+rng.IntN(40)))
		}
		req := retrieve.Request{
			Text: "a", Limit: new(0), Budget: new(0),
			ExpansionOptions: retrieve.ExpansionOptions{Expand: new(1 + rng.IntN(4)),
				Direction: []retrieve.Direction{retrieve.Both, retrieve.Out, retrieve.In}[rng.IntN(3)]},
		}
		if rng.IntN(3) == 0 {
			req.MaxExpand = new(1 + rng.IntN(3))
		}
		tier := map[graph.ID]int{}
		if rng.IntN(2) == 0 {
			key := m.add(graph.Node{Key: "k", Summary: "z", Type: "A", Created: 1})
			m.link(key, "x", num(rng.IntN(nodes)), 65_536)
			m.link(num(rng.IntN(nodes)), "y", key, 65_536)
			req.Text, tier[key] = "a `k`", 1
		}
		randomFilters(rng, &req)
		each(m, req, tier)
	}
}

func TestDecayOracle(t *testing.T) {
	rng := seeded(t)
	randomExpansion(t, func(m *memory, req retrieve.Request, tier map[graph.ID]int) {
		req.Expansion = retrieve.Decay
		if rng.IntN(2) == 0 {
			req.Decay = new(1 + rng.IntN(65_536))
		}
		o := newOracle(t, m, req, tier)
		want, score := o.join(o.paths())
		checkScores(t, m.ask(t, req), want, score)
		checkWays(t, m, o, m.ask(t, req))
	})
}

func checkScores(t *testing.T, a *retrieve.Answer, want []graph.ID, score map[graph.ID]int64) {
	t.Helper()
	if len(want) == 0 {
		want = []graph.ID{}
	}
	if d := diff(want, ids(a)); d != "" {
		t.Fatalf("request %+v: %s", a.Request, d)
	}
	for _, item := range a.Items {
		if item.Score != score[item.ID] {
			t.Fatalf("%s: score %d, want %d", item.ID, item.Score, score[item.ID])
		}
	}
}

// checkWays follows the way to each item: it must be of links, and worth what the item was given.
func checkWays(t *testing.T, m *memory, o *oracle, a *retrieve.Answer) {
	t.Helper()
	seeds := o.convex()
	for _, item := range a.Items {
		if item.Reach == nil {
			continue
		}
		at, value := item.Reach.Seed, seeds[item.Reach.Seed]
		if len(item.Reach.Path) != item.Reach.Hops || item.Reach.Hops > *o.req.Expand {
			t.Fatalf("%d steps of %d hops", len(item.Reach.Path), item.Reach.Hops)
		}
		for _, step := range item.Reach.Path {
			value = value * int64(*o.req.Decay) / 65_536
			if step.Type != "" {
				links := m.out[at]
				if !step.Forward {
					links = m.in[at]
				}
				best := int64(0)
				for _, l := range links {
					if l.Other == step.Node && l.Type == step.Type && !o.hides(o.m.edgeMark[l.Edge]) {
						best = max(best, min(o.weight(l), 65_536))
					}
				}
				value = value * best / 65_536 * o.damped(step.Node, step.Forward) / 65_536
			}
			at = step.Node
		}
		if gain := item.Lanes[len(item.Lanes)-1].Score; at != item.ID || value != gain {
			t.Fatalf("%s: its way %+v is worth %d, it was given %d", item.ID, item.Reach, value, gain)
		}
	}
}
