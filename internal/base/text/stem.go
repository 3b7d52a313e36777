package text

import (
	"strings"
	"unicode/utf8"

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

// Syllables of Hangul.
const firstHangul, lastHangul = 0xAC00, 0xD7A3

// koreanEndings are the particles after Korean nouns and the endings of the verbs made of nouns, the longer ones first
// among those that end alike: a closed class, as stop words are.
var koreanEndings = strings.Fields(`
	에서부터 으로부터 에서는 에서도 에게서 에게는 에게도 으로는 으로도 이라는 이라고 까지는 까지도 부터는 한테서
	에서 에게 에는 에도 으로 로는 로도 까지 부터 보다 처럼 한테 께서 라는 라고 이나 이란 마다 조차 들은 들이 들을 들의 들에
	은 는 이 가 을 를 의 에 로 와 과 도 만 들 께
	하였습니다 되었습니다 했습니다 됐습니다 하십니까 입니까 합니까 합니다 됩니다 입니다 하나요 되나요 했나요 됐나요 인가요 한가요
	하려면 되려면 하면 되면 하는 되는 하고 되고 하여 되어 하다 되다 했다 됐다 한다 된다 이다`)

// stemHangul returns a Korean word without its last particle or ending, which leaves two syllables at least; a token of
// anything but Hangul stays as it is.
func stemHangul(token string) string {
	if !isHangul(token) {
		return token
	}
	best := token
	for _, end := range koreanEndings {
		rest, ok := strings.CutSuffix(token, end)
		if ok && len(rest) < len(best) && utf8.RuneCountInString(rest) >= 2 {
			best = rest
		}
	}
	return best
}

func isHangul(token string) bool {
	for _, c := range token {
		if c < firstHangul || c > lastHangul {
			return false
		}
	}
	return token != ""
}
