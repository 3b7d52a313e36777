package text

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

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

// hostile are texts with every kind of difficulty.
var hostile = []string{
	"", "\xff", "\xed\xa0\x80", "\xf4\x90\x80\x80", "don'", "'", "1.", "1,", "a'\u0301",
	"\ufe0f\u200d", "HTTPServer iPhone15Pro", "日本語ｶﾞか\u3099\u3099", "ภาษาไทย", "ﷺ½ŉ", "İıſK",
	"\U000E0100\U0010FFFF",
	"e\u0301\u0301\u0301", strings.Repeat("aB", 300), strings.Repeat("\u0301", 300) + "x",
	"1,2,3.4.5'6", "x\u00ad\u00ad'\u00ady", "\u2028\u202e\x00\x1b[2J",
}

// checkAnalysis fails unless the terms of s satisfy the documentation of Each.
func checkAnalysis(t interface{ Errorf(string, ...any) }, plain, english *Analyzer, s string) {
	for _, a := range []*Analyzer{plain, english} {
		total := 0
		a.Each(s, func(term string) bool {
			total++
			if n := utf8.RuneCountInString(term); n == 0 || n > MaxTermRunes {
				t.Errorf("term %q of %q has %d code points", term, s, n)
			}
			if !utf8.ValidString(term) {
				t.Errorf("term %q of %q is not UTF-8", term, s)
			}
			for _, r := range term {
				e := entryOf(r)
				word := isWordClass(e&classMask) || e&classMask >= classHan
				if e&foldFlag != 0 || !word && r != '\'' && r != '.' {
					t.Errorf("term %q of %q holds %U", term, s, r)
				}
			}
			return true
		})
		if total > 2*len(s) {
			t.Errorf("%d terms from %d bytes", total, len(s))
		}
	}
}

// FuzzEach: no text makes the analysers panic or violate their documentation, and inserting ignored code points
// does not change the terms of a text.
func FuzzEach(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	plain, english := analyzer(f, "none"), analyzer(f, "en")
	f.Fuzz(func(t *testing.T, s string) {
		checkAnalysis(t, plain, english, s)
		if terms := english.Terms(s); len(terms) > 0 {
			last := terms[max(0, len(terms)-3):]
			must.True(t, english.HasPhrase(s, last, len(terms)) && !english.HasPhrase(s, last, len(last)-1),
				"%q does not end with %q", s, last)
		}
		var b strings.Builder
		for i := 0; i < len(s); {
			_, _, width := decode(s, i)
			b.WriteString(s[i:i+width] + "\u00ad\u0301")
			i += width
		}
		if got, want := plain.Terms(b.String()), plain.Terms(s); !slices.Equal(got, want) {
			t.Errorf("ignored code points change the terms of %q from %q to %q", s, want, got)
		}
	})
}

// FuzzEscapeLine: the result is one visible line, and nothing more happens to it.
func FuzzEscapeLine(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		checkLine(t, s, EscapeLine(s))
		must.True(t, EstimateTokens(s) <= len(s), "more tokens than bytes in %q", s)
		capped := CapScalars(s, 3)
		must.True(t, utf8.RuneCountInString(s) > 3 != (capped == s), "CapScalars(%q, 3) = %q", s, capped)
	})
}

// piece draws fragments that occur next to each other in every order.
var piece = rapid.SampledFrom([]string{
	"a", "B", "É", "e\u0301", "ß", "1", "٣", "３", "'", "’", ".", ",", "-", "_", " ", "\u00ad",
	"\u200d", "日", "か", "゙", "ｶﾞ", "㌀", "ก", "ກ", "ក", "က", "한", "ﬁ", "Ⅷ", "ǅ", "½", "\xff",
	"👍", "ing", "HTTP", "ʼ", "x'y", "3.1", "م", "\u0640", "the", "\u064b",
})

// TestAnalysis holds texts of random pieces to the documentation of Each.
func TestAnalysis(t *testing.T) {
	plain, english := analyzer(t, "none"), analyzer(t, "en")
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(piece, 0, 24).Draw(t, "pieces"), "")
		checkAnalysis(t, plain, english, s)
	})
}
