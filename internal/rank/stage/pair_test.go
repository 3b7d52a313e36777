package stage

import (
	"errors"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/retrieve"
)

// dispute returns a memory of three claims, of which the first two contradict each other and the
// third the first, and two nodes that nobody disputes.
func dispute() *memory {
	m := newMemory()
	for i, key := range []string{"a", "b", "c", "d", "e"} {
		m.add(graph.Node{Key: key, Type: "fact", Summary: "word " + key, Created: graph.Time(i)})
	}
	against := func(key, by string) {
		m.markBy(graph.NodeID(key), graph.Contradicted, graph.NodeID(by))
	}
	against("a", "b")
	against("b", "a")
	against("c", "a")
	return m
}

func (m *memory) markBy(id graph.ID, s graph.State, by graph.ID) {
	m.marks[id] = &graph.Mark{On: graph.OnNode, ID: id, State: s, By: by, Actor: "tester"}
}

func keysOf(a *retrieve.Answer) (keys string) {
	for _, it := range a.Items {
		keys += it.Key
	}
	return keys
}

func TestContradictedFollow(t *testing.T) {
	for _, c := range []struct {
		req  retrieve.Request
		want string
	}{
		{retrieve.Request{Text: "a"}, "ab"},
		{retrieve.Request{Text: "b"}, "ba"},
		{retrieve.Request{Text: "c"}, "cab"},
		{retrieve.Request{Text: "d"}, "d"},
		{retrieve.Request{Text: "c", Limit: new(1)}, "c"},
		{retrieve.Request{Text: "c", Limit: new(2)}, "ca"},
		{retrieve.Request{Text: "c", Exclusions: retrieve.Exclusions{Exclude: []graph.ID{graph.NodeID("a")}}}, "c"},
		{retrieve.Request{Text: "c", Exclusions: retrieve.Exclusions{Exclude: []graph.ID{graph.NodeID("b")}}}, "ca"},
		{retrieve.Request{Text: "c", TimeFilter: retrieve.TimeFilter{CreatedFrom: graph.At(2)}}, "c"},
		{retrieve.Request{Text: "", Limit: new(4)}, "edca"},
		{retrieve.Request{Text: "", Limit: new(5)}, "edcab"},
	} {
		c.req.Expand = new(0)
		a := dispute().ask(t, c.req)
		if got := keysOf(a); got != c.want {
			t.Errorf("%q, limit %v: %s, want %s", c.req.Text, c.req.Limit, got, c.want)
		}
		for i, it := range a.Items {
			if !it.Against.IsZero() && it.Against != a.Items[i-1].ID {
				t.Errorf("%q: %s is against %s", c.req.Text, it.Key, it.Against)
			}
		}
		if a.Candidates < len(a.Items)+a.Dropped {
			t.Errorf("%q: %d candidates, %d items", c.req.Text, a.Candidates, len(a.Items))
		}
		if rec, _ := a.Receipt(); rec.Validate() != nil {
			t.Error(rec.Validate())
		}
	}
}

func TestContradictedBudget(t *testing.T) {
	m := dispute()
	one := m.ask(t, retrieve.Request{Text: "a", ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)},
		Limit: new(1)})
	a := m.ask(t, retrieve.Request{Text: "word", ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)},
		Budget: new(one.TokensUsed * 2)})
	if len(a.Items)+a.Dropped != 5 {
		t.Errorf("%s, %d dropped", keysOf(a), a.Dropped)
	}
	seen := map[graph.ID]bool{}
	for _, d := range a.DroppedItems {
		if seen[d.ID] {
			t.Errorf("%s is dropped twice", d.ID)
		}
		seen[d.ID] = true
	}
}

// TestContradictedGone checks that what hides, or is not there, does not follow.
func TestContradictedGone(t *testing.T) {
	m := dispute()
	m.markBy(graph.NodeID("b"), graph.Forgotten, graph.ID{})
	if got := keysOf(m.ask(t, retrieve.Request{Text: "a",
		ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}})); got != "a" {
		t.Error(got)
	}
	let := retrieve.Request{Text: "a", ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)},
		Marks: []graph.State{graph.Forgotten}}
	if got := keysOf(m.ask(t, let)); got != "ab" {
		t.Error(got)
	}
	m.markBy(graph.NodeID("a"), graph.Contradicted, graph.NodeID("nobody"))
	if got := keysOf(m.ask(t, retrieve.Request{Text: "a",
		ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}})); got != "a" {
		t.Error(got)
	}
}

// TestContradictedOnce puts many into one ring: each is packed once.
func TestContradictedOnce(t *testing.T) {
	rng := seeded(t)
	for range 50 {
		m := randomMemory(rng, 40, 60)
		var all []graph.ID
		for id := range m.nodes {
			all = append(all, id)
		}
		slices.SortFunc(all, graph.ID.Compare)
		for _, id := range all {
			if rng.IntN(2) == 0 {
				m.markBy(id, graph.Contradicted, all[rng.IntN(len(all))])
			}
		}
		a := m.ask(t, retrieve.Request{Text: "a b", Limit: new(rng.IntN(20)), Budget: new(rng.IntN(2) * 500)})
		seen := map[graph.ID]bool{}
		for _, it := range a.Items {
			if seen[it.ID] {
				t.Fatalf("%s comes twice", it.ID)
			}
			seen[it.ID] = true
		}
		if rec, _ := a.Receipt(); rec.Validate() != nil {
			t.Fatal(rec.Validate())
		}
	}
}

// TestPairsInReceipts replays answers of a memory in which something contradicts an item: a receipt
// that does not know of pairs, as those before there were any, is answered as it was then.
func TestPairsInReceipts(t *testing.T) {
	m := dispute()
	for _, c := range []struct {
		req    retrieve.Request
		keys   string
		pairs  bool
		stated retrieve.Pairing
	}{
		{retrieve.Request{Text: "a"}, "ab", true, retrieve.PairsOn},
		{retrieve.Request{Text: "a", Pairs: retrieve.PairsOff}, "a", false, retrieve.PairsOff},
		{retrieve.Request{Text: "d"}, "d", false, retrieve.PairsOff},
		{retrieve.Request{Text: "a", Limit: new(1)}, "a", false, retrieve.PairsOff},
	} {
		c.req.Expand = new(0)
		a := m.ask(t, c.req)
		if keysOf(a) != c.keys || a.Request.Pairs != c.stated {
			t.Errorf("%+v: %s, pairs %s", c.req, keysOf(a), a.Request.Pairs)
		}
		receipt, query := a.Receipt()
		if _, ok := receipt.Params.Get("pairs"); ok != c.pairs {
			t.Errorf("%s: pairs in the receipt %t", c.keys, ok)
		}
		req, err := receipt.Request(string(query))
		if err != nil {
			t.Fatal(err)
		}
		if d := diff(a, m.ask(t, req)); d != "" {
			t.Errorf("replayed: %s", d)
		}
	}
	if err := (retrieve.Request{Pairs: "maybe"}).Validate(); !errors.Is(err, retrieve.ErrRequest) {
		t.Error(err)
	}
}
