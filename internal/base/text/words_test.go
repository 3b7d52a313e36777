package text

import (
	"fmt"
	"strings"
	"testing"
)

// wordsOf returns the words of s, the telling ones with a star.
func wordsOf(s string) []string {
	a, err := New("en")
	if err != nil {
		panic(err)
	}
	var out []string
	a.EachWord(s, func(word string, telling bool) bool {
		if telling {
			word += "*"
		}
		out = append(out, word)
		return true
	})
	return out
}

func TestEachWord(t *testing.T) {
	for s, want := range map[string]string{
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
	} {
		got := strings.Join(wordsOf(s), " ")
		if got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
	a, err := New("en")
	if err != nil {
		t.Fatal(err)
	}
	for stop := range 3 {
		n := 0
		a.EachWord("one 東京港 two", func(string, bool) bool { n++; return n <= stop })
		if n != stop+1 {
			t.Errorf("%d words after being stopped at %d", n, stop+1)
		}
	}
	// A reused scanner behaves like a new one.
	if got := fmt.Sprint(a.Terms("the boats")); got != "[boat]" {
		t.Errorf("terms %s", got)
	}
}

// TestEachWordOfNone compares words with the terms of the analyser without a language, for texts whose words have
// no parts.
func TestEachWordOfNone(t *testing.T) {
	none, err := New("none")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"The tide's boats, 1,250 of them!", "naïve ÄRGER straße", "東京 タワー abc",
		"a\u00adb c\u0301d", "กขค x", strings.Repeat("y", 300)} {
		if got, want := strings.ReplaceAll(fmt.Sprint(wordsOf(s)), "*", ""),
			fmt.Sprint(none.Terms(s)); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
}
