package text

import "unicode/utf8"

// isRegional reports whether r is one of the letters that make flags in pairs.
func isRegional(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

// emojiAt returns the term of the emoji at start, and its end.
func emojiAt(s string, start int) (term string, end int) {
	first, width := utf8.DecodeRuneInString(s[start:])
	end = start + width
	if !isRegional(first) {
		return s[start:end], end
	}
	for pos := end; pos < len(s); {
		r, entry, width := decode(s, pos)
		pos += width
		if isRegional(r) {
			return string([]rune{first, r}), pos
		}
		if entry&classMask != classIgnored {
			break
		}
	}
	return s[start:end], end
}
