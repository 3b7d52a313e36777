package rarity

import (
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestOf orders words by how common they are, and knows terms that the analyser makes.
func TestOf(t *testing.T) {
	a := must.Get(text.New("en"))(t)
	last := int64(1 << 16)
	for _, word := range []string{"first", "working", "copper", "cafeteria"} {
		term := a.Terms(word)[0]
		if got := Of(term, nil); got <= 0 || got >= last {
			t.Errorf("%s (%s): %d, want less than %d and more than 0", word, term, got, last)
		} else {
			last = got
		}
	}
	must.Equal(t, Of("zorb", nil), 0, "an unknown word")
}

// TestOfLanguages: function words are common in their language alone, and words that ask in English.
func TestOfLanguages(t *testing.T) {
	de := LanguageOf(strings.Fields("wie hoch ist die miete"))
	must.Require(t, de != nil && de.Name == "de" && de.Nouns, "%+v", de)
	if Of("die", de) != functionShare || Of("die", nil) >= functionShare || Of("kind", nil) < askingShare {
		t.Errorf("die: %d in German, %d in English; kind %d", Of("die", de), Of("die", nil), Of("kind", nil))
	}
	for _, s := range []string{"what is the rent", "rent", "die hard in the war of the worlds"} {
		if lang := LanguageOf(strings.Fields(s)); lang != nil {
			t.Errorf("%q is %s", s, lang.Name)
		}
	}
	if fr := LanguageOf(strings.Fields("qui dirige le groupe")); fr == nil || fr.Name != "fr" || fr.Nouns {
		t.Errorf("%+v", fr)
	}
	must.True(t, LanguageOf(nil) == nil, "no words have a language")
}

// TestTable: every word is as the analyser folds it, and stands once among common ones.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for line := range strings.Lines(wordsText) {
		fields := strings.Fields(line)
		if fields[0] != "common" {
			continue
		}
		for _, w := range fields[2:] {
			must.True(t, !seen[w] && w == strings.ToLower(w), "%q stands twice, or is not folded", w)
			seen[w] = true
		}
	}
	must.True(t, len(seen) >= 14_000 && len(wordsText) <= 300<<10,
		"%d words in %d bytes", len(seen), len(wordsText))
	for _, word := range []string{"who", "wer", "cuándo"} {
		must.True(t, StartsQuestion(word), "%s starts no question", word)
	}
}
