package text

import (
	"fmt"
	"strings"
	"testing"
)

func TestEachSurface(t *testing.T) {
	a, err := New("en")
	if err != nil {
		t.Fatal(err)
	}
	for s, want := range map[string]string{
		"":                      "",
		"Ann's boat":            "ann[Ann's]C boat[boat]",
		"'s HTTPServer2 iPad’s": "s[s] httpserver2[HTTPServer2]CID ipad[iPad’s]I",
		"2's a\u00adB":          "2[2's]D ab[a\u00adB]I",
		"東京港 x":                 "東京[東京港] 京港[東京港] x[x]",
		"\xff1,250":             "1250[1,250]D",
	} {
		var out []string
		a.EachSurface(s, func(w Surface) bool {
			signs := ""
			for _, sign := range []struct {
				is   bool
				name string
			}{{w.Capital, "C"}, {w.Inner, "I"}, {w.Digit, "D"}} {
				if sign.is {
					signs += sign.name
				}
			}
			out = append(out, fmt.Sprintf("%s[%s]%s", w.Token, s[w.Start:w.End], signs))
			return true
		})
		if got := strings.Join(out, " "); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
	n := 0
	a.EachSurface("one 東京港 two", func(Surface) bool { n++; return n < 2 })
	if n != 2 {
		t.Errorf("%d words after being stopped", n)
	}
}

// TestWordTerm gives whole words the terms that the analyser gives them.
func TestWordTerm(t *testing.T) {
	for _, language := range []string{"en", "none"} {
		a, err := New(language)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"boats", "the", "caroline's", "4711", "straße", "it's", "news"} {
			want := strings.Join(a.Terms(word), " ")
			a.EachWord(word, func(token string, _ bool) bool {
				if term, ok := a.WordTerm(token); term != want || ok != (want != "") {
					t.Errorf("%s: %q, %t, want %q", word, term, ok, want)
				}
				return true
			})
		}
	}
}

// TestEmojiAsWords: an emoji is a word of its own for every reader of words, at its place, and replacing it is telling.
func TestEmojiAsWords(t *testing.T) {
	a := analyzer(t, "en")
	const s = "Ship 🚀🇩🇪 it"
	var got []string
	a.EachSurface(s, func(w Surface) bool {
		got = append(got, w.Token+"="+s[w.Start:w.End])
		return true
	})
	if want := "ship=Ship 🚀=🚀 🇩🇪=🇩🇪 it=it"; strings.Join(got, " ") != want {
		t.Errorf("surfaces %v, want %s", got, want)
	}
	a.EachWord("👍", func(word string, telling bool) bool {
		if word != "👍" || !telling {
			t.Errorf("%s, telling %t", word, telling)
		}
		return true
	})
	if !a.HasPhrase(s, []string{"ship", "🚀", "🇩🇪"}, 9) {
		t.Error("no phrase with emoji")
	}
	l := a.Lexicon()
	var terms []string
	l.EachOfField(s, func(n int, _ bool) { terms = append(terms, string(l.Term(n))) })
	if got := strings.Join(terms, " "); got != "ship 🚀 🇩🇪" {
		t.Errorf("lexicon: %s", got)
	}
	if got := EscapeWord("a🚀"); got != `a\u{1F680}` {
		t.Errorf("a word of a header: %s", got)
	}
}
