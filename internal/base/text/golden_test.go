package text

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestAnalysisGolden freezes the terms of texts, and how characters that a line must not show are escaped.
func TestAnalysisGolden(t *testing.T) {
	cases.Golden(t, "testdata/analysis.jsonl", func(t testing.TB, c cases.Case) any {
		var in struct {
			Text, Escape       *string
			TextHex, EscapeHex string
			Language           string
			First, Last        rune
		}
		cases.Parse(t, c.Input, &in)
		given := func(plain *string, hexed string) string {
			if plain != nil {
				return *plain
			}
			return string(cases.Bytes(t, hexed))
		}
		if in.Escape != nil || in.EscapeHex != "" {
			s := given(in.Escape, in.EscapeHex)
			line := EscapeLine(s)
			checkLine(t, s, line)
			return map[string]any{"line": line}
		}
		a := must.Get(New(in.Language))(t)
		if in.Last == 0 {
			return map[string]any{"terms": append([]string{}, a.Terms(given(in.Text, in.TextHex))...)}
		}
		terms := a.Terms(allScalars(in.First, in.Last))
		sum := sha256.New()
		for _, term := range terms {
			fmt.Fprintln(sum, term)
		}
		return map[string]any{"count": len(terms), "sha256": fmt.Sprintf("%x", sum.Sum(nil))}
	})
}

// allScalars is every scalar from first to last, a space after each that is divisible by 3.
func allScalars(first, last rune) string {
	var out []rune
	for r := first; r <= last; r++ {
		if r < 0xd800 || r > 0xdfff {
			out = append(out, r)
			if r%3 == 0 {
				out = append(out, ' ')
			}
		}
	}
	return string(out)
}

// TestSentencesGolden freezes where sentences end.
func TestSentencesGolden(t *testing.T) {
	cases.Golden(t, "testdata/sentences.jsonl", func(t testing.TB, c cases.Case) any {
		in := struct {
			Text string
			Most int
		}{Most: 500}
		cases.Parse(t, c.Input, &in)
		got := []string{}
		EachSentence(in.Text, in.Most, func(at Sentence) bool {
			got = append(got, in.Text[at.Start:at.End])
			return true
		})
		return map[string]any{"sentences": got}
	})
}
