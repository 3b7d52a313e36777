package stage

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/retrieve"
)

// Readings reads a word that ends in q as the one without, if only that is known.
func (m *memory) Readings(_ context.Context, text string) (readings []retrieve.Reading, err error) {
	known := map[string]bool{}
	for _, n := range m.nodes {
		for _, w := range queryTermsAll(n.Summary) {
			known[w] = true
		}
	}
	for _, t := range queryTerms(text) {
		if as := strings.TrimSuffix(t, "q"); !known[t] && known[as] {
			readings = append(readings, retrieve.Reading{Word: t + "s", Term: t, As: as})
		}
	}
	return readings, m.fail("Readings")
}

// read returns the text as if it had the terms that its own are read as.
func read(q source.TextQuery) string {
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
		req := retrieve.Request{Budget: new(0), Limit: new(0),
			ExpansionOptions: retrieve.ExpansionOptions{Expand: new(rng.IntN(4))},
			Fusion:           retrieve.Fusions()[rng.IntN(4)]}
		right, wrong, off := req, req, req
		right.Text, wrong.Text = "a alpha beta", "a alphaq beta"
		off.Text, off.Spelling = wrong.Text, retrieve.SpellingOff
		want, got := m.ask(t, right), m.ask(t, wrong)
		for _, a := range []*retrieve.Answer{want, got} {
			for i := range a.Items {
				a.Items[i].Band = "" // a word that is read as another is no proof
			}
		}
		if d := diff(want.Items, got.Items); d != "" {
			t.Fatal(d)
		}
		if d := diff([]retrieve.Reading{{Word: "alphaqs", Term: "alphaq", As: "alpha"}}, got.Readings); d != "" {
			t.Error(d)
		}
		if !slices.Contains(codes(got), retrieve.Respelled) || slices.Contains(codes(want), retrieve.Respelled) {
			t.Errorf("warnings %v, and %v where nothing is misspelt", codes(got), codes(want))
		}
		for _, a := range []*retrieve.Answer{want, m.ask(t, off)} {
			if len(a.Readings) > 0 || slices.Contains(codes(a), retrieve.Respelled) {
				t.Errorf("%q is read as %v", a.Request.Text, a.Readings)
			}
		}
	}
}

// TestRespelledIsNotSaid: that a node has the word that another is read as makes no answer known.
func TestRespelledIsNotSaid(t *testing.T) {
	m := says("zorb")
	for asked, want := range map[string]retrieve.Verdict{"zorb": retrieve.Known, "zorbq": retrieve.Unsure} {
		if a := m.answer(t, retrieve.Request{Text: asked}); a.Verdict != want {
			t.Errorf("%s: %s, %s", asked, a.Verdict, a.Because)
		}
	}
}
