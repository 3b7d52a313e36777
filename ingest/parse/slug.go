package parse

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSlug is the longest slug in bytes: six of them, with what is around, are far from the longest key.
const maxSlug = 60

// Slug is a heading as part of a name: letters and digits in lower case, with hyphens for blanks, as
// anchors have it on GitHub. It is not empty.
func Slug(title string) string {
	var b strings.Builder
	for _, c := range strings.TrimSpace(title) {
		switch {
		case unicode.IsLetter(c) || unicode.IsDigit(c) || c == '_' || unicode.IsMark(c):
			c = unicode.ToLower(c)
		case c == ' ' || c == '-' || c == '\t':
			c = '-'
		default:
			continue
		}
		if b.Len()+utf8.RuneLen(c) > maxSlug {
			break
		}
		b.WriteRune(c)
	}
	if s := strings.Trim(b.String(), "-"); s != "" {
		return s
	}
	return "section"
}
