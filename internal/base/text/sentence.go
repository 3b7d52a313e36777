package text

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// What ends sentences, besides white space with a line break.
const (
	softStops = ".\u2026"                  // full stop and ellipsis: no end before a lower-case letter
	stops     = softStops + "!?؟۔।॥"       // an end before white space
	wideStops = "。！？｡"                     // an end wherever they stand
	closers   = "\"')]}\u201d\u2019»」』）】》" // belong to the sentence before
	openers   = "\"'([{\u201c\u2018«「『（【《"
	blanks    = " \t\n\r\u00a0\u3000"
)

// abbreviations are words whose full stop ends no sentence.
var abbreviations = []string{
	"Mr", "Mrs", "Ms", "Dr", "Prof", "St", "Jr", "Sr", "vs", "e.g", "i.e", "cf", "Fig",
}

// Sentence is a part of a text, in bytes. It is not empty, and has no white space at its ends.
type Sentence struct {
	Start, End int
	Paragraph  bool // whether a blank line stands before it
}

// EachSentence calls yield with the sentences of s in order until it returns false. Only white space lies between
// them. Sentences longer than most scalars, at least 1, are split at white space. The ends of sentences depend only
// on characters, the same for every language; clause 6.10 of the specification has the rules. Any string will do; a
// byte that is not UTF-8 counts as one scalar.
func EachSentence(s string, most int, yield func(Sentence) bool) {
	last := 0 // the end of the sentence before
	for start, end := 0, 0; start < len(s); start = end {
		for ends := false; !ends && end < len(s); {
			end, ends = sentenceScanner(s).step(end)
		}
		for rest := start + trimmedLen(s[start:end]); start < rest; {
			start += blankLen(s[start:rest])
			next := start + prefix(s[start:rest], most)
			at := Sentence{start, start + trimmedLen(s[start:next]), breaks(s[last:start]) > 1}
			if !yield(at) {
				return
			}
			last, start = at.End, next
		}
	}
}

// prefix returns the length of the first part of a sentence that may be too long: up to and including the last
// white space among its first scalars, otherwise all of these.
func prefix(s string, most int) int {
	n, blank := 0, 0
	for at, r := range s {
		if n == most {
			if blank > 0 {
				return blank
			}
			return at
		}
		if n++; in(blanks, r) {
			blank = at + utf8.RuneLen(r)
		}
	}
	return len(s)
}

func blankLen(s string) int   { return len(s) - len(strings.TrimLeft(s, blanks)) }
func trimmedLen(s string) int { return len(strings.TrimRight(s, blanks)) }

// breaks returns the number of line breaks in white space.
func breaks(s string) int {
	return strings.Count(s, "\n") + strings.Count(s, "\r") - strings.Count(s, "\r\n")
}

type sentenceScanner string

// step examines position i and returns the next position, and whether a sentence ends there.
func (s sentenceScanner) step(i int) (next int, ends bool) {
	r, n := utf8.DecodeRuneInString(string(s[i:]))
	switch {
	case in(blanks, r):
		return s.blank(i)
	case in(wideStops, r):
		return s.skip(i, stops+wideStops+closers), true
	case in(stops, r):
		return s.stop(i)
	}
	return i + n, false
}

// skip returns the position after a run of characters of a set.
func (s sentenceScanner) skip(i int, set string) int {
	return len(s) - len(strings.TrimLeft(string(s[i:]), set))
}

// blank ends a sentence at white space with a line break, except a single one before a lower-case letter, as in
// wrapped prose.
func (s sentenceScanner) blank(i int) (next int, ends bool) {
	next = s.skip(i, blanks)
	n := breaks(string(s[i:next]))
	return next, n > 1 || n == 1 && !s.lower(next)
}

// stop ends a sentence at stops followed by white space or the end.
func (s sentenceScanner) stop(i int) (next int, ends bool) {
	next = s.skip(i, stops+wideStops+closers)
	run := string(s[i:next])
	after := s.skip(next, blanks)
	switch {
	case strings.ContainsAny(run, wideStops) || next == len(s):
		return next, true
	case after == next:
		return next, false
	case strings.Trim(run, softStops+closers) == "" && s.lower(after):
		return next, false
	case strings.TrimRight(run, closers) == "." && s.abbreviated(i):
		return next, false
	}
	return next, true
}

// lower reports whether a lower-case letter is at a position.
func (s sentenceScanner) lower(i int) bool {
	r, _ := utf8.DecodeRuneInString(string(s[i:]))
	return i < len(s) && entryOf(r)&classMask == classLower
}

// abbreviated reports whether the word before a position is a single upper-case letter, as in a name, or an
// abbreviation.
func (s sentenceScanner) abbreviated(i int) bool {
	word := string(s[:i])
	if at := strings.LastIndexAny(word, blanks+openers); at >= 0 {
		_, n := utf8.DecodeRuneInString(word[at:])
		word = word[at+n:]
	}
	if r, n := utf8.DecodeRuneInString(word); n == len(word) {
		return entryOf(r)&classMask == classUpper
	}
	return slices.Contains(abbreviations, word)
}

func in(set string, r rune) bool { return strings.ContainsRune(set, r) }
