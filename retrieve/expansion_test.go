package retrieve

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
)

func TestExpansionBounds(t *testing.T) {
	for _, tt := range []struct {
		param     string
		good, bad Request
		reason    string
	}{
		{"expansion", withExpansion(ExpansionOptions{Expansion: PPR}),
			withExpansion(ExpansionOptions{Expansion: "PPR"}), "not lend, decay or ppr"},
		{"expand", Request{Expand: new(4)}, Request{Expand: new(5)}, "0 to 4"},
		{"expand", Request{Expand: new(64), ExpansionOptions: ExpansionOptions{Expansion: PPR}},
			Request{Expand: new(65), ExpansionOptions: ExpansionOptions{Expansion: PPR}}, "0 to 64"},
		{"maxExpand", withExpansion(ExpansionOptions{MaxExpand: new(1000)}),
			withExpansion(ExpansionOptions{MaxExpand: new(1001)}), "1 to 1000"},
		{"maxExpand", withExpansion(ExpansionOptions{MaxExpand: new(1)}),
			withExpansion(ExpansionOptions{MaxExpand: new(0)}), "1 to 1000"},
		{"decay", withExpansion(ExpansionOptions{Expansion: Decay, Decay: new(65_536)}),
			withExpansion(ExpansionOptions{Expansion: Decay, Decay: new(65_537)}), "at most 1"},
		{"decay", withExpansion(ExpansionOptions{Expansion: Decay, Decay: new(1)}),
			withExpansion(ExpansionOptions{Expansion: Decay, Decay: new(0)}), "more than 0"},
		{"decay", Request{}, withExpansion(ExpansionOptions{Decay: new(5)}), "choose"},
		{"damping", withExpansion(ExpansionOptions{Expansion: PPR, Damping: new(65_535)}),
			withExpansion(ExpansionOptions{Expansion: PPR, Damping: new(65_536)}), "less than 1"},
		{"damping", Request{}, withExpansion(ExpansionOptions{Expansion: Decay, Damping: new(5)}),
			"choose"},
	} {
		if err := tt.good.Validate(); err != nil {
			t.Errorf("%s at its bound: %v", tt.param, err)
		}
		var re *RequestError
		if err := tt.bad.Validate(); !errors.As(err, &re) || re.Param != tt.param ||
			!strings.Contains(re.Reason, tt.reason) {
			t.Errorf("%s: error %v, want %q", tt.param, err, tt.reason)
		}
	}
}

func withExpansion(o ExpansionOptions) Request { return Request{ExpansionOptions: o} }

// TestExpansionReceipt keeps what is not at its default, and nothing else.
func TestExpansionReceipt(t *testing.T) {
	for _, tt := range []struct {
		o    ExpansionOptions
		want []string
	}{
		{ExpansionOptions{}, nil},
		{ExpansionOptions{Expansion: Lend, MaxExpand: new(100)}, nil},
		{ExpansionOptions{Expansion: Decay, Decay: new(DefaultDecay)}, []string{"expansion"}},
		{ExpansionOptions{Expansion: PPR, Damping: new(DefaultDamping)}, []string{"expansion"}},
		{ExpansionOptions{Expansion: Decay, Decay: new(7), MaxExpand: new(7)},
			[]string{"decay", "expansion", "maxExpand"}},
		{ExpansionOptions{Expansion: PPR, Damping: new(7)}, []string{"damping", "expansion"}},
	} {
		a := library().ask(t, Request{Text: "web", ExpansionOptions: tt.o})
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
	q, err := ParseRequestJSON(parsed(t, text), Request{})
	if err != nil {
		t.Fatal(err)
	}
	want := Request{Text: "x", Expand: new(64), ExpansionOptions: ExpansionOptions{
		Expansion: PPR, MaxExpand: new(7), Damping: new(32_768),
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
		_, err := ParseRequestJSON(parsed(t, text), Request{})
		var re *RequestError
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
		req  Request
		want bool
	}{
		{"one way", alone, Request{Text: "a", Direction: Out}, true},
		{"nothing found", alone, Request{Text: "b"}, false},
		{"nothing blank", newMemory(), Request{}, false},
		{"blank", linked, Request{}, true},
		{"alone", alone, Request{Text: "a"}, true},
		{"linked", linked, Request{Text: "a"}, false},
		{"loop", looped, Request{Text: "a"}, true},
		{"filtered", linked, Request{Text: "a", Types: []string{"Note"}}, true},
		{"direction", linked, Request{Text: "a", Direction: In}, true},
		{"off", alone, Request{Text: "a", Expand: new(0)}, false},
	} {
		for _, e := range Expansions() {
			tt.req.Expansion = e
			want := tt.want && e != Lend
			got := codes(tt.m.ask(t, tt.req))
			if slices.Contains(got, NothingLinked) != want || len(got) > 1 {
				t.Errorf("%s, %s: warnings %v", tt.name, e, got)
			}
		}
	}
	for typ, want := range map[string]bool{"x": false, "y": true} {
		got := codes(linked.ask(t, Request{Text: "a", ExpandTypes: []string{typ}}))
		if slices.Contains(got, NothingLinked) != want {
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
	for e, want := range map[Expansion]map[graph.ID]int64{
		Decay: {a: place(1, 3), b: place(2, 2), c: place(1)},
		PPR:   {a: place(1, 2), b: place(2, 3), c: place(1)},
	} {
		req := Request{Text: "a", Fusion: RRF, ExpansionOptions: ExpansionOptions{Expansion: e}}
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
	for _, e := range Expansions() {
		for _, method := range []string{"Bucket", "Mark", "Mentioned", "Mentioning"} {
			m := newMemory()
			a := m.add(graph.Node{ID: num(0), Summary: "a", Created: 1})
			m.link(a, "x", m.add(graph.Node{ID: num(1), Created: 1}), 65_536)
			m.failOn = method
			_, err := Run(t.Context(), m, m, testCommit, Request{
				Text: "a", ExpansionOptions: ExpansionOptions{Expansion: e},
			})
			if !errors.Is(err, errBroken) {
				t.Errorf("%s: %s failed, and so did not the answer: %v", e, method, err)
			}
		}
	}
}
