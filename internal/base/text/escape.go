package text

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// runeRange is a closed range of code points.
type runeRange struct{ first, last rune }

// escaped lists, in order, the code points above ASCII that EscapeLine writes as numbers: those that end a line,
// change the direction of the text after them, or are invisible, so that text could hide in them. The package
// documentation gives the reason for each.
var escaped = []runeRange{
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
	i, _ := slices.BinarySearchFunc(escaped, r, func(e runeRange, r rune) int { return int(e.last - r) })
	return i < len(escaped) && escaped[i].first <= r
}

// EscapeLine returns s as one line without invisible characters that could end the line, reorder it or hide text.
// Line feed, carriage return and tab become \n, \r and \t; other escaped code points become \u{HEX} in upper-case
// hexadecimal without leading zeros; a byte that is not UTF-8 becomes \x{HH}. The package documentation lists the
// code points.
//
// Backslashes stay as they are, so the result cannot be turned back; escaping it again changes nothing. It is valid
// UTF-8 and at most six times as long as s. Nothing is allocated when there is nothing to escape.
func EscapeLine(s string) string { return escapeRunes(s, isEscaped) }

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

// Dots are the middle dot, which separates the parts of a header, and the characters that look like it.
const Dots = "\u00B7\u0387\u2022\u2027\u2219\u22C5\u2E31\u30FB\uA78F\uFF65"

// Brackets enclose a reference in a header; the wide ones look alike.
const Brackets = "[]\uFF3B\uFF3D"

// wordMarks are the ASCII characters allowed in a word of a header besides letters and digits.
const wordMarks = "_-./:+#@"

// EscapeWord returns s as one word of a header: letters, digits, combining marks and _ - . / : + # @ are kept, any
// other code point is escaped as EscapeLine does, and so is the backslash. So no two strings have the same word.
func EscapeWord(s string) string {
	return escapeRunes(s, func(r rune) bool { return !isOfWord(r) })
}

func isOfWord(r rune) bool {
	if isEscaped(r) || strings.ContainsRune(Dots, r) {
		return false
	}
	switch class := entryOf(r) & classMask; {
	case r < utf8.RuneSelf:
		return isWordClass(class) || strings.ContainsRune(wordMarks, r)
	default:
		return isWordClass(class) || class == classIgnored || class >= classHan && class != classEmoji
	}
}

// EscapeField returns s as EscapeLine does, and also escapes each code point of separators as \u{HEX}, so that a
// field of a header cannot end it or begin the next one. Blanks at its ends are kept.
func EscapeField(s, separators string) string {
	return escapeRunes(EscapeLine(s), func(r rune) bool { return strings.ContainsRune(separators, r) })
}

// escapeRunes writes the code points for which escape holds, and bytes that are not UTF-8, as numbers.
func escapeRunes(s string, escape func(rune) bool) string {
	var out []byte
	done := 0
	for i := 0; i < len(s); {
		r, width := utf8.DecodeRuneInString(s[i:])
		switch bad := r == utf8.RuneError && width == 1; {
		case bad:
			out = appendBraced(append(out, s[done:i]...), 'x', rune(s[i]))
			done = i + width
		case escape(r):
			out = appendEscape(append(out, s[done:i]...), r)
			done = i + width
		}
		i += width
	}
	if done == 0 {
		return s
	}
	return string(append(out, s[done:]...))
}

// EscapeTags returns s with each < that begins a tag as \u{3C}: one before a letter, a slash, or one of ! ? |. So a
// text inside a frame of tags cannot end the frame or begin another. Any other < is kept.
func EscapeTags(s string) string { return replaceTags(s, `\u{3C}`) }

// EscapeJSONTags is EscapeTags for a JSON text: it uses JSON's escape, so the value is unchanged.
func EscapeJSONTags(s string) string { return replaceTags(s, `\u003c`) }

func replaceTags(s, by string) string {
	var out []byte
	done := 0
	for i := 0; i+1 < len(s); i++ {
		if s[i] == '<' && opensTag(s[i+1]) {
			out = append(append(out, s[done:i]...), by...)
			done = i + 1
		}
	}
	if done == 0 {
		return s
	}
	return string(append(out, s[done:]...))
}

func opensTag(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("/!?|", c) >= 0 || c >= utf8.RuneSelf
}

// EscapeJSON returns a JSON text of the same value in which everything that EscapeLine escapes is written as
// \uXXXX: controls, line ends, bidirectional marks and overrides, and invisible characters. Only strings of a JSON
// text can hold such code points; white space between its tokens is kept, as are bytes that are not UTF-8. It
// returns data itself if there is nothing to escape.
func EscapeJSON(data []byte) []byte {
	var out []byte
	done := 0
	for i := 0; i < len(data); {
		c := data[i]
		if c < utf8.RuneSelf && c != 0x7F {
			i++
			continue
		}
		r, width := utf8.DecodeRune(data[i:])
		if (r != utf8.RuneError || width > 1) && isEscaped(r) {
			out = appendJSONRune(append(out, data[done:i]...), r)
			done = i + width
		}
		i += width
	}
	if done == 0 {
		return data
	}
	return append(out, data[done:]...)
}

// appendJSONRune appends \uXXXX, or two of them for a code point beyond the basic plane.
func appendJSONRune(out []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	const firstBeyond, high, low, half = 0x10000, 0xD800, 0xDC00, 10
	units := []rune{r}
	if r >= firstBeyond {
		r -= firstBeyond
		units = []rune{high + r>>half, low + r&(1<<half-1)}
	}
	for _, u := range units {
		out = append(out, '\\', 'u', digits[u>>12&0xF], digits[u>>8&0xF], digits[u>>4&0xF], digits[u&0xF])
	}
	return out
}
