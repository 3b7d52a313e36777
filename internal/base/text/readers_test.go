package text

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// readers are the ways to read a text, each with the form in which the tests below write what it yields.
var readers = map[string]func(a *Analyzer, s string, more func(item string) bool){
	"terms": (*Analyzer).Each,
	"words": func(a *Analyzer, s string, more func(string) bool) { // a telling word has a star
		a.EachWord(s, func(word string, telling bool) bool { return more(mark(word, telling)) })
	},
	"tokens": func(a *Analyzer, s string, more func(string) bool) {
		a.EachToken(s, func(token, term string) bool { return more(token + "/" + term) })
	},
	"field": func(a *Analyzer, s string, more func(string) bool) { // a unit of a script without blanks has a star
		a.EachOfField(s, func(term string, unit bool) bool { return more(mark(term, unit)) })
	},
	"surfaces": func(a *Analyzer, s string, more func(string) bool) { // signs: capital, inner capital, digit
		a.EachSurface(s, func(w Surface) bool {
			signs := ""
			if w.Capital {
				signs += "C"
			}
			if w.Inner {
				signs += "I"
			}
			if w.Digit {
				signs += "D"
			}
			return more(fmt.Sprintf("%s[%s]%s", w.Token, s[w.Start:w.End], signs))
		})
	},
}

func mark(term string, marked bool) string {
	if marked {
		return term + "*"
	}
	return term
}

// firstItems returns at most n items that a reader yields.
func firstItems(a *Analyzer, reader, s string, n int) (items []string) {
	readers[reader](a, s, func(item string) bool {
		items = append(items, item)
		return len(items) < n
	})
	return items
}

func TestReaders(t *testing.T) {
	a := analyzer(t, "en")
	for reader, cases := range map[string]map[string]string{
		"words": {
			"":                                "",
			"The boat is running":             "the boat is running",
			"the Boat":                        "the boat*",
			"Not so; don’t, never":            "not* so don't* never*",
			"NO ONE":                          "no* one*",
			"port 8080 of v2":                 "port 8080* of v2*",
			"HTTPServer and iPhone":           "httpserver* and iphone*",
			"1,250.5 tons":                    "1250.5* tons",
			"東京港":                             "東京* 京港*",
			"Ünter É":                         "unter* e*",
			"no-one can't":                    "no* one can't*",
			"\xff\x00":                        "",
			"A" + strings.Repeat("bC", 200):   "a" + strings.Repeat("bc", 31) + "b*",
			strings.Repeat("x", 70):           strings.Repeat("x", 64),
			"Es geht nicht ohne Jamás":        "es* geht nicht* ohne* jamas*",
			"il n’est plus не больше":         "il n'est* plus не* больше",
			"nothing without a mast, unless…": "nothing* without* a mast unless*",
			"👍":                               "👍*",
		},
		"tokens": {
			"":                      "",
			"The boats are running": "boats/boat running/run",
			"東京港 Boats":             "東京/東京 京港/京港 boats/boat",
			"harbourMasters":        "harbourmasters/harbourmast harbour/harbour masters/master",
			"Größe's":               "grosse's/gross",
			"v1.25 \xff":            "v1.25/v1.25",
		},
		"field": {
			"":               "",
			"水":              "水",
			"the boats 水":    "boat 水",
			"三楼":             "三* 三楼 楼*",
			"会议室 x":          "会* 会议 议* 议室 室* x",
			"東京オフィス":         "東* 東京 京* オフ フィ ィス",
			"ชั้น":           "ชั ั้ ้น",
			"会\u200d议":       "会* 会议 议*",
			"a 猫 b 黒猫":       "猫 b 黒* 黒猫 猫*",
			"\xff三\xff楼\xff": "三 楼",
		},
		"surfaces": {
			"":                      "",
			"Ann's boat":            "ann[Ann's]C boat[boat]",
			"'s HTTPServer2 iPad’s": "s[s] httpserver2[HTTPServer2]CID ipad[iPad’s]I",
			"2's a\u00adB":          "2[2's]D ab[a\u00adB]I",
			"東京港 x":                 "東京[東京港] 京港[東京港] x[x]",
			"\xff1,250":             "1250[1,250]D",
			"Ship 🚀🇩🇪 it":           "ship[Ship]C 🚀[🚀] 🇩🇪[🇩🇪] it[it]",
		},
	} {
		for s, want := range cases {
			must.Equal(t, strings.Join(firstItems(a, reader, s, 1000), " "), want, reader, " of ", s)
		}
	}
}

// TestReadersStop: each reader ends after any item at which its caller stops.
func TestReadersStop(t *testing.T) {
	const s = "the HTTPServer 日本語 が plain ①word iPhoneProMax 漢 end 🚀"
	for _, lang := range []string{"none", "en"} {
		a := analyzer(t, lang)
		for reader := range readers {
			all := firstItems(a, reader, s, 1000)
			for n := 1; n <= len(all); n++ {
				must.Same(t, firstItems(a, reader, s, n), all[:n], "first ", n, " ", reader)
			}
		}
	}
}

// TestWordTerm gives whole words the terms that the analyser gives them.
func TestWordTerm(t *testing.T) {
	for _, language := range []string{"en", "none"} {
		a := analyzer(t, language)
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

// TestEmojiAreWords: phrases and lexicons hold them, and a word of a header escapes them.
func TestEmojiAreWords(t *testing.T) {
	a := analyzer(t, "en")
	const s = "Ship 🚀🇩🇪 it"
	want := []string{"ship", "🚀", "🇩🇪"}
	must.Check(t, a.HasPhrase(s, want, 9), "no phrase with emoji")
	must.Same(t, lexed(a.Lexicon(), s), want, "lexicon")
	must.Equal(t, EscapeWord("a🚀"), `a\u{1F680}`, "a word of a header")
}
