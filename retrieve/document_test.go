package retrieve

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mnem-project/mnem/graph"
)

// orderOracle arranges the ids of items that are in packing order: clause 11.5, by reachability
// over all pairs and by trying all places.
func orderOracle(m *memory, req Request, items []graph.ID) []graph.ID {
	follows := func(l Link) bool {
		return (len(req.ExpandTypes) == 0 || slices.Contains(req.ExpandTypes, l.Type)) &&
			m.marks[l.Other] == nil && m.edgeMark[l.Edge] == nil
	}
	joined := map[[2]graph.ID]bool{}
	ahead := map[[2]graph.ID]bool{}
	for _, a := range items {
		for _, b := range items {
			for _, l := range m.out[a] {
				if l.Other == b && follows(l) && a != b {
					joined[[2]graph.ID{a, b}], joined[[2]graph.ID{b, a}] = true, true
					ahead[[2]graph.ID{a, b}] = true
				}
			}
			for _, side := range []map[graph.ID][]Link{m.out, m.in} {
				for _, x := range side[a] {
					for _, y := range side[b] {
						if a != b && x.Type == y.Type && x.Other == y.Other && follows(x) && follows(y) &&
							len(m.out[x.Other])+len(m.in[x.Other]) <= 256 {
							joined[[2]graph.ID{a, b}] = true
						}
					}
				}
			}
		}
	}
	for _, via := range items {
		for _, a := range items {
			for _, b := range items {
				if joined[[2]graph.ID{a, via}] && joined[[2]graph.ID{via, b}] {
					joined[[2]graph.ID{a, b}] = true
				}
			}
		}
	}
	var out []graph.ID
	for _, first := range items {
		if slices.Contains(out, first) {
			continue
		}
		left := []graph.ID{first}
		for _, b := range items {
			if b != first && joined[[2]graph.ID{first, b}] {
				left = append(left, b)
			}
		}
		for len(left) > 0 {
			free := func(b graph.ID) int {
				for _, a := range left {
					if ahead[[2]graph.ID{a, b}] && m.nodes[a].Created == m.nodes[b].Created {
						return 1
					}
				}
				return 0
			}
			next := slices.MinFunc(left, func(a, b graph.ID) int {
				return cmp.Or(cmp.Compare(m.nodes[a].Created, m.nodes[b].Created),
					cmp.Compare(free(a), free(b)), a.Compare(b))
			})
			out = append(out, next)
			left = slices.DeleteFunc(left, func(id graph.ID) bool { return id == next })
		}
	}
	return out
}

func TestOrderDocument(t *testing.T) {
	r := seeded(t)
	for n := range 400 {
		m := newMemory()
		for i := range 12 {
			m.add(graph.Node{ID: num(i), Summary: "kelp", Created: graph.Time(r.IntN(3) + 1)})
			m.scores = map[graph.ID]int64{}
		}
		for i := range 12 {
			m.scores[num(i)] = int64(1 + r.IntN(9))
		}
		for range r.IntN(14) {
			id := m.link(num(r.IntN(16)), []string{"s", "t"}[r.IntN(2)], num(r.IntN(16)), 1<<16)
			if r.IntN(8) == 0 {
				m.markEdge(id, graph.Retired)
			}
		}
		for i := 12; i < 16; i++ {
			m.add(graph.Node{ID: num(i), Summary: "other", Created: 1})
		}
		req := Request{Text: "kelp", Expand: new(0), Limit: new(3 + r.IntN(10)), Budget: new(0)}
		if r.IntN(3) == 0 {
			req.ExpandTypes = []string{"s"}
		}
		want := orderOracle(m, req, ids(m.ask(t, req)))
		req.Order = ByDocument
		if d := diff(want, ids(m.ask(t, req))); d != "" {
			t.Fatalf("%d: %s", n, d)
		}
	}
}

// TestOrderHub hangs many nodes at one: what all lead to is no document.
func TestOrderHub(t *testing.T) {
	for size, joined := range map[int]bool{256: true, 257: false} {
		m := newMemory()
		hub := m.add(graph.Node{ID: num(9999), Summary: "hub", Created: 1})
		for i := range size {
			word := "other"
			if i < 3 {
				word = "kelp"
			}
			id := m.add(graph.Node{ID: num(i), Summary: word, Created: graph.Time(size - i)})
			m.link(id, "in", hub, 1<<16)
		}
		a := m.ask(t, Request{Text: "kelp", Expand: new(0), Order: ByDocument, Budget: new(0)})
		if got := a.Items[0].ID == num(2); got != joined {
			t.Errorf("%d entries: first is %s", size, a.Items[0].ID)
		}
		if got := slices.Contains(codes(a), NoEffect); got == joined {
			t.Errorf("%d entries: warnings %v", size, codes(a))
		}
	}
}

func TestNoEffect(t *testing.T) {
	m := newMemory()
	m.add(graph.Node{Key: "a", Summary: "kelp", Created: 1})
	m.add(graph.Node{ID: num(2), Summary: "kelp bed", Created: 1})
	m.add(graph.Node{ID: num(3), Summary: "tide", Created: 1})
	m.link(num(2), "t", num(3), 1<<16)
	off := new(0)
	for _, c := range []struct {
		req  Request
		want string
	}{
		{Request{Text: "kelp", Expand: off, Fusion: RRF}, "--fusion"},
		{Request{Text: "kelp", Fusion: RRF}, ""},
		{Request{Text: "kelp", Weights: []LaneWeight{{LaneText, 5}}}, "--weight"},
		{Request{Text: "kelp", ExpandTypes: []string{"t"}, Direction: Out, Expand: off},
			"--expand-type, --direction"},
		{Request{Text: "kelp", ExpandTypes: []string{"t"}, Direction: Out}, ""},
		{Request{Direction: In}, "--direction"},
		{Request{Text: "`a`", Adjacency: 3, Expand: off}, "--adjacency"},
		{Request{Text: "tide", Adjacency: 3, Expand: off}, ""},
		{Request{Text: "a", Adjacency: 3, Expand: off}, "--adjacency"},
		{Request{Text: "tide", Show: []string{ShowKey}, Expand: off}, "--show"},
		{Request{Text: "kelp", Show: []string{ShowKey}, Expand: off}, ""},
		{Request{Text: "kelp", Show: []string{ShowKey, ShowContent}, Expand: off}, "--show"},
		{Request{Text: "kelp", Show: []string{ShowTimes}, Expand: off}, ""},
		{Request{Text: "tide", MMR: off, Expand: off}, "--mmr"},
		{Request{Text: "kelp", MMR: off, Expand: off}, ""},
		{Request{Text: "kelp", Pack: PackPassages, Expand: off}, "--pack"},
		{Request{Text: "kelp", Order: ByDocument, Expand: off}, "--order"},
		{Request{Text: "tide", Order: ByDocument, Expand: off}, ""},
		{Request{Text: "unknown", Order: ByDocument, Pack: PackPassages, Adjacency: 3}, ""},
	} {
		a := m.ask(t, c.req)
		got := ""
		for _, w := range a.Warnings {
			if w.Code == NoEffect {
				got = w.flags()
			}
		}
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.req, got, c.want)
		}
	}
}

func TestNoType(t *testing.T) {
	m := warned()
	a := m.ask(t, Request{Text: "alpha", Types: []string{"Y", "A", "B", "X"}})
	if len(a.Warnings) != 1 || a.Warnings[0].Message() != `no node has the type "X", "Y"` {
		t.Errorf("%v", a.Warnings)
	}
	m.failOn = "Recency"
	_, err := Run(t.Context(), m, m, testCommit, Request{Text: "alpha", Types: []string{"X"}})
	if err == nil {
		t.Error("no error")
	}
}

func TestTrace(t *testing.T) {
	m := warned()
	m.add(graph.Node{Key: "c", Type: "C", Summary: "alpha", Created: 1})
	m.add(graph.Node{Key: "d", Type: "A", Summary: "alpha", Created: 99})
	m.add(graph.Node{Key: "e", Type: "A", Summary: "alpha alpha", Created: 1})
	now := time.Duration(0)
	trace := &Trace{Clock: func() time.Duration { now += time.Second; return now }}
	req := Request{Text: "alpha", Types: []string{"A", "B"}, CreatedTo: graph.At(50),
		Exclude: []graph.ID{graph.NodeID("the")}}
	plain := m.ask(t, req)
	for range 2 { // a trace may be used again
		a, err := Runner{Trace: trace}.Run(t.Context(), m, m, testCommit, ofAll(req))
		if err != nil {
			t.Fatal(err)
		}
		if d := diff(plain, a); d != "" {
			t.Fatal(d)
		}
		want := []LaneTrace{{Lane: LaneText, Weight: 1 << 16, Passed: 1, Found: 1, Best: 2, Worst: 2,
			LeftOut: LeftOut{Exclude: 1, Types: 1, Times: 1, Marks: 1}}}
		if d := diff(want, trace.Lanes); d != "" {
			t.Error(d)
		}
		stages := fmt.Sprint(trace.Stages)
		if stages != "[{lanes 1s} {fuse 1s} {expand 1s} {diversify 1s} {pack 1s}]" {
			t.Error(stages)
		}
	}
	l := LaneTrace{Best: 8, Worst: 4}
	for f, want := range map[Fusion]int64{Convex: 49_152, ScoreNorm: 32_768, RRF: 1 << 32 / 63} {
		if got := l.Share(f, LaneHit{Rank: 3, Score: 6}); got != want {
			t.Errorf("%s: share %d, want %d", f, got, want)
		}
	}
}
