package stage

import (
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// TestEnough holds that counting no further than is enough decides as counting all does.
func TestEnough(t *testing.T) {
	for _, s := range []string{
		"out.t exists", "out.t !exists", "out.t = 0", "out.t = 3", "out.t != 3", "out.t = 2.5", "out.t < 0",
		"out.t < 4", "out.t <= 2.5", "out.t > -1", "out.t > 3", "out.t >= 3.5", "out.t in []",
		"out.t in [0,2,5]", "out.t in [1.0]", "out.t < 1e300", "out.t > 1e300",
	} {
		p := must.Get(retrieve.ParsePredicate(s))(t)
		for n := range 12 {
			if got, want := p.HoldsFor(min(n, p.Enough())), p.HoldsFor(n); got != want {
				t.Errorf("%s of %d edges: %v, of %d %v", s, n, want, p.Enough(), got)
			}
		}
	}
}

// TestCountEdges counts more edges than are read at once; marks hide some.
func TestCountEdges(t *testing.T) {
	m := newMemory()
	hub := m.add(graph.Node{Key: "hub", Type: "T"})
	want := 0
	for i := range 3*source.EdgePage + 7 {
		other := m.add(graph.Node{Key: fmt.Sprint("n", i), Type: "T"})
		edge := m.link(hub, "t", other, 1)
		switch i % 5 {
		case 0:
			m.markEdge(edge, graph.Forgotten)
		case 1:
			m.mark(other, graph.Retired)
		case 2:
			m.mark(other, graph.Stale)
			want++
		default:
			want++
		}
	}
	p := retrieve.Predicate{Name: "t", Op: retrieve.Exists, Edges: retrieve.Out}
	for _, c := range []struct {
		req  retrieve.Request
		most int64
		want int
	}{
		{retrieve.Request{}, 1 << 20, want}, {retrieve.Request{}, 3, 4}, {retrieve.Request{}, 300, 301},
		{retrieve.Request{Marks: []graph.State{graph.Forgotten, graph.Retired}}, 1 << 20, 3*source.EdgePage + 7},
	} {
		p.Op, p.Value = retrieve.GreaterEqual, ipld.IntValue(c.most)
		f := source.NewFilter(m, &c.req)
		got := must.Get(f.CountEdges(t.Context(), hub, p))(t)
		must.Check(t, got == c.want, "%d of %v at most %d", got, c.req.Marks, c.most)
	}
	p.Edges = retrieve.In
	f := source.NewFilter(m, &retrieve.Request{})
	must.Equal(t, must.Get(f.CountEdges(t.Context(), hub, p))(t), 0, "edges to it")
	m.failOn = "Bucket"
	_, err := f.CountEdges(t.Context(), hub, p)
	must.Fail(t, err, errBroken)
}
