package stage

import (
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/retrieve"
)

// TestHiddenStates checks every state, let through and not, in each place where marks count.
func TestHiddenStates(t *testing.T) {
	hidden := []graph.State{graph.Forgotten, graph.Superseded, graph.Expired, graph.Retired}
	for _, state := range graph.States() {
		must.Equal(t, state.Hides(), slices.Contains(hidden, state), state, ": hidden")
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
		must.Equal(t, slices.Contains(ids(m.ask(t, req)), id), want, state, " ", req.Marks, " in the ", where, ": seen")
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
	r := &request{g: m, req: req.Resolve()}
	r.filter = source.NewFilter(m, &r.req)
	shown, more, err := r.visible(t.Context(), plain, retrieve.Out)
	must.OK(t, err, "more")
	must.Equal(t, more, 0, "more")
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
		must.Equal(t, diff([]graph.ID{last}, ids(a)), "", text)
	}
}
