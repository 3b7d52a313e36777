package retrieve

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// Readings reads a word that ends in q as the one without, where only that is known.
func (m *memory) Readings(_ context.Context, text string) (readings []Reading, err error) {
	known := map[string]bool{}
	for _, n := range m.nodes {
		for _, w := range queryTermsAll(n.Summary) {
			known[w] = true
		}
	}
	for _, t := range queryTerms(text) {
		if as := strings.TrimSuffix(t, "q"); !known[t] && known[as] {
			readings = append(readings, Reading{Word: t + "s", Term: t, As: as})
		}
	}
	return readings, m.fail("Readings")
}

// read returns the text as if it had the terms that its own are read as.
func (q TextQuery) read() string {
	s := q.Text
	for _, r := range q.Readings {
		s = strings.ReplaceAll(s, r.Term, r.As)
	}
	return s
}

// TestSpelling compares an answer to a misspelt text with that to what it is read as: all lanes,
// expansion and titles must read it so.
func TestSpelling(t *testing.T) {
	rng := seeded(t)
	for range 60 {
		m := randomMemory(rng, 40, 80)
		m.add(graph.Node{Key: "title", Summary: "alpha beta"})
		m.add(graph.Node{Key: "other", Summary: "beta a"})
		req := Request{Budget: new(0), Limit: new(0), Expand: new(rng.IntN(4)),
			Fusion: Fusions()[rng.IntN(4)]}
		right, wrong, off := req, req, req
		right.Text, wrong.Text = "a alpha beta", "a alphaq beta"
		off.Text, off.Spelling = wrong.Text, SpellingOff
		want, got := m.ask(t, right), m.ask(t, wrong)
		if d := diff(want.Items, got.Items); d != "" {
			t.Fatal(d)
		}
		if d := diff([]Reading{{"alphaqs", "alphaq", "alpha"}}, got.Readings); d != "" {
			t.Error(d)
		}
		if !slices.Contains(codes(got), Respelled) || slices.Contains(codes(want), Respelled) {
			t.Errorf("warnings %v, and %v where nothing is misspelt", codes(got), codes(want))
		}
		for _, a := range []*Answer{want, m.ask(t, off)} {
			if len(a.Readings) > 0 || slices.Contains(codes(a), Respelled) {
				t.Errorf("%q is read as %v", a.Request.Text, a.Readings)
			}
		}
	}
}

func TestRespelled(t *testing.T) {
	m := warned()
	a := m.ask(t, Request{Text: "alphaq betaq gamma"})
	if d := diff([]Code{Respelled, Respelled}, codes(a)); d != "" {
		t.Fatal(d)
	}
	w := a.Warnings[1]
	word, _ := ipld.FindEntry(w.Params, "word")
	term, _ := ipld.FindEntry(w.Params, "term")
	if word.Text() != "betaqs" || term.Text() != "beta" ||
		!strings.Contains(w.Message(), `"betaqs"`) || !strings.Contains(w.Message(), `"beta"`) ||
		!strings.Contains(w.Remedy(), "--spelling off") {
		t.Errorf("%v: %s; %s", w.Params, w.Message(), w.Remedy())
	}
	if receipt, _ := a.Receipt(); receipt.Validate() != nil {
		t.Error(receipt.Validate())
	}
	// What names a node means what it says, and so does a text without a text lane.
	for _, req := range []Request{
		{Text: "the"}, {Text: "alphaq `the`"}, {Text: " "}, {Text: "alphaq", Spelling: SpellingOff},
		{Text: "alphaq", Vectors: []QueryVector{{Model: "m", Values: []int8{1}}},
			Weights: []LaneWeight{{LaneText, 0}}},
	} {
		if a := m.ask(t, req); slices.Contains(codes(a), Respelled) {
			t.Errorf("%+v: %v", req, a.Warnings)
		}
	}
	m.failOn = "Readings"
	_, err := Run(t.Context(), m, m, testCommit, Request{Text: "alphaq"})
	if !errors.Is(err, errBroken) {
		t.Errorf("error %v", err)
	}
}

func TestSpellingParam(t *testing.T) {
	err := Request{Spelling: "maybe"}.Validate()
	var re *RequestError
	if !errors.As(err, &re) || re.Param != "spelling" {
		t.Errorf("error %v", err)
	}
	for s, want := range map[Spelling]int{"": 0, SpellingOn: 0, SpellingOff: 1} {
		params := keptParams(Request{Spelling: s})
		v, ok := params.Get("spelling")
		if ok != (want == 1) || ok && v.Text() != string(s) {
			t.Errorf("%q: %v", s, v)
		}
		back, err := readParams(params, "")
		if err != nil || back.Spelling != (Request{Spelling: s}.Resolve().Spelling) {
			t.Errorf("%q comes back as %q, %v", s, back.Spelling, err)
		}
	}
	line := ipld.MapValue(ipld.Entry{Key: "spelling", Value: ipld.StringValue("off")})
	q, err := ParseRequestJSON(line, Request{})
	if err != nil || q.Request.Spelling != SpellingOff {
		t.Errorf("%q, %v", q.Request.Spelling, err)
	}
}
