package stage

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// failures is a memory in which a failure has causes that share no word with it.
func failures() *memory {
	m := newMemory()
	for i, s := range []string{"deploy failed", "disk full", "rotation off", "deploy nightly",
		"tea", "deploy failed twice", "Ana Ng called"} {
		m.add(graph.Node{ID: num(i), Summary: s, Created: graph.Time(i + 1)})
	}
	m.link(num(1), "causes", num(0), 1<<16)
	m.link(num(2), "enables", num(1), 1<<16)
	m.link(num(0), "similar", num(4), 1<<16)
	m.link(num(0), "owns", num(3), 1<<16)
	return m
}

// unexpanded is a request whose order before the recall is that of words alone.
func unexpanded(text string, intent retrieve.Intent) retrieve.Request {
	return retrieve.Request{Text: text, Intent: intent,
		ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}, Limit: new(0), Budget: new(0)}
}

// TestIntentsFavour compares what the edges of the intents and others bring.
func TestIntentsFavour(t *testing.T) {
	signals := func(intent retrieve.Intent) map[graph.ID]int64 {
		out := map[graph.ID]int64{}
		for _, item := range failures().ask(t, unexpanded("failed", intent)).Items {
			out[item.ID] = item.Recall.Graph
		}
		return out
	}
	why, general := signals(retrieve.IntentWhy), signals(retrieve.IntentGeneral)
	if why[num(1)] <= general[num(1)] || why[num(2)] <= general[num(2)] {
		t.Errorf("causes bring %d and %d for why, %d and %d in general", why[num(1)], why[num(2)],
			general[num(1)], general[num(2)])
	}
	if general[num(1)] != general[num(3)] || why[num(3)] != general[num(3)] {
		t.Errorf("a structural edge brings %d, for why %d; a cause in general %d", general[num(3)],
			why[num(3)], general[num(1)])
	}
	if why[num(4)] == 0 || why[num(4)] >= why[num(3)] {
		t.Errorf("a semantic edge brings %d, a structural one %d", why[num(4)], why[num(3)])
	}
}

// TestRecallWay names the way of the beam search.
func TestRecallWay(t *testing.T) {
	a := failures().ask(t, unexpanded("failed", retrieve.IntentWhy))
	i := slices.IndexFunc(a.Items, func(it retrieve.Item) bool { return it.ID == num(2) })
	if i < 0 {
		t.Fatal("the cause of the cause is not found")
	}
	way := a.Items[i].Recall.Way
	want := &retrieve.Reach{Seed: num(0), Hops: 2, Path: []retrieve.Step{{Node: num(1), Type: "causes", Forward: false}, {Node: num(2), Type: "enables", Forward: false}}}
	if d := diff(want, way); d != "" {
		t.Error(d)
	}
	if last := a.Items[i].Lanes[len(a.Items[i].Lanes)-1]; last.Lane != retrieve.LaneRecall || last.Score == 0 {
		t.Errorf("lanes %v", a.Items[i].Lanes)
	}
	if a.Recall == nil || a.Recall.Intent != retrieve.IntentWhy || a.Recall.Visited == 0 ||
		a.Recall.Visited > a.Recall.Limit {
		t.Errorf("%+v", a.Recall)
	}
}

// TestRecallRaises compares recalls of random memories with retrieval: nothing that was found goes
// down in score or away, signals are shares, an answer of ten begins one of forty, and neither the
// order in which things were added nor that in which an index gives them matters.
func TestRecallRaises(t *testing.T) {
	rng := seeded(t)
	for range 40 {
		m, other := newMemory(), newMemory()
		randomLinks(rng, m, other)
		other.shuffle = rng
		req := unexpanded("alpha beta Ana Ng", retrieve.Intents()[rng.IntN(5)])
		req.Expand = new(rng.IntN(3))
		plain := req
		plain.Intent = ""
		before := map[graph.ID]int64{}
		for _, item := range m.ask(t, plain).Items {
			before[item.ID] = item.Score
		}
		a := m.ask(t, req)
		for _, item := range a.Items {
			if item.Score < before[item.ID] {
				t.Fatalf("%s falls from %d to %d", item.ID, before[item.ID], item.Score)
			}
			delete(before, item.ID)
			s := item.Recall.Signals
			for _, n := range []int64{s.Keyword, s.Entity, s.Similarity, s.Graph} {
				if n < 0 || n > 1<<16 {
					t.Fatalf("%s: signals %+v", item.ID, s)
				}
			}
		}
		if len(before) > 0 {
			t.Fatalf("%d nodes are gone", len(before))
		}
		if d := diff(a, other.ask(t, req)); d != "" {
			t.Fatalf("another order: %s", d)
		}
		req.Limit = new(3)
		if d := diff(ids(a)[:min(3, len(a.Items))], ids(m.ask(t, req))); d != "" {
			t.Fatalf("the first three: %s", d)
		}
	}
}

// randomLinks fills two memories with the same in different orders.
func randomLinks(rng *rand.Rand, a, b *memory) {
	words := []string{"alpha", "beta", "gamma", "Ana Ng", "delta"}
	n := 12 + rng.IntN(20)
	var nodes []graph.Node
	for i := range n {
		nodes = append(nodes, graph.Node{ID: num(i), Created: graph.Time(1 + i),
			Summary: words[rng.IntN(5)] + " " + words[rng.IntN(5)]})
	}
	for _, node := range nodes {
		a.add(node)
	}
	slices.Reverse(nodes)
	for _, node := range nodes {
		b.add(node)
	}
	types := []string{"causes", "follows", "mentions", "similar", "owns"}
	for range 3 * n {
		from, to := num(rng.IntN(n)), num(rng.IntN(n))
		typ, weight := types[rng.IntN(5)], int64(1+rng.IntN(1<<16))
		a.link(from, typ, to, weight)
		b.link(from, typ, to, weight)
	}
	for range n / 8 {
		id := num(rng.IntN(n))
		a.mark(id, graph.Forgotten)
		b.mark(id, graph.Forgotten)
	}
}

// TestCausesFirst puts causes before effects where both fit, and ends at a cycle.
func TestCausesFirst(t *testing.T) {
	build := func(edges ...[2]int) *memory {
		m := newMemory()
		m.scores = map[graph.ID]int64{}
		for i := range 5 {
			id := m.add(graph.Node{ID: num(i), Summary: "failed", Created: 1})
			m.scores[id] = int64(100 - 10*i)
		}
		m.scores[num(4)] = 49
		for _, e := range edges {
			m.link(num(e[0]), "causes", num(e[1]), 1)
		}
		return m
	}
	for _, c := range []struct {
		name   string
		edges  [][2]int
		intent retrieve.Intent
		want   []int
	}{
		{"none", nil, retrieve.IntentWhy, []int{0, 1, 2, 3, 4}},
		{"chain", [][2]int{{3, 1}, {2, 3}}, retrieve.IntentWhy, []int{0, 2, 3, 1, 4}},
		{"of the first", [][2]int{{2, 0}}, retrieve.IntentWhy, []int{2, 0, 1, 3, 4}},
		{"general", [][2]int{{2, 0}}, retrieve.IntentGeneral, []int{0, 1, 2, 3, 4}},
		{"in order", [][2]int{{0, 2}}, retrieve.IntentWhy, []int{0, 1, 2, 3, 4}},
		{"cycle", [][2]int{{1, 0}, {2, 1}, {0, 2}}, retrieve.IntentWhy, []int{2, 1, 0, 3, 4}},
		{"irrelevant", [][2]int{{4, 0}}, retrieve.IntentWhy, []int{0, 1, 2, 3, 4}},
		{"itself", [][2]int{{1, 1}}, retrieve.IntentWhy, []int{0, 1, 2, 3, 4}},
	} {
		a := build(c.edges...).ask(t, unexpanded("failed", c.intent))
		var want []graph.ID
		for _, i := range c.want {
			want = append(want, num(i))
		}
		if d := diff(want, ids(a)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

// TestRecallWork bounds what a recall reads of a memory that is linked densely.
func TestRecallWork(t *testing.T) {
	buckets := func(n int) int {
		m := newMemory()
		for i := range n {
			m.add(graph.Node{ID: num(i), Summary: fmt.Sprintf("w%d", i%7), Created: 1})
		}
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range n {
			for range 6 {
				m.link(num(i), "causes", num(rng.IntN(n)), 1<<16)
			}
		}
		m.ask(t, unexpanded("w1", ""))
		before := m.buckets
		a := m.ask(t, unexpanded("w1", retrieve.IntentWhy))
		if a.Recall.Visited != 500 {
			t.Errorf("%d nodes looked at", a.Recall.Visited)
		}
		return m.buckets - before
	}
	// Two buckets of each node of five layers, one count of each node looked at and each anchor, and
	// the effects of fifty.
	const most = 2*15*5 + 500 + 5*15 + 50
	if small, large := buckets(2000), buckets(20_000); small > most || large > most {
		t.Errorf("%d and %d buckets, want at most %d", small, large, most)
	}
}

// TestIntentParameter checks bounds, the resolved form and receipts.
func TestIntentParameter(t *testing.T) {
	m := failures()
	if _, err := Run(t.Context(), m, m, testCommit, retrieve.Request{Text: "a", Intent: "how"}); !errors.Is(err,
		retrieve.ErrRequest) || !strings.Contains(err.Error(), "auto, why, when, entity or general") {
		t.Errorf("an unknown intent: %v", err)
	}
	a := m.ask(t, retrieve.Request{Text: "why failed", Intent: retrieve.IntentAuto})
	if a.Request.Intent != retrieve.IntentWhy {
		t.Errorf("the answer keeps %q", a.Request.Intent)
	}
	receipt, query := a.Receipt()
	back, err := retrieve.DecodeReceipt(receipt.Encode())
	if err != nil {
		t.Fatal(err)
	}
	req, err := back.Request(string(query))
	if err != nil || req.Intent != retrieve.IntentWhy {
		t.Fatalf("the receipt gives %q, %v", req.Intent, err)
	}
	if d := diff(a, m.ask(t, req)); d != "" {
		t.Error(d)
	}
	plain, _ := m.ask(t, retrieve.Request{Text: "failed"}).Receipt()
	if _, ok := plain.Params.Get("intent"); ok {
		t.Error("a receipt without a recall has an intent")
	}
	q, err := complete.ParseRequestJSON(ipld.MapValue(ipld.Entry{Key: "intent",
		Value: ipld.StringValue("when")}), retrieve.Request{})
	if err != nil || q.Request.Intent != retrieve.IntentWhen {
		t.Errorf("a member gives %q, %v", q.Request.Intent, err)
	}
}

// TestRecallErrors passes on what the graph and the index say.
func TestRecallErrors(t *testing.T) {
	for _, method := range []string{"Bucket", "Mark", "Node"} {
		m := failures()
		m.failOn = method
		_, err := Run(t.Context(), m, m, testCommit, unexpanded("failed Ana Ng", retrieve.IntentWhy))
		if !errors.Is(err, errBroken) {
			t.Errorf("%s fails: %v", method, err)
		}
	}
}
