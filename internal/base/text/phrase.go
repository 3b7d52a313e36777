package text

import (
	"strings"
	"unicode/utf8"
)

// MaxPhrase is the largest number of terms of a phrase for HasPhrase.
const MaxPhrase = 64

// HasPhrase reports whether the terms of a phrase occur consecutively among the first most terms of s. It is false
// for an empty phrase, or one of more than MaxPhrase terms.
//
// It stems few words of s, as stemming does not change the first byte of a word: a word that begins like no term of
// the phrase cannot match.
func (a *Analyzer) HasPhrase(s string, phrase []string, most int) bool {
	if len(phrase) == 0 || len(phrase) > MaxPhrase || most <= 0 {
		return false
	}
	var firsts firstBytes
	for _, term := range phrase {
		if term == "" {
			return false
		}
		firsts.add(term[0])
	}
	whole, open := uint64(1)<<(len(phrase)-1), uint64(0)
	n := 0
	a.each(s, &firsts, func(term string) bool {
		n++
		open = (open<<1 | 1) & placesOf(term, phrase) // of the phrase's beginnings that end here
		return open&whole == 0 && n < most
	})
	return open&whole != 0
}

// placesOf returns a bit for each position of a term in a phrase.
func placesOf(term string, phrase []string) (places uint64) {
	for i, t := range phrase {
		if t == term {
			places |= 1 << i
		}
	}
	return places
}

// firstBytes is a set of bytes.
type firstBytes [4]uint64

func (s *firstBytes) add(b byte)      { s[b/64] |= 1 << (b % 64) }
func (s *firstBytes) has(b byte) bool { return s[b/64]>>(b%64)&1 == 1 }

// Stands reports whether a text that has the terms of a title mentions the title. A title with one term besides stop
// words must occur in the text exactly; only the first letter of several words may differ in case. Otherwise a text
// about people who love would mention a song "To Love".
func (a *Analyzer) Stands(s, title string) bool {
	if at := strings.LastIndex(title, " ("); at > 0 && strings.HasSuffix(title, ")") {
		title = title[:at]
	}
	terms := 0
	a.Each(title, func(string) bool { terms++; return terms < 2 })
	if terms != 1 {
		return true
	}
	title = strings.TrimSpace(title)
	from := 0
	first, width := utf8.DecodeRuneInString(title)
	if strings.Contains(title, " ") && inWord(first) {
		from = width
	}
	for at := 0; ; {
		found := strings.Index(s[at:], title[from:])
		if found < 0 {
			return false
		}
		end := at + found + len(title) - from
		start := at + found
		if from > 0 {
			before, n := utf8.DecodeLastRuneInString(s[:start])
			if start -= n; !sameLetter(before, first) {
				start = -1
			}
		}
		if start >= 0 && !continues(s, start, end) {
			return true
		}
		at += found + 1
	}
}

// sameLetter reports whether two code points differ by case at most.
func sameLetter(a, b rune) bool { return foldedRune(a) == foldedRune(b) }

func foldedRune(r rune) string {
	switch {
	case r >= 'A' && r <= 'Z':
		return string(r + 'a' - 'A')
	case entryOf(r)&foldFlag == 0:
		return string(r)
	}
	return foldOf(r)
}

// continues reports whether a word of the text goes on before or after s[start:end].
func continues(s string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:start])
	first, _ := utf8.DecodeRuneInString(s[start:end])
	last, _ := utf8.DecodeLastRuneInString(s[start:end])
	after, _ := utf8.DecodeRuneInString(s[end:])
	return inWord(before) && inWord(first) || inWord(last) && inWord(after)
}

// inWord reports whether a code point is a letter or digit of a script that separates words.
func inWord(r rune) bool { return r != utf8.RuneError && isWordClass(entryOf(r)&classMask) }
