package text

import (
	"strings"
	"unicode/utf8"
)

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
