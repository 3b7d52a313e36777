package stage

import (
	"context"
	"strings"

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
