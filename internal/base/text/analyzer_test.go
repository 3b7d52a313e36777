package text

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/mnem-project/mnem/internal/testkit/cases"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// analyzer returns an analyser or ends the test.
func analyzer(t testing.TB, lang string) *Analyzer {
	t.Helper()
	return must.Get(New(lang))(t)
}

// TestPartsLimit: a word longer than the limit is data, not an identifier.
func TestPartsLimit(t *testing.T) {
	a := analyzer(t, "none")
	pair := strings.Repeat("aB", maxSplitRunes/2)
	got := a.Terms(pair)
	if len(got) != 1+maxSplitRunes/2+1 {
		t.Errorf("%d terms at the limit, want whole and %d parts", len(got), maxSplitRunes/2+1)
	}
	for _, s := range []string{pair + "a", pair + "B", strings.Repeat("aB", 1e5)} {
		if got := a.Terms(s); len(got) != 1 || got[0] != strings.ToLower(pair[:MaxTermRunes]) {
			t.Errorf("%d terms above the limit, want the cut word alone", len(got))
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct{ unit, folded string }{
		{"a", "a"}, {"É", "e"}, {"я", "я"}, {"9", "9"}, {"ab\u0301", "ab"}, {"ﬃ", "ffi"},
	} {
		folded := []rune(strings.Repeat(c.folded, 100))
		got := analyzer(t, "none").Terms(strings.Repeat(c.unit, 100))
		want := string(folded[:MaxTermRunes])
		must.True(t, len(got) == 1 && got[0] == want, "100 times %q gives %q, want %q", c.unit, got, want)
	}
	exact := strings.Repeat("x", MaxTermRunes)
	if got := analyzer(t, "none").Terms(exact); len(got) != 1 || got[0] != exact {
		t.Errorf("a word of the greatest length gives %q", got)
	}
}

func TestLanguages(t *testing.T) {
	for _, lang := range []string{"de", "EN", "english", " ", "none "} {
		_, err := New(lang)
		must.Fail(t, err, ErrUnknownLanguage, lang)
	}
	must.True(t, Version == 1, "the version changed: released versions stay, and their goldens with them")
}

// TestNested: an analyser may be used from within its own callback, and by many goroutines.
func TestNested(t *testing.T) {
	a := analyzer(t, "en")
	want := a.Terms(prose)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var got []string
			a.Each(prose, func(term string) bool {
				must.Equal(t, a.Terms("Running HTTPServers")[0], "run", "inner terms")
				got = append(got, term)
				return true
			})
			must.Same(t, got, want, "in a goroutine the terms")
		})
	}
	wg.Wait()
}

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

const testMost = 40 // scalars of a sentence

func sentences(s string) (out []string) {
	EachSentence(s, testMost, func(at Sentence) bool {
		out = append(out, s[at.Start:at.End])
		return true
	})
	return out
}

func TestEachSentence(t *testing.T) {
	cases.Golden(t, filepath.Join("testdata", "each-sentence.jsonl"), func(t testing.TB, c cases.Case) any {
		var text string
		cases.Parse(t, c.Input, &text)
		return append([]string{}, sentences(text)...)
	})
	n := 0
	EachSentence("A b. C d. E f.", testMost, func(Sentence) bool { n++; return n < 2 })
	must.Equal(t, n, 2, "sentences after the reader had enough of two")
	var begin []bool
	EachSentence("A.\n\nB! C\nD.\r\nE \r\t\r F", testMost, func(at Sentence) bool {
		begin = append(begin, at.Paragraph)
		return true
	})
	must.Equal(t, fmt.Sprint(begin), "[false true false false false true]", "sentences that begin a paragraph: ", begin)
}

func FuzzEachSentence(f *testing.F) {
	f.Add("Dr. A.\n\nb… 船。」 \xff")
	f.Fuzz(func(t *testing.T, s string) {
		last := 0
		EachSentence(s, testMost, func(at Sentence) bool {
			one := s[at.Start:at.End]
			if n := utf8.RuneCountInString(one); n == 0 || n > testMost || strings.Trim(one, blanks) != one {
				t.Errorf("sentence %q", one)
			}
			if before := s[last:at.Start]; strings.Trim(before, blanks) != "" {
				t.Errorf("%q is in no sentence of %q", before, s)
			}
			last = at.End
			return true
		})
		must.Equal(t, strings.Trim(s[last:], blanks), "", s[last:], " is in no sentence of ", s)
	})
}
