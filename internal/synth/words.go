package synth

import (
	"slices"
	"strings"
)

// Vocabulary is how many different words there are.
const Vocabulary = 50_000

// common are the commonest words: function words, as in any real text, which the analyser drops.
var common = strings.Fields("the of and to a in that is it for was on with as be at by this have " +
	"from or not are but they his you she were which their we an there her been has if will more " +
	"when who can its than no")

// IsCommon reports whether a word is one that the analyser drops.
func IsCommon(word string) bool { return slices.Contains(common, word) }

// Parts of syllables: of a word of rank r beyond the common ones, digits count through them.
var (
	onsets = strings.Fields("b d f g k l m n p r s t v z br dr fl gr kl pr st tr")
	vowels = strings.Fields("a e i o u")
	codas  = []string{"", "n", "r", "l"}
)

const (
	bareSyllables = 110     // an onset and a vowel
	fullSyllables = 110 * 4 // and a coda
)

// word returns the word of a rank, from 1 for the commonest on. It is pronounceable, of 4 letters or
// more if it is no function word, and no two ranks have the same.
func word(rank int) string {
	if rank <= len(common) {
		return common[rank-1]
	}
	var b strings.Builder
	n := rank - len(common) - 1
	for last := false; !last; {
		last = n < fullSyllables && b.Len() > 0
		base := bareSyllables
		if last {
			base = fullSyllables
		}
		digit := n % base
		n /= base
		b.WriteString(onsets[digit%len(onsets)])
		digit /= len(onsets)
		b.WriteString(vowels[digit%len(vowels)])
		b.WriteString(codas[digit/len(vowels)])
	}
	if IsCommon(b.String()) {
		b.WriteByte('x') // as no other word ends
	}
	return b.String()
}

// words are all words by rank, the first one empty.
func words() []string {
	list := make([]string, Vocabulary+1)
	for rank := 1; rank <= Vocabulary; rank++ {
		list[rank] = word(rank)
	}
	return list
}
