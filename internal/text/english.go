package text

import (
	"strings"

	"github.com/blevesearch/snowballstem/english"
)

// memoSize is the number of stems a scanner remembers, a power of two. Prose repeats its words, and
// remembering a stem costs a small part of computing it.
const memoSize = 1 << 12

// memoEntry is a stemmed word. The zero value is the stem of no word.
type memoEntry struct{ word, stem string }

// stem returns the English stem of a folded token, or the token itself when it holds anything
// but a-z and apostrophes or when nothing would be left of it.
func (sc *scanner) stem(token string) string {
	if !stemmable(token) {
		return token
	}
	hash := uint32(2166136261) // FNV-1a, to spread words over the slots
	for i := range len(token) {
		hash = (hash ^ uint32(token[i])) * 16777619
	}
	slot := &sc.memo[(hash>>16^hash)&uint32(len(sc.memo)-1)]
	if slot.word != token {
		word := strings.Clone(token) // the text itself must not stay in memory for a slot
		sc.env.SetCurrent(word)
		english.Stem(&sc.env)
		slot.word, slot.stem = word, sc.env.Current()
	}
	if slot.stem == "" {
		return token
	}
	return slot.stem
}

// stemmable reports whether a folded token has nothing but a-z and apostrophes.
func stemmable(token string) bool {
	for i := range len(token) {
		if c := token[i]; (c < 'a' || c > 'z') && c != '\'' {
			return false
		}
	}
	return true
}

// isStopWord reports whether a folded token is one of the English function words that step 8
// drops: too common to tell one text from another.
func isStopWord(token string) bool {
	switch token {
	case "a", "about", "after", "again", "all", "am", "an", "and", "any", "are", "aren't", "as",
		"at":
	case "be", "because", "been", "before", "being", "between", "both", "but", "by":
	case "can't", "cannot", "could", "couldn't", "could've":
	case "did", "didn't", "do", "does", "doesn't", "doing", "don't", "during", "each":
	case "for", "from", "had", "hadn't", "has", "hasn't", "have", "haven't", "having", "he",
		"he'd", "he'll", "he's", "her", "here's", "hers", "herself", "him", "himself", "his",
		"how", "how's":
	case "i", "i'd", "i'll", "i'm", "i've", "if", "in", "into", "is", "isn't", "it", "it'd",
		"it'll", "it's", "its", "itself":
	case "let's", "me", "my", "myself", "no", "nor", "not", "of", "on", "or", "our", "ours",
		"ourselves":
	case "she", "she'd", "she'll", "she's", "should", "should've", "shouldn't", "so", "some",
		"such":
	case "than", "that", "that's", "the", "their", "theirs", "them", "themselves", "then",
		"there", "there's", "these", "they", "they'd", "they'll", "they're", "they've", "this",
		"those", "through", "to", "too":
	case "until", "very", "was", "wasn't", "we", "we'd", "we'll", "we're", "we've", "were",
		"weren't", "what", "what's", "when", "where", "which", "while", "who", "who's", "whom",
		"whose", "why", "with", "won't", "would", "wouldn't", "would've":
	case "you", "you'd", "you'll", "you're", "you've", "your", "yours", "yourself",
		"yourselves":
	default:
		return false
	}
	return true
}
