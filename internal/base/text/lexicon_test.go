package text

import (
	"fmt"
	"slices"
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
	if want := []int{0, 1, 2, 3, 0, 0}; !slices.Equal(numbers, want) || l.Len() != 4 {
		t.Errorf("numbers %v of %d terms, want %v", numbers, l.Len(), want)
	}
	must.Equal(t, l.Number("harbour"), 2, "harbour has number")
	if n := l.Number("\x00boat"); n != 4 || string(l.Term(4)) != "\x00boat" {
		t.Errorf("a new string has number %d and is %q", n, l.Term(4))
	}
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
				if got, want := lexed(l, s), firstItems(a, "field", s, 1000); !slices.Equal(got, want) {
					t.Fatalf("%s: %q: terms %q, want %q", lang, s, got, want)
				}
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
				if n != i {
					t.Fatalf("round %d: word %d has number %d", round, i, n)
				}
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
