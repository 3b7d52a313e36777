package text

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

func lexed(l *Lexicon, s string) (got []string) {
	l.EachOfField(s, func(n int, unit bool) { got = append(got, mark(string(l.Term(n)), unit)) })
	return got
}

func TestLexicon(t *testing.T) {
	a := analyzer(t, "en")
	l := a.Lexicon()
	var numbers []int
	l.EachOfField("The boats of a harbourMaster: boat, boating!", func(n int, _ bool) {
		numbers = append(numbers, n)
	})
	// boat, harbourmast, harbour, master, boat, boat
	must.Same(t, numbers, []int{0, 1, 2, 3, 0, 0}, "numbers")
	must.Equal(t, l.Len(), 4, "numbers")
	must.Equal(t, l.Number("harbour"), 2, "harbour has number")
	must.Equal(t, l.Number("\x00boat"), 4, "a new string has number")
	must.Equal(t, string(l.Term(4)), "\x00boat", "a new string has number")
}

// TestLexiconAgrees compares the terms with those of an analyser, for texts whose words repeat.
func TestLexiconAgrees(t *testing.T) {
	pieces := []string{
		"the", "Boats", "boating", "don't", "harbourMasters", "Größe", "会议室", "東京オフィス", "v1.25", "x",
		"\xff", "'", "running", "ran", "naïve", "HTTPServer2", strings.Repeat("long", 30), "ชั้น",
	}
	for _, lang := range []string{"en", "none"} {
		a := analyzer(t, lang)
		rapid.Check(t, func(t *rapid.T) {
			l := a.Lexicon()
			for range 3 {
				words := rapid.SliceOf(rapid.OneOf(rapid.SampledFrom(pieces), rapid.String())).Draw(t, "words")
				s := strings.Join(words, " ")
				must.Same(t, lexed(l, s), firstItems(a, "field", s, 1000), lang, ": ", s, ": terms")
			}
		})
	}
}

// TestLexiconForgets adds more words than a lexicon remembers: terms keep their numbers, and memory for words does
// not grow.
func TestLexiconForgets(t *testing.T) {
	a := analyzer(t, "en")
	l := a.Lexicon()
	const words = lexiconWords + 1000
	for round := range 2 {
		for i := range words {
			l.EachOfField(fmt.Sprintf("w%dth the", i), func(n int, _ bool) {
				must.Equal(t, n, i, "round ", round, ": word")
			})
		}
	}
	if l.Len() != words || l.words.len() > lexiconWords {
		t.Errorf("%d terms of %d words, %d of them remembered", l.Len(), words, l.words.len())
	}
	if got := testing.AllocsPerRun(10, func() {
		l.EachOfField("the W1th w2th", func(int, bool) {})
	}); got > 0 {
		t.Errorf("words met before take %.0f allocations", got)
	}
}
