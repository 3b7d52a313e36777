package text

import (
	"strings"

	"github.com/blevesearch/snowballstem/english"
)

// memoSize is the number of stems a scanner remembers, a power of two. Prose repeats its words, and a lookup costs
// a small part of computing a stem.
const memoSize = 1 << 13

// memoEntry is a word and its stem. The word is stored inline, and the stem as a prefix of it if possible:
// following pointers to distant memory costs more than everything else. The zero value is the stem of no word.
type memoEntry struct {
	size uint8 // of the word
	keep uint8 // length of the stem if it is a prefix of the word, otherwise 0
	word [22]byte
	stem string // if keep is 0
}

// stem returns the English stem of a folded token, a Korean one without its last ending, or the token itself if it
// contains anything else or if nothing would be left of it.
func (sc *scanner) stem(token string) string {
	if !stemmable(token) {
		return stemHangul(token)
	}
	if len(token) == 0 || len(token) > len(memoEntry{}.word) {
		return sc.computeStem(token)
	}
	hash := uint32(2166136261) // FNV-1a, to spread words over the slots
	for i := range len(token) {
		hash = (hash ^ uint32(token[i])) * 16777619
	}
	slot := &sc.memo[(hash>>16^hash)&uint32(len(sc.memo)-1)]
	if string(slot.word[:slot.size]) != token {
		*slot = memoEntry{size: uint8(len(token))}
		copy(slot.word[:], token)
		if stem := sc.computeStem(token); strings.HasPrefix(token, stem) {
			slot.keep = uint8(len(stem))
		} else {
			slot.stem = stem
		}
	}
	if slot.keep > 0 {
		return token[:slot.keep]
	}
	return slot.stem
}

// computeStem computes the stem of a token that stem does not leave unchanged, without the memo.
func (sc *scanner) computeStem(token string) string {
	sc.env.SetCurrent(strings.Clone(token)) // the text itself must not stay in memory
	english.Stem(&sc.env)
	if stem := sc.env.Current(); stem != "" {
		return stem
	}
	return token
}

// stemmable reports whether a folded token has only a-z and apostrophes.
func stemmable(token string) bool {
	for i := range len(token) {
		if c := token[i]; (c < 'a' || c > 'z') && c != '\'' {
			return false
		}
	}
	return true
}

// isStopWord reports whether a folded token is one of the English function words that step 8 drops: too common to
// distinguish texts.
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
