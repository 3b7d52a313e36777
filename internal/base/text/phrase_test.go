package text

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

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
		must.Check(t, found >= 100, "%s: only %d phrases were there", lang, found)
		for _, phrase := range [][]string{nil, {""}, make([]string, MaxPhrase+1)} {
			must.Check(t, !a.HasPhrase("dog", phrase, 10), "%s: found %q", lang, phrase)
		}
		long := slices.Repeat([]string{"dog"}, MaxPhrase)
		if !a.HasPhrase(strings.Repeat("dog ", MaxPhrase), long, MaxPhrase) ||
			a.HasPhrase(strings.Repeat("dog ", MaxPhrase-1), long, MaxPhrase) {
			t.Errorf("%s: the longest phrase", lang)
		}
	}
}
