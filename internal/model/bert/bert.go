// Package bert splits a text into words as BERT's tokenizers do, with their tables of code points: cleaned, spaces around
// ideographs, accents removed, in lower case. Its tables are frozen, whatever Unicode the Go release knows.
package bert

import (
	"slices"
	"unicode/utf8"
)

// runes is a range of code points with both ends.
type runes struct{ first, last rune }

// change says what a code point becomes.
type change struct {
	from rune
	to   string
}

func inSpans(table []runes, r rune) bool {
	i, found := slices.BinarySearchFunc(table, r, func(s runes, r rune) int { return int(s.first - r) })
	return found || i > 0 && r <= table[i-1].last
}

func changed(table []change, r rune) (string, bool) {
	from := func(c change, r rune) int { return int(c.from - r) }
	i, found := slices.BinarySearchFunc(table, r, from)
	if !found {
		return "", false
	}
	return table[i].to, true
}

// Hangul syllables are letters in arithmetic order: chapter 3.12 of the Unicode standard.
const (
	hangulFirst = 0xAC00
	hangulLast  = 0xD7A3
	jamoL       = 0x1100
	jamoV       = 0x1161
	jamoT       = 0x11A7
	jamoVCount  = 21
	jamoTCount  = 28
)

// Normalizer is the normaliser of BERT's tokenizers. It maps each code point by itself; the
// reference implementation also puts neighbouring combining marks into canonical order, which
// shows only in the few that are not removed with the accents.
type Normalizer struct {
	Clean   bool // remove control characters, and make every white space a space
	Chinese bool // put spaces around ideographs
	Strip   bool // remove accents
	Lower   bool // change to lower case
}

// Words calls yield with the words of s in order, until it returns false: runs between white space, with each punctuation
// character a word of its own. word is valid until yield returns.
func (n *Normalizer) Words(s string, yield func(word []byte) bool) {
	var word []byte
	more := true
	flush := func() {
		if len(word) > 0 {
			more = more && yield(word)
			word = word[:0]
		}
	}
	letter := func(r rune) {
		switch {
		case IsPunct(r):
			flush()
			word = utf8.AppendRune(word, r)
			flush()
		case isWhite(r):
			flush()
		default:
			word = utf8.AppendRune(word, r)
		}
	}
	for _, r := range s {
		if n.normalize(r, letter); !more {
			return
		}
	}
	flush()
}

// normalize calls yield with what r becomes.
func (n *Normalizer) normalize(r rune, yield func(rune)) {
	if r >= 0x20 && r < 0x7F {
		if n.Lower && r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		yield(r)
		return
	}
	if n.Clean {
		if inSpans(bertDropped, r) {
			return
		}
		if inSpans(bertSpace, r) {
			yield(' ')
			return
		}
	}
	chinese := n.Chinese && inSpans(bertChinese, r)
	if chinese {
		yield(' ')
	}
	n.letters(r, yield)
	if chinese {
		yield(' ')
	}
}

// letters calls yield with the letters that r is made of once accents and case are gone.
func (n *Normalizer) letters(r rune, yield func(rune)) {
	if !n.Strip {
		n.lowerCase(r, yield)
		return
	}
	if r >= hangulFirst && r <= hangulLast {
		syllable := r - hangulFirst
		yield(jamoL + syllable/(jamoVCount*jamoTCount))
		yield(jamoV + syllable%(jamoVCount*jamoTCount)/jamoTCount)
		if t := syllable % jamoTCount; t > 0 {
			yield(jamoT + t)
		}
		return
	}
	if inSpans(bertMark, r) {
		return
	}
	if to, ok := changed(bertStrip, r); ok {
		for _, c := range to {
			n.lowerCase(c, yield)
		}
		return
	}
	n.lowerCase(r, yield)
}

func (n *Normalizer) lowerCase(r rune, yield func(rune)) {
	if n.Lower {
		if to, ok := changed(bertLower, r); ok {
			for _, c := range to {
				yield(c)
			}
			return
		}
	}
	yield(r)
}

// Pieces appends the numbers of the pieces of a word to ids: the longest that it begins with, then the longest that
// continues it, and so on. longest is the length of the longest piece in bytes; find looks one up among those that begin
// a word, or that continue one. ok is false if there is no next piece.
func Pieces(ids []int32, word []byte, longest int, find func(part []byte, first bool) (int32, bool)) (all []int32, ok bool) {
	for first := true; len(word) > 0; first = false {
		end := min(len(word), longest)
		for end < len(word) && !utf8.RuneStart(word[end]) {
			end--
		}
		id, found := int32(0), false
		for end > 0 {
			if id, found = find(word[:end], first); found {
				break
			}
			_, size := utf8.DecodeLastRune(word[:end])
			end -= size
		}
		if !found {
			return ids, false
		}
		ids, word = append(ids, id), word[end:]
	}
	return ids, true
}

// IsPunct reports whether a code point is a word of its own.
func IsPunct(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' ' && r < 0x7F && !isASCIIAlnum(r)
	}
	return inSpans(bertPunct, r)
}

func isASCIIAlnum(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

func isWhite(r rune) bool {
	if r < utf8.RuneSelf {
		return r == ' ' || r >= '\t' && r <= '\r'
	}
	return inSpans(bertWhite, r)
}
