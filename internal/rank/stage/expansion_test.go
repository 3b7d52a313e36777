package stage

import (
	"errors"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/retrieve"
)

// TestExpansionReceipt keeps what is not at its default, and nothing else.
func TestExpansionReceipt(t *testing.T) {
	for _, tt := range []struct {
		o    retrieve.ExpansionOptions
		want []string
	}{
		{retrieve.ExpansionOptions{}, nil},
		{retrieve.ExpansionOptions{Expansion: retrieve.Lend, MaxExpand: new(100)}, nil},
		{retrieve.ExpansionOptions{Expansion: retrieve.Decay, Decay: new(retrieve.DefaultDecay)}, []string{"expansion"}},
		{retrieve.ExpansionOptions{Expansion: retrieve.PPR, Damping: new(retrieve.DefaultDamping)}, []string{"expansion"}},
		{retrieve.ExpansionOptions{Expansion: retrieve.Decay, Decay: new(7), MaxExpand: new(7)},
			[]string{"decay", "expansion", "maxExpand"}},
		{retrieve.ExpansionOptions{Expansion: retrieve.PPR, Damping: new(7)}, []string{"damping", "expansion"}},
	} {
		a := library().ask(t, retrieve.Request{Text: "web", ExpansionOptions: tt.o})
		r, text := a.Receipt()
		var got []string
		for _, name := range []string{"damping", "decay", "expansion", "maxExpand"} {
			if _, ok := r.Params.Get(name); ok {
				got = append(got, name)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%+v: kept %v, want %v", tt.o, got, tt.want)
		}
		req, err := readParams(r.Params, string(text))
		if err != nil {
			t.Fatal(err)
		}
		if d := diff(a.Request, req); d != "" {
			t.Error(d)
		}
	}
}

func TestExpansionMembers(t *testing.T) {
	text := `{"text":"x","expansion":"ppr","damping":0.5,"max-expand":7,"expand":64}`
	q, err := complete.ParseRequestJSON(parsed(t, text), retrieve.Request{})
	if err != nil {
		t.Fatal(err)
	}
	want := retrieve.Request{Text: "x", ExpansionOptions: retrieve.ExpansionOptions{Expand: new(64),
		Expansion: retrieve.PPR, MaxExpand: new(7), Damping: new(32_768),
	}}
	if d := diff(want, q.Request); d != "" {
		t.Error(d)
	}
	for text, param := range map[string]string{
		`{"expansion":"pagerank"}`:           "expansion",
		`{"expansion":1}`:                    "expansion",
		`{"max-expand":0}`:                   "max-expand",
		`{"max-expand":"3"}`:                 "max-expand",
		`{"decay":0.5,"expansion":"ppr"}`:    "decay",
		`{"decay":1.5,"expansion":"decay"}`:  "decay",
		`{"damping":1,"expansion":"ppr"}`:    "damping",
		`{"damping":null,"expansion":"ppr"}`: "damping",
		`{"expand":65,"expansion":"ppr"}`:    "expand",
	} {
		_, err := complete.ParseRequestJSON(parsed(t, text), retrieve.Request{})
		var re *retrieve.RequestError
		if !errors.As(err, &re) || re.Param != param {
			t.Errorf("%s: error %v, want one of %s", text, err, param)
		}
	}
}

// TestNothingLinked warns only who asked for what could not be done.
func TestNothingLinked(t *testing.T) {
	alone := newMemory()
	alone.add(graph.Node{ID: num(0), Summary: "a", Created: 1})
	linked := newMemory()
	a := linked.add(graph.Node{ID: num(0), Summary: "a", Created: 1})
	linked.link(a, "x", linked.add(graph.Node{ID: num(1), Type: "B", Created: 1}), 65_536)
	looped := newMemory()
	looped.add(graph.Node{ID: num(0), Summary: "a", Created: 1})
	looped.link(num(0), "x", num(0), 65_536)
	for _, tt := range []struct {
		name string
		m    *memory
		req  retrieve.Request
		want bool
	}{
		{"one way", alone, retrieve.Request{Text: "a",
			ExpansionOptions: retrieve.ExpansionOptions{Direction: retrieve.Out}}, true},
		{"nothing found", alone, retrieve.Request{Text: "b"}, false},
		{"nothing blank", newMemory(), retrieve.Request{}, false},
		{"blank", linked, retrieve.Request{}, true},
		{"alone", alone, retrieve.Request{Text: "a"}, true},
		{"linked", linked, retrieve.Request{Text: "a"}, false},
		{"loop", looped, retrieve.Request{Text: "a"}, true},
		{"filtered", linked, retrieve.Request{Text: "a", Types: []string{"Note"}}, true},
		{"direction", linked, retrieve.Request{Text: "a",
			ExpansionOptions: retrieve.ExpansionOptions{Direction: retrieve.In}}, true},
		{"off", alone, retrieve.Request{Text: "a", ExpansionOptions: retrieve.ExpansionOptions{Expand: new(0)}}, false},
	} {
		for _, e := range retrieve.Expansions() {
			tt.req.Expansion = e
			want := tt.want && e != retrieve.Lend
			got := codes(tt.m.ask(t, tt.req))
			if slices.Contains(got, retrieve.NothingLinked) != want || len(got) > 1 {
				t.Errorf("%s, %s: warnings %v", tt.name, e, got)
			}
		}
	}
	for typ, want := range map[string]bool{"x": false, "y": true} {
		got := codes(linked.ask(t, retrieve.Request{Text: "a",
			ExpansionOptions: retrieve.ExpansionOptions{ExpandTypes: []string{typ}}}))
		if slices.Contains(got, retrieve.NothingLinked) != want {
			t.Errorf("edges of type %s: warnings %v", typ, got)
		}
	}
}

// TestExpansionByRanks makes one more lane of what was reached.
func TestExpansionByRanks(t *testing.T) {
	m := newMemory()
	a := m.add(graph.Node{ID: num(0), Summary: "a a", Created: 1})
	b := m.add(graph.Node{ID: num(1), Summary: "a", Created: 1})
	c := m.add(graph.Node{ID: num(2), Created: 1})
	m.link(a, "x", c, 65_536)
	m.link(c, "x", b, 65_536)
	place := func(ranks ...int) (sum int64) {
		for _, n := range ranks {
			sum += reciprocal(65_536, n)
		}
		return sum
	}
	for e, want := range map[retrieve.Expansion]map[graph.ID]int64{
		retrieve.Decay: {a: place(1, 3), b: place(2, 2), c: place(1)},
		retrieve.PPR:   {a: place(1, 2), b: place(2, 3), c: place(1)},
	} {
		req := retrieve.Request{Text: "a", Fusion: retrieve.RRF, ExpansionOptions: retrieve.ExpansionOptions{Expansion: e}}
		got := map[graph.ID]int64{}
		for _, item := range m.ask(t, req).Items {
			got[item.ID] = item.Score
		}
		if d := diff(want, got); d != "" {
			t.Errorf("%s: %s", e, d)
		}
	}
}

// TestExpansionFails hands on every error of the graph.
func TestExpansionFails(t *testing.T) {
	for _, e := range retrieve.Expansions() {
		for _, method := range []string{"Bucket", "Mark", "Mentioned", "Mentioning"} {
			m := newMemory()
			a := m.add(graph.Node{ID: num(0), Summary: "a", Created: 1})
			m.link(a, "x", m.add(graph.Node{ID: num(1), Created: 1}), 65_536)
			m.failOn = method
			_, err := Run(t.Context(), m, m, testCommit, retrieve.Request{
				Text: "a", ExpansionOptions: retrieve.ExpansionOptions{Expansion: e},
			})
			if !errors.Is(err, errBroken) {
				t.Errorf("%s: %s failed, and so did not the answer: %v", e, method, err)
			}
		}
	}
}
