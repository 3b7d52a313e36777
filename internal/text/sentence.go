package text

import (
	"slices"
	"strings"
)

// MaxSentence is the largest number of scalars of a sentence; longer ones come in pieces.
const MaxSentence = 500

// What sentences end with, beside white space with a line break.
const (
	softStops = ".\u2026"                  // full stop and ellipsis: no end before a lower-case letter
	stops     = softStops + "!?؟۔।॥"       // an end before white space
	wideStops = "。！？｡"                     // an end wherever they stand
	closers   = "\"')]}\u201d\u2019»」』）】》" // belong to the sentence before
	openers   = "\"'([{\u201c\u2018«「『（【《"
	blanks    = " \t\n\r\u00a0\u3000"
)

// abbreviations are words with which a full stop ends no sentence.
var abbreviations = []string{
	"Mr", "Mrs", "Ms", "Dr", "Prof", "St", "Jr", "Sr", "vs", "e.g", "i.e", "cf", "Fig",
}

// EachSentence calls yield with the sentences of s in order, without white space at their ends,
// until it returns false. Each has 1 to MaxSentence scalars. Where sentences end is a matter of
// characters alone, the same for every language; clause 20.3 of the specification has the rules.
// Any string will do; a byte that is not UTF-8 becomes U+FFFD.
func EachSentence(s string, yield func(sentence string) bool) {
	t := sentenceScanner{text: []rune(s)}
	for start, i := 0, 0; start < len(t.text); {
		next, ends := t.step(i)
		if i = next; !ends && i < len(t.text) {
			continue
		}
		if !pieces(t.text[start:i], yield) {
			return
		}
		start = i
	}
}

// pieces yields a sentence that may be too long.
func pieces(sentence []rune, yield func(string) bool) bool {
	sentence = []rune(strings.Trim(string(sentence), blanks))
	for piece := range slices.Chunk(sentence, MaxSentence) {
		if text := strings.Trim(string(piece), blanks); text != "" && !yield(text) {
			return false
		}
	}
	return true
}

type sentenceScanner struct{ text []rune }

// step looks at position i and returns the one to go on from, and whether a sentence ends there.
func (t *sentenceScanner) step(i int) (next int, ends bool) {
	switch r := t.text[i]; {
	case in(blanks, r):
		return t.blank(i)
	case in(wideStops, r):
		return t.skip(i, stops+wideStops+closers), true
	case in(stops, r):
		return t.stop(i)
	}
	return i + 1, false
}

// skip returns the position after a run of characters of a set.
func (t *sentenceScanner) skip(i int, set string) int {
	for i < len(t.text) && in(set, t.text[i]) {
		i++
	}
	return i
}

// blank ends a sentence with white space that has a line break, but for a single one that a
// lower-case letter follows, as in wrapped prose.
func (t *sentenceScanner) blank(i int) (next int, ends bool) {
	next = t.skip(i, blanks)
	breaks := 0
	for j := i; j < next; j++ {
		crlf := t.text[j] == '\r' && j+1 < next && t.text[j+1] == '\n'
		if t.text[j] == '\n' || t.text[j] == '\r' && !crlf {
			breaks++
		}
	}
	return next, breaks > 1 || breaks == 1 && !t.lower(next)
}

// stop ends a sentence with stops that white space or nothing follows.
func (t *sentenceScanner) stop(i int) (next int, ends bool) {
	next = t.skip(i, stops+wideStops+closers)
	run := string(t.text[i:next])
	after := t.skip(next, blanks)
	switch {
	case strings.ContainsAny(run, wideStops) || next == len(t.text):
		return next, true
	case after == next:
		return next, false
	case strings.Trim(run, softStops+closers) == "" && t.lower(after):
		return next, false
	case strings.TrimRight(run, closers) == "." && t.abbreviated(i):
		return next, false
	}
	return next, true
}

// lower reports whether a lower-case letter is at a position.
func (t *sentenceScanner) lower(i int) bool {
	return i < len(t.text) && entryOf(t.text[i])&classMask == classLower
}

// abbreviated reports whether the word before a position is one letter in upper case, as of a name,
// or an abbreviation.
func (t *sentenceScanner) abbreviated(i int) bool {
	start := i
	for start > 0 && !in(blanks+openers, t.text[start-1]) {
		start--
	}
	word := t.text[start:i]
	if len(word) == 1 {
		return entryOf(word[0])&classMask == classUpper
	}
	return slices.Contains(abbreviations, string(word))
}

func in(set string, r rune) bool { return strings.ContainsRune(set, r) }
