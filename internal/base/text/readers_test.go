package text

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
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
	must.True(t, a.HasPhrase(s, want, 9), "no phrase with emoji")
	must.Same(t, lexed(a.Lexicon(), s), want, "lexicon")
	must.Equal(t, EscapeWord("a🚀"), `a\u{1F680}`, "a word of a header")
}

// hasPhrase is HasPhrase without a short way.
func hasPhrase(a *Analyzer, s string, phrase []string, most int) bool {
	terms := a.Terms(s)
	terms = terms[:min(len(terms), most)]
	for i := range terms {
		if len(phrase) > 0 && i+len(phrase) <= len(terms) && slices.Equal(terms[i:i+len(phrase)], phrase) {
			return true
		}
	}
	return false
}

func TestHasPhrase(t *testing.T) {
	words := []string{"dying", "die", "died", "skies", "sky", "only", "Deploys", "deploying", "deploy", "the", "of",
		"ŉgo", "können", "東京都", "x1", "parseHTTPHeader", "keeper's", "yes", "'tis", "dogs", "dog"}
	for _, lang := range []string{"en", "none"} {
		a := analyzer(t, lang)
		rng := rand.New(rand.NewPCG(5, 6))
		found := 0
		for range effort.Pick(3000, 10_000, 50_000) {
			text := make([]string, rng.IntN(12))
			for i := range text {
				text[i] = words[rng.IntN(len(words))]
			}
			s := strings.Join(text, " ")
			var phrase []string
			switch from := rng.IntN(len(text) + 1); rng.IntN(3) {
			case 0:
				phrase = a.Terms(strings.Join(text[from:min(from+1+rng.IntN(3), len(text))], " "))
			case 1:
				phrase = a.Terms(words[rng.IntN(len(words))] + " " + words[rng.IntN(len(words))])
			default:
				phrase = a.Terms(words[rng.IntN(len(words))])
			}
			most := rng.IntN(14)
			want := hasPhrase(a, s, phrase, most)
			if got := a.HasPhrase(s, phrase, most); got != want {
				t.Fatalf("%s: %q in the first %d terms of %q: %v, want %v", lang, phrase, most, s, got, want)
			}
			if want {
				found++
			}
		}
		must.True(t, found >= 100, "%s: only %d phrases were there", lang, found)
		for _, phrase := range [][]string{nil, {""}, make([]string, MaxPhrase+1)} {
			must.True(t, !a.HasPhrase("dog", phrase, 10), "%s: found %q", lang, phrase)
		}
		long := slices.Repeat([]string{"dog"}, MaxPhrase)
		if !a.HasPhrase(strings.Repeat("dog ", MaxPhrase), long, MaxPhrase) ||
			a.HasPhrase(strings.Repeat("dog ", MaxPhrase-1), long, MaxPhrase) {
			t.Errorf("%s: the longest phrase", lang)
		}
	}
}

// TestStands has titles of one term, which must occur in a text exactly, and longer ones.
func TestStands(t *testing.T) {
	a := analyzer(t, "en")
	for _, c := range []struct {
		text, title string
		want        bool
	}{
		{"Who wrote To Love in 1960?", "To Love", true},
		{"They came to love the sea.", "To Love", false},
		{"sung to Love", "To Love", true},
		{"they run", "Run", false},
		{"Runs fast", "Run", false},
		{"Run!", "Run", true},
		{"PreRun, then Run", "Run", true},
		{"fans of the Beatles", "The Beatles (band)", true},
		{"beatles", "The Beatles", false},
		{"best regards", "Regards", false},
		{"kelp forests grow", "Kelp Forest", true}, // two terms
		{"見る夢の本", "夢", true},
		{"é", "e\u0301 ", false},
		{"", "Run", false},
		{"Ru", "Run", false},
	} {
		must.Equal(t, a.Stands(c.text, c.title), c.want, c.title, " in ", c.text)
	}
}

func TestCased(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "a": 1, "boat": 4, "лодка": 5, "βαρκα": 5, "grosse": 6,
		"don't": 0, "v1": 0, "東京": 0, "שלום": 0, "สวัส": 0, "\xff": 0, "Boat": 0,
	} {
		must.Equal(t, Cased(s), want, s)
	}
}

func TestNearStopWord(t *testing.T) {
	for s, want := range map[string]bool{
		"becuase": true, "becaus": true, "whta": true, "thsi": true, "wheree": true, "hav": true,
		"dont": true, "whжre": true, "жhere": false, "itselff": true, "yourselvesss": false,
		"tuna": false, "harbour": false, "": false, "ecause": false, "xhe": false,
	} {
		must.Equal(t, NearStopWord(s), want, s)
	}
	// All that one edit behind the first letter makes of a stop word is near it.
	for _, stop := range []string{"about", "yourselves", "they'd", "was"} {
		for i := 1; i <= len(stop); i++ {
			near := []string{stop[:i] + "q" + stop[i:]}
			if i < len(stop) {
				near = append(near, stop[:i]+stop[i+1:], stop[:i]+"q"+stop[i+1:])
			}
			if i+1 < len(stop) {
				near = append(near, fmt.Sprint(stop[:i], stop[i+1:i+2], stop[i:i+1], stop[i+2:]))
			}
			for _, s := range near {
				must.True(t, NearStopWord(s), "%q is one edit from %q", s, stop)
			}
		}
	}
}

// prose is ordinary English, about 700 bytes a copy.
const prose = `The keeper of the lighthouse had written down the weather every morning for thirty
years. Nobody had asked him to, and when the ministry finally replaced the lamp with an automatic
one, the inspector who came to collect the keys was surprised to find forty-one notebooks stacked
beside the door. "They're yours as well," said the keeper. Storms, fog, the colour of the water at
six o'clock, the ships that passed and those that didn't: all of it was there. Years later two
students measured how early the herring had arrived each spring, and discovered that the sea had
been warming long before any instrument recorded it. The archive is consulted by 200 scientists
every year; it costs $1,250.50 to maintain.
`
