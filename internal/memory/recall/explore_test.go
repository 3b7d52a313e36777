package recall

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/memkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// world returns a memory of random notes, entities and edges, written in an order of its own.
func world(t *testing.T, seed uint64, shuffle bool) *core.Repo {
	t.Helper()
	r := memkit.Open(t)
	rng := rand.New(rand.NewPCG(seed, 1))
	words := strings.Fields("harbour boat tide crew anchor lamp storm chart rope sail")
	var nodes, edges []string
	for i := range 60 {
		typ := []string{"fact", "event", memory.TypeEntity}[i%3]
		nodes = append(nodes, fmt.Sprintf(`{"node":{"key":"n%d","type":"%s","summary":"%s %s %s %d"}}`, i,
			typ, words[rng.IntN(10)], words[rng.IntN(10)], words[rng.IntN(10)], i))
	}
	for i := range 150 {
		edges = append(edges, fmt.Sprintf(`{"edge":{"type":"%s","src":"n%d","dst":"n%d","key":"%d","weight":0.%d}}`,
			[]string{"mentions", "causes", "near"}[rng.IntN(3)], rng.IntN(60), rng.IntN(60), i, 1+rng.IntN(9)))
	}
	for i := range 10 {
		edges = append(edges, fmt.Sprintf(`{"mark":{"node":"n%d","state":"forgotten"}}`, 6*i))
	}
	all := append(nodes, edges...)
	if shuffle {
		rand.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
	}
	in := strings.NewReader(strings.Join(all, "\n") + "\n")
	must.Get(r.Commit(t.Context(), state.ReadChanges(in, "w"), core.CommitOptions{Stamp: memkit.By}))(t)
	return r
}

func explored(x *Exploration) string {
	var b strings.Builder
	for _, n := range x.Nodes {
		fmt.Fprintln(&b, n.Node.Key, n.Score, n.Hops, n.Reasons[0].Kind, n.Reasons[0].Edge)
	}
	return b.String()
}

// TestExplore holds what is found in random memories to what is promised of it, and to itself
// whatever the order in which the memory was written.
func TestExplore(t *testing.T) {
	for seed := range uint64(6) {
		s := memkit.Tip(t, world(t, seed, false))
		for _, req := range []ExploreRequest{
			{Topic: "storm tide"}, {Topic: "boat", Depth: 5, Beam: 2}, {Node: graph.NodeID("n7"), Beam: 9},
			{Topic: "sail rope", Filter: Filter{EdgeTypes: []string{"causes"}}},
			{Topic: "lamp", Filter: Filter{Types: []string{"fact"}}},
			{Topic: "lamp", Filter: Filter{Directions: []adjacency.Direction{adjacency.In}}},
			{Topic: "anchor", Filter: Filter{Marks: []graph.State{graph.Forgotten}}},
		} {
			x := must.Get(Explore(t.Context(), s, req))(t)
			holdExploration(t, s, req, x)
			again := must.Get(Explore(t.Context(), memkit.Tip(t, world(t, seed, true)), req))(t)
			must.Equal(t, explored(x), explored(again), "seed ", seed, ", ", req, ":\n")
		}
	}
}

func holdExploration(t *testing.T, s *core.Snapshot, req ExploreRequest, x *Exploration) {
	t.Helper()
	req, err := req.resolve()
	if err != nil || len(x.Nodes) == 0 && len(req.Types) == 0 || len(x.Nodes) > req.Beam*(req.Depth+1) {
		t.Errorf("%+v: %d nodes, %v", req, len(x.Nodes), err)
	}
	at := map[graph.ID]Found{req.Node: {}}
	for i, n := range x.Nodes {
		if _, twice := at[n.Node.ID]; twice || n.Score > 0 || i > 0 && n.Score > x.Nodes[i-1].Score || n.Hops > req.Depth ||
			len(n.Reasons) != 1 || (n.Hops == 0) != (n.Reasons[0].Kind == "match") {
			t.Errorf("%+v: %+v", req, n)
		}
		at[n.Node.ID] = n
	}
	for _, n := range x.Nodes {
		if p := n.Reasons[0].Edge; p != nil {
			e, _, err := s.Edge(t.Context(), p.Edge)
			from, known := at[p.From]
			if err != nil || !known || from.Hops != n.Hops-1 || p.To != n.Node.ID || e.Type != p.Type ||
				p.Forward && (e.Src != p.From || e.Dst != p.To) || !p.Forward && (e.Dst != p.From || e.Src != p.To) {
				t.Errorf("%+v: %+v to %s, %v", req, p, n.Node.Key, err)
			}
			must.True(t, (len(req.EdgeTypes) == 0 || e.Type == req.EdgeTypes[0]) &&
				(len(req.Directions) == 0 || !p.Forward), "%+v: follows %+v", req, p)
		}
		if m, err := s.Mark(t.Context(), graph.OnNode, n.Node.ID); err != nil || m != nil && len(req.Marks) == 0 {
			t.Errorf("%+v: %s is %v", req, n.Node.Key, m)
		}
	}
}

func TestExploreRefuses(t *testing.T) {
	s := memkit.Tip(t, world(t, 1, false))
	for _, req := range []ExploreRequest{
		{}, {Topic: " \n"}, {Topic: "a", Depth: 9}, {Topic: "a", Depth: -1}, {Topic: "a", Beam: 65},
		{Topic: "a", Filter: Filter{Marks: []graph.State{"x"}}}, {Topic: "a", Filter: Filter{Types: []string{""}}},
		{Node: graph.NodeID("nothing")},
	} {
		x, err := Explore(t.Context(), s, req)
		must.True(t, err != nil, "%+v: %v", req, x)
	}
}
