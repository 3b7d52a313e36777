package stage

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/retrieve"
)

// oracle is clause 10 read word by word, without any of the short cuts of the implementation.
type oracle struct {
	m      *memory
	req    retrieve.Request
	list   map[graph.ID]int64 // the lane's list
	tier   map[graph.ID]int
	silent int
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

// followed returns the edges along which u may contribute, with the weights, and how many entries are looked at.
func (o *oracle) followed(u graph.ID) (out []edge, entries int) {
	bucket := func(all []source.Link, forward bool) {
		seen := 0
		for _, l := range all {
			if len(o.req.ExpandTypes) > 0 && !slices.Contains(o.req.ExpandTypes, l.Type) {
				continue
			}
			if seen++; seen > 256 {
				return
			}
			entries++
			if l.Other != u && !o.hides(o.m.edgeMark[l.Edge]) && o.passes(l.Other) {
				for _, w := range o.req.EdgeWeights {
					if w.Type == l.Type {
						l.Weight = l.Weight * w.Weight / 65_536
					}
				}
				out = append(out, edge{l, forward})
			}
		}
	}
	if o.req.Direction != retrieve.In {
		bucket(o.m.out[u], true)
	}
	if o.req.Direction != retrieve.Out {
		bucket(o.m.in[u], false)
	}
	return out, entries
}

// share is c(v, t) for all terms.
func (o *oracle) share(id graph.ID) []int64 {
	rows, _ := o.m.TermScores(context.Background(), source.TextQuery{Text: o.req.Text}, []graph.ID{id}, nil)
	top := int64(1)
	for _, s := range o.list {
		top = max(top, s)
	}
	for t := range rows[0] {
		rows[0][t] = rows[0][t] * 65_536 / top
	}
	return rows[0]
}

func total(g []int64) (sum int64) {
	for _, n := range g {
		sum += n
	}
	return sum
}

// mentions are the nodes that u's texts link it to.
func (o *oracle) mentions(u graph.ID) []graph.ID {
	var out []graph.ID
	if len(o.req.ExpandTypes) > 0 {
		return nil
	}
	n := o.m.nodes[u]
	df := func(w string) (df int) {
		for _, n := range o.m.nodes {
			all := n.Summary
			if n.Content != nil {
				all += " " + n.Content.Text
			}
			if slices.Contains(queryTermsAll(all), w) {
				df++
			}
		}
		return df
	}
	rare := slices.ContainsFunc(queryTermsAll(n.Summary), func(w string) bool { return df(w) <= 64 })
	for id, v := range o.m.nodes {
		if id == u || !o.passes(id) {
			continue
		}
		out1 := o.req.Direction != retrieve.In && n.Content != nil &&
			o.m.HasTitle(n.Content.Text, v.Summary) && len(o.m.titled(v.Summary)) > 0
		in := o.req.Direction != retrieve.Out && v.Content != nil && rare &&
			o.m.HasTitle(v.Content.Text, n.Summary) && len(o.m.titled(n.Summary)) > 0
		if out1 {
			out = append(out, id)
		}
		if in { // a mention each way counts twice
			out = append(out, id)
		}
	}
	return out
}

// damped is D(v) of an edge that arrives at v, forward or not.
func (o *oracle) damped(id graph.ID, forward bool) int64 {
	bucket := o.m.out
	if forward {
		bucket = o.m.in
	}
	if deg := len(bucket[id]); deg > 4 {
		return int64(math.Sqrt(float64((int64(1) << 34) / int64(deg))))
	}
	return 65_536
}

// contribute is one round of step 3.
func (o *oracle) contribute(h int, order []graph.ID, g map[graph.ID][]int64) map[graph.ID][]int64 {
	next := map[graph.ID][]int64{}
	raise := func(id graph.ID, t int, n int64) {
		if next[id] == nil {
			next[id] = make([]int64, len(g[order[0]]))
		}
		next[id][t] = max(next[id][t], n)
	}
	looked := 0
	for i, u := range order {
		if i >= 128 || looked >= 1024 {
			if h == 1 {
				o.silent = len(order) - i
			}
			break
		}
		links, entries := o.followed(u)
		looked += entries
		for _, l := range links {
			d := o.damped(l.Other, l.out)
			for t, n := range g[u] {
				raise(l.Other, t, n/2*l.Weight/65_536*d/65_536)
			}
		}
		if h == 1 && i < 20 {
			for _, id := range o.mentions(u) {
				for t, n := range g[u] {
					raise(id, t, n/2)
				}
			}
		}
	}
	maps.DeleteFunc(next, func(_ graph.ID, g []int64) bool { return total(g) == 0 })
	return next
}

// run is the whole clause: the final order and its scores.
func (o *oracle) run() ([]graph.ID, map[graph.ID]int64) {
	score := o.convex()
	order := o.ordered(score)
	order = order[:min(100, len(order))]
	if len(order) == 0 {
		return nil, score
	}
	g := map[graph.ID][]int64{}
	for _, id := range order {
		named := int64(0)
		if o.tier[id] > 0 {
			named = 65_536
		} else if summary := o.m.nodes[id].Summary; o.m.HasTitle(o.req.Text, summary) {
			for i, t := range queryTerms(o.req.Text) {
				if slices.Contains(queryTermsAll(summary), t) {
					named += o.share(id)[i]
				}
			}
			named /= 2
			score[id] += named
		}
		g[id] = append(o.share(id), named)
	}
	gain := map[graph.ID]int64{}
	for h := 1; h <= *o.req.Expand && len(order) > 0; h++ {
		g = o.contribute(h, order, g)
		sums := map[graph.ID]int64{}
		for id, inflow := range g {
			sums[id] = total(inflow)
			own := o.share(id)
			_, known := score[id]
			for t, n := range inflow {
				if known && t < len(own) && own[t] > 0 {
					n /= 2
				}
				gain[id] += n
			}
		}
		tier := o.tier
		o.tier = nil
		order = o.ordered(sums)
		o.tier = tier
	}
	joining := map[graph.ID]int64{}
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

func newOracle(t *testing.T, m *memory, req retrieve.Request, tier map[graph.ID]int) *oracle {
	o := &oracle{m: m, req: req.Resolve(), list: map[graph.ID]int64{}, tier: tier}
	req.Expand, req.Limit, req.Budget = new(0), new(0), new(0)
	for _, item := range m.ask(t, req).Items {
		for _, l := range item.Lanes {
			if l.Lane == retrieve.LaneText {
				o.list[item.ID] = l.Score
			}
		}
	}
	return o
}

func TestExpansionOracle(t *testing.T) {
	rng := seeded(t)
	rounds := effort.Pick(30, 60, 3000)
	for range rounds {
		nodes := 5 + rng.IntN(120)
		m := randomMemory(rng, nodes, rng.IntN(5*nodes))
		m.scores = map[graph.ID]int64{}
		for i := range nodes {
			m.scores[num(i)] = 1 + rng.Int64N(1<<uint(1+rng.IntN(40)))
		}
		req := retrieve.Request{
			Text: "a", Limit: new(0), Budget: new(0),
			ExpansionOptions: retrieve.ExpansionOptions{Expand: new(1 + rng.IntN(4)),
				Direction: []retrieve.Direction{retrieve.Both, retrieve.Out, retrieve.In}[rng.IntN(3)]},
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

func checkExpansion(t *testing.T, o *oracle, a *retrieve.Answer) {
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

// TestRoom has more nodes, or more entries, than contribute in one round.
func TestRoom(t *testing.T) {
	for _, tt := range []struct{ hubs, leaves, rounds, silent int }{
		{100, 3, 2, 0}, {100, 1, 2, 0}, {20, 60, 1, 2}, {18, 60, 1, 0}, {1, 257, 1, 0},
	} {
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
		o := newOracle(t, m, req, nil)
		a := m.ask(t, req)
		checkExpansion(t, o, a)
		if o.silent != tt.silent || slices.Contains(codes(a), retrieve.ExpansionTruncated) != (tt.silent > 0) {
			t.Errorf("%+v: %d did not contribute, warnings %v", tt, o.silent, a.Warnings)
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
	a := m.ask(t, req)
	checkExpansion(t, newOracle(t, m, req, nil), a)
	got := ids(a)
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
			got, err := Runner{Mentions: memo}.Run(t.Context(), m, m, testCommit, req)
			if err != nil {
				t.Fatal(err)
			}
			if d := diff(m.ask(t, req), got); d != "" {
				t.Fatalf("request %+v: %s", req, d)
			}
		}
		hits += memo.hits
	}
	if hits == 0 {
		t.Error("nothing was known")
	}
}
