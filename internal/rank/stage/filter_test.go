package stage

import (
	"errors"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// TestFilters asks for the newest of five nodes with one filter at a time.
func TestFilters(t *testing.T) {
	m := newMemory()
	for i, n := range []graph.Node{
		{Type: "A", Created: 10},
		{Type: "B", Created: 20, Updated: graph.At(35)},
		{Type: "C", Created: 30, Props: []ipld.Entry{{Key: "n", Value: ipld.IntValue(5)}}},
		{Type: "A", Created: 40, ValidFrom: graph.At(100), ValidTo: graph.At(200)},
		{Type: "A", Created: 50, ValidFrom: graph.At(150)},
	} {
		n.ID = num(i)
		m.add(n)
	}
	where := func(s string) []retrieve.Predicate {
		p, err := retrieve.ParsePredicate(s)
		if err != nil {
			t.Fatal(err)
		}
		return []retrieve.Predicate{p}
	}
	cases := []struct {
		name string
		req  retrieve.Request
		want []int // in the order of recency
	}{
		{"none", retrieve.Request{}, []int{4, 3, 1, 2, 0}},
		{"type", retrieve.Request{Types: []string{"A"}}, []int{4, 3, 0}},
		{"types", retrieve.Request{Types: []string{"C", "B"}}, []int{1, 2}},
		{"no such type", retrieve.Request{Types: []string{"a"}}, nil},
		{"created from", retrieve.Request{TimeFilter: retrieve.TimeFilter{CreatedFrom: graph.At(30)}}, []int{4, 3, 2}},
		{"created to", retrieve.Request{TimeFilter: retrieve.TimeFilter{CreatedTo: graph.At(30)}}, []int{1, 0}},
		{"updated from", retrieve.Request{TimeFilter: retrieve.TimeFilter{UpdatedFrom: graph.At(35)}}, []int{4, 3, 1}},
		{"updated to", retrieve.Request{TimeFilter: retrieve.TimeFilter{UpdatedTo: graph.At(35)}}, []int{2, 0}},
		{"valid before", retrieve.Request{TimeFilter: retrieve.TimeFilter{ValidAt: graph.At(99)}}, []int{1, 2, 0}},
		{"valid from is inclusive", retrieve.Request{TimeFilter: retrieve.TimeFilter{ValidAt: graph.At(100)}},
			[]int{3, 1, 2, 0}},
		{"valid both", retrieve.Request{TimeFilter: retrieve.TimeFilter{ValidAt: graph.At(150)}}, []int{4, 3, 1, 2, 0}},
		{"valid to is exclusive", retrieve.Request{TimeFilter: retrieve.TimeFilter{ValidAt: graph.At(200)}}, []int{4,
			1, 2, 0}},
		{"predicate", retrieve.Request{Where: where("n = 5")}, []int{2}},
		{"missing", retrieve.Request{Where: where("n !exists")}, []int{4, 3, 1, 0}},
		{"all must hold", retrieve.Request{Where: append(where("n > 4"), where("n > 5")...)}, nil},
		{"together", retrieve.Request{Types: []string{"A"}, TimeFilter: retrieve.TimeFilter{CreatedFrom: graph.At(20),
			ValidAt: graph.At(160), UpdatedTo: graph.At(50)}},
			[]int{3}},
	}
	for _, c := range cases {
		want := []graph.ID{}
		for _, i := range c.want {
			want = append(want, num(i))
		}
		if d := diff(want, ids(m.ask(t, c.req))); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

// TestHiddenStates checks every state, let through and not, in each place where marks count.
func TestHiddenStates(t *testing.T) {
	hidden := []graph.State{graph.Forgotten, graph.Superseded, graph.Expired, graph.Retired}
	for _, state := range graph.States() {
		if state.Hides() != slices.Contains(hidden, state) {
			t.Errorf("%s: hidden %v", state, state.Hides())
		}
		for _, let := range []bool{false, true} {
			req := retrieve.Request{Limit: new(0), Budget: new(0), Floor: retrieve.FloorRest}
			if let && state.Hides() {
				req.Marks = []graph.State{state}
			}
			checkState(t, state, req, !state.Hides() || let)
		}
	}
}

// checkState marks one node and one edge and checks whether they are seen.
func checkState(t *testing.T, state graph.State, req retrieve.Request, want bool) {
	t.Helper()
	m := newMemory()
	marked := m.add(graph.Node{Key: "marked", Summary: "alpha", Created: 2})
	plain := m.add(graph.Node{Key: "plain", Summary: "beta", Created: 1})
	other := m.add(graph.Node{Key: "other", Summary: "gamma", Created: 0})
	m.mark(marked, state)
	m.link(plain, "beside", marked, 65_536)
	m.markEdge(m.link(plain, "far", other, 65_536), state)
	req.Adjacency = 5
	see := func(where, text string, id graph.ID, want bool) {
		t.Helper()
		req.Text = text
		if got := slices.Contains(ids(m.ask(t, req)), id); got != want {
			t.Errorf("%s %v in the %s: seen %v, want %v", state, req.Marks, where, got, want)
		}
	}
	see("recency lane", "", marked, want)
	see("text lane", "alpha", marked, want)
	see("exact look-up", "marked", marked, want)
	see("quoted look-up", "`marked`", marked, want)
	see("expansion to a node", "beta", marked, want)
	see("expansion over an edge", "beta", other, want)
	see("expansion of unmarked", "beta", plain, true)

	req.Expand = new(0)
	req.Text = "beta"
	a := m.ask(t, req)
	var links []graph.ID
	r := &run{g: m, req: req.Resolve()}
	r.filter = source.NewFilter(m, &r.req)
	shown, more, err := r.visible(t.Context(), plain, retrieve.Out)
	if err != nil || more != 0 {
		t.Fatalf("%d more, %v", more, err)
	}
	for _, l := range shown {
		links = append(links, l.Other)
	}
	if len(a.Items) != 1 || slices.Contains(links, marked) != want ||
		slices.Contains(links, other) != want {
		t.Errorf("%s %v: shows edges to %v, want %v", state, req.Marks, links, want)
	}
}

// TestFilterInsideLane has more refused documents than a lane is deep.
func TestFilterInsideLane(t *testing.T) {
	m := newMemory()
	for i := range 1500 {
		m.add(graph.Node{ID: num(i), Type: "Noise", Summary: "a a", Created: 100})
	}
	last := m.add(graph.Node{ID: num(5000), Type: "Rare", Summary: "a", Created: 1})
	for _, text := range []string{"a", ""} {
		a := m.ask(t, retrieve.Request{Text: text, Types: []string{"Rare"}})
		if d := diff([]graph.ID{last}, ids(a)); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
}

// brokenDocument fails to read its properties.
type brokenDocument struct{ source.Document }

func (brokenDocument) Prop(string) (ipld.Value, bool, error) {
	return ipld.Value{}, false, errBroken
}

func TestAcceptFails(t *testing.T) {
	n := &graph.Node{ID: num(1), Type: "A"}
	req := retrieve.Request{Where: []retrieve.Predicate{{Name: "p", Op: retrieve.Exists}}}
	f := source.NewFilter(newMemory(), &req)
	ok, err := f.Accept(t.Context())(brokenDocument{source.NodeDocument(n)})
	if ok || !errors.Is(err, errBroken) {
		t.Errorf("accepted %v, error %v", ok, err)
	}
}
