package text

import "unicode/utf8"

// runeRange is a closed range of code points.
type runeRange struct{ first, last rune }

// escaped lists, in order, the code points above ASCII that EscapeLine writes as numbers: those that end a line,
// change the direction of the text after them, or are invisible, so that text could hide in them. The package
// documentation gives the reason for each.
var escaped = [...]runeRange{
	{0x0080, 0x009F},
	{0x00AD, 0x00AD},
	{0x034F, 0x034F},
	{0x061C, 0x061C},
	{0x115F, 0x1160},
	{0x17B4, 0x17B5},
	{0x180E, 0x180E},
	{0x200B, 0x200B},
	{0x200E, 0x200F},
	{0x2028, 0x202E},
	{0x2060, 0x206F},
	{0x3164, 0x3164},
	{0xFDD0, 0xFDEF},
	{0xFE00, 0xFE0D},
	{0xFEFF, 0xFEFF},
	{0xFFA0, 0xFFA0},
	{0xFFF0, 0xFFFB},
	{0x1BCA0, 0x1BCA3},
	{0x1D173, 0x1D17A},
	{0xE0000, 0xE0FFF},
}

// isEscaped reports whether EscapeLine escapes r.
func isEscaped(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7F
	}
	if r&0xFFFE == 0xFFFE { // the last two of each plane are noncharacters
		return true
	}
	lo, hi := 0, len(escaped)
	for lo < hi {
		if mid := (lo + hi) / 2; escaped[mid].last < r {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo < len(escaped) && escaped[lo].first <= r
}

// EscapeLine returns s as one line without invisible characters that could end the line, reorder it or hide text.
// Line feed, carriage return and tab become \n, \r and \t; other escaped code points become \u{HEX} in upper-case
// hexadecimal without leading zeros; a byte that is not UTF-8 becomes \x{HH}. The package documentation lists the
// code points.
//
// Backslashes stay as they are, so the result cannot be turned back; escaping it again changes nothing. It is valid
// UTF-8 and at most six times as long as s. Nothing is allocated when there is nothing to escape.
func EscapeLine(s string) string {
	first := nextEscape(s, 0)
	if first == len(s) {
		return s
	}
	out := make([]byte, 0, len(s)+len(s)/8+16)
	done := 0
	for i := first; i < len(s); i = nextEscape(s, done) {
		out = append(out, s[done:i]...)
		r, width := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && width == 1 {
			out = appendBraced(out, 'x', rune(s[i]))
		} else {
			out = appendEscape(out, r)
		}
		done = i + width
	}
	return string(append(out, s[done:]...))
}

// nextEscape returns the position at or after i of the first thing to escape, or len(s).
func nextEscape(s string, i int) int {
	for i < len(s) {
		if c := s[i]; c < utf8.RuneSelf {
			if isEscaped(rune(c)) {
				return i
			}
			i++
			continue
		}
		r, width := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && width == 1 || isEscaped(r) {
			return i
		}
		i += width
	}
	return i
}

// appendEscape appends the escape of a code point.
func appendEscape(out []byte, r rune) []byte {
	switch r {
	case '\n':
		return append(out, `\n`...)
	case '\r':
		return append(out, `\r`...)
	case '\t':
		return append(out, `\t`...)
	}
	return appendBraced(out, 'u', r)
}

// appendBraced appends a backslash, kind and the number in braces.
func appendBraced(out []byte, kind byte, r rune) []byte {
	const digits = "0123456789ABCDEF"
	out = append(out, '\\', kind, '{')
	shift := 0
	for r>>shift > 0xF {
		shift += 4
	}
	for ; shift >= 0; shift -= 4 {
		out = append(out, digits[r>>shift&0xF])
	}
	return append(out, '}')
}
