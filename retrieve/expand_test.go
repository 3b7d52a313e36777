package retrieve

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
)

// oracle is clause 10 read word by word, without any of the short cuts of the implementation.
type oracle struct {
	m         *memory
	req       Request
	list      map[graph.ID]int64 // the lane's list
	tier      map[graph.ID]int
	truncated int
}

func (o *oracle) hides(m *graph.Mark) bool {
	if m == nil {
		return false
	}
	hidden := []graph.State{graph.Forgotten, graph.Superseded, graph.Expired, graph.Retired}
	return slices.Contains(hidden, m.State) && !slices.Contains(o.req.Marks, m.State)
}

func (o *oracle) passes(id graph.ID) bool {
	n := o.m.nodes[id]
	return !o.hides(o.m.marks[id]) &&
		(len(o.req.Types) == 0 || slices.Contains(o.req.Types, n.Type))
}

// convex is step 1.
func (o *oracle) convex() map[graph.ID]int64 {
	var top int64
	for _, s := range o.list {
		top = max(top, s)
	}
	c := map[graph.ID]int64{}
	for id, s := range o.list {
		c[id] = s * 65_536 / top
	}
	for id := range o.tier {
		c[id] = 65_536
	}
	return c
}

func (o *oracle) ordered(score map[graph.ID]int64) []graph.ID {
	var all []graph.ID
	for id := range score {
		all = append(all, id)
	}
	slices.SortFunc(all, func(a, b graph.ID) int {
		if o.tier[a] != o.tier[b] {
			return o.tier[b] - o.tier[a]
		}
		if score[a] != score[b] {
			return int(score[b] - score[a])
		}
		return a.Compare(b)
	})
	return all
}

// followed is the part of step 3 about buckets: what may be reached from u, with the weights.
func (o *oracle) followed(u graph.ID) []Link {
	var out []Link
	bucket := func(all []Link) {
		seen := 0
		for _, l := range all {
			if len(o.req.ExpandTypes) > 0 && !slices.Contains(o.req.ExpandTypes, l.Type) {
				continue
			}
			if seen++; seen > 256 {
				return
			}
			if !o.hides(o.m.edgeMark[l.Edge]) && o.passes(l.Other) {
				out = append(out, l)
			}
		}
	}
	if o.req.Direction != In {
		bucket(o.m.out[u])
	}
	if o.req.Direction != Out {
		bucket(o.m.in[u])
	}
	return out
}

// gains is step 3 for one seed.
func (o *oracle) gains(seed graph.ID, c int64) map[graph.ID]int64 {
	layers := []map[graph.ID]int64{{seed: c}}
	size := 1
	for range *o.req.Expand {
		next := map[graph.ID]int64{}
		for u, g := range layers[len(layers)-1] {
			for _, l := range o.followed(u) {
				earlier := false
				for _, layer := range layers {
					_, in := layer[l.Other]
					earlier = earlier || in
				}
				if !earlier {
					next[l.Other] = max(next[l.Other], g*45_875/65_536*l.Weight/65_536)
				}
			}
		}
		if size += len(next); size > 5000 {
			o.truncated++
			break
		}
		layers = append(layers, next)
	}
	all := map[graph.ID]int64{}
	for _, layer := range layers[1:] {
		for id, g := range layer {
			all[id] = g
		}
	}
	return all
}

// run is the whole clause: the final order and its scores.
func (o *oracle) run() ([]graph.ID, map[graph.ID]int64) {
	score := o.convex()
	seeds := o.ordered(score)
	best := map[graph.ID]int64{}
	for _, s := range seeds[:min(20, len(seeds))] {
		for id, g := range o.gains(s, score[s]) {
			best[id] = max(best[id], g)
		}
	}
	joining := map[graph.ID]int64{}
	for id, b := range best {
		if _, ok := score[id]; ok {
			score[id] += b
		} else if b > 0 {
			joining[id] = b
		}
	}
	joined := o.ordered(joining)
	for _, id := range joined[:min(20, len(joined))] {
		score[id] = joining[id]
	}
	return o.ordered(score), score
}

func newOracle(t *testing.T, m *memory, req Request, tier map[graph.ID]int) *oracle {
	o := &oracle{m: m, req: req.Resolve(), list: map[graph.ID]int64{}, tier: tier}
	req.Expand, req.Limit, req.Budget = new(0), new(0), new(0)
	for _, item := range m.ask(t, req).Items {
		for _, l := range item.Lanes {
			if l.Lane == LaneText {
				o.list[item.ID] = l.Score
			}
		}
	}
	return o
}

func TestExpansionOracle(t *testing.T) {
	rng := seeded(t)
	rounds := 60
	if longRun() {
		rounds = 3000
	}
	for range rounds {
		nodes := 5 + rng.IntN(120)
		m := randomMemory(rng, nodes, rng.IntN(5*nodes))
		m.scores = map[graph.ID]int64{}
		for i := range nodes {
			m.scores[num(i)] = 1 + rng.Int64N(1<<uint(1+rng.IntN(40)))
		}
		req := Request{
			Text: "a", Limit: new(0), Budget: new(0), Expand: new(1 + rng.IntN(4)),
			Direction: []Direction{Both, Out, In}[rng.IntN(3)],
		}
		tier := map[graph.ID]int{}
		if rng.IntN(2) == 0 {
			key := m.add(graph.Node{Key: "k", Summary: "z", Type: "A", Created: 1})
			m.link(key, "x", num(rng.IntN(nodes)), 65_536)
			m.link(num(rng.IntN(nodes)), "y", key, 65_536)
			req.Text, tier[key] = "a `k`", 1
		}
		randomFilters(rng, &req)
		checkExpansion(t, newOracle(t, m, req, tier), m.ask(t, req))
	}
}

func randomFilters(rng *rand.Rand, req *Request) {
	if rng.IntN(3) == 0 {
		req.ExpandTypes = []string{"y", "x"}[:1+rng.IntN(2)]
	}
	if rng.IntN(3) == 0 {
		req.Types = []string{"A"}
	}
	if rng.IntN(3) == 0 {
		req.Marks = []graph.State{graph.Retired, graph.Expired}
	}
}

func checkExpansion(t *testing.T, o *oracle, a *Answer) {
	t.Helper()
	want, score := o.run()
	if len(want) == 0 {
		want = []graph.ID{}
	}
	if d := diff(want, ids(a)); d != "" {
		t.Fatalf("request %+v: %s", a.Request, d)
	}
	for _, item := range a.Items {
		if item.Score != score[item.ID] || item.Tier != o.tier[item.ID] {
			t.Fatalf("%s: score %d tier %d, want %d and %d", item.ID, item.Score, item.Tier,
				score[item.ID], o.tier[item.ID])
		}
	}
	if a.Candidates != len(want) {
		t.Fatalf("%d candidates, want %d", a.Candidates, len(want))
	}
}

// TestFrontier has a seed with one neighbour more or less than the frontier allows behind hubs.
func TestFrontier(t *testing.T) {
	for _, leaves := range []int{4979, 4980, 4981} {
		m := newMemory()
		seed := m.add(graph.Node{ID: num(0), Summary: "a", Created: 1})
		hubs := 20 // with the seed 21 nodes; 4,979 leaves make 5,000
		for h := range hubs {
			hub := m.add(graph.Node{ID: num(1 + h), Created: 1})
			m.link(seed, "x", hub, 65_536)
		}
		for i := range leaves {
			leaf := m.add(graph.Node{ID: num(100 + i), Created: 1})
			m.link(num(1+i%hubs), "x", leaf, 65_536)
		}
		req := Request{Text: "a", Limit: new(0), Budget: new(0), Expand: new(3)}
		o := newOracle(t, m, req, nil)
		a := m.ask(t, req)
		checkExpansion(t, o, a)
		wantCut := 0
		if leaves > 4979 {
			wantCut = 1
		}
		if o.truncated != wantCut || slices.Contains(codes(a), ExpansionTruncated) != (wantCut > 0) {
			t.Errorf("%d leaves: %d seeds cut, warnings %v", leaves, o.truncated, a.Warnings)
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
	req := Request{Text: "a", Limit: new(0), Budget: new(0)}
	a := m.ask(t, req)
	checkExpansion(t, newOracle(t, m, req, nil), a)
	got := ids(a)
	// The entry of type w comes first in its bucket, so only 255 others are looked at.
	if slices.Contains(got, num(256)) || !slices.Contains(got, num(255)) ||
		!slices.Contains(got, num(1255)) || slices.Contains(got, num(1256)) {
		t.Errorf("reached %v", got)
	}
}

func TestReach(t *testing.T) {
	m := newMemory()
	a := m.add(graph.Node{ID: num(0), Summary: "a a a a", Created: 1})
	b := m.add(graph.Node{ID: num(1), Created: 1})
	c := m.add(graph.Node{ID: num(2), Created: 1})
	d := m.add(graph.Node{ID: num(3), Summary: "a", Created: 1})
	m.link(a, "x", b, 65_536)
	m.link(b, "x", c, 65_536)
	m.link(d, "x", c, 65_536)
	answer := m.ask(t, Request{Text: "a", Expand: new(3), Direction: Out})
	got := map[graph.ID]Item{}
	for _, item := range answer.Items {
		got[item.ID] = item
	}
	if r := got[a].Reach; r != nil {
		t.Errorf("seed reached over %+v", r)
	}
	if r := got[b].Reach; r == nil || *r != (Reach{a, 1}) {
		t.Errorf("b reached over %+v", r)
	}
	if r := got[c].Reach; r == nil || *r != (Reach{a, 2}) {
		t.Errorf("c reached over %+v, want the better path from a", r)
	}
	want := []LaneHit{{LaneExpand, 2, 65_536 * 45_875 / 65_536 * 45_875 / 65_536}}
	if d := diff(want, got[c].Lanes); d != "" {
		t.Error(d)
	}
	// Of equal paths the one from the better seed counts.
	m.nodes[d].Summary = "a a a a"
	answer = m.ask(t, Request{Text: "a", Direction: Both})
	if r := answer.Items[0].Reach; r != nil {
		t.Errorf("best seed reached over %+v", r)
	}
}

// TestForgetting checks that what expansion remembers may be forgotten at any time.
func TestForgetting(t *testing.T) {
	e := &expander{g: newMemory(), dirs: []Direction{Out}, buckets: map[graph.ID][]Link{}}
	e.passing = map[graph.ID]bool{}
	for i := range maxRemembered + 10 {
		if _, err := e.links(t.Context(), num(i)); err != nil {
			t.Fatal(err)
		}
	}
	if e.kept != len(e.buckets) || e.kept > maxRemembered || e.kept == 0 {
		t.Errorf("kept %d, %d buckets", e.kept, len(e.buckets))
	}
}
