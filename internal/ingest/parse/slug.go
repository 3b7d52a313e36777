package parse

import (
	"strings"

	"github.com/mnem-project/mnem/internal/base/text"
)

// maxSlug is the longest slug in bytes: six of them, with what is around, are far from the longest key.
const maxSlug = 60

// Slug is a heading as part of a name: letters and digits folded by the tables of the analyser, with hyphens
// for blanks, as anchors have it elsewhere but for accents. It is not empty.
func Slug(title string) string {
	var b strings.Builder
	text.EachFolded(strings.TrimSpace(title), func(_, _ int, kind text.CharClass, fold string) bool {
		switch {
		case kind != text.KindOther || fold == "_":
		case fold == " " || fold == "-" || fold == "\t":
			fold = "-"
		default:
			return true
		}
		if b.Len()+len(fold) > maxSlug {
			return false
		}
		b.WriteString(fold)
		return true
	})
	if s := strings.Trim(b.String(), "-"); s != "" {
		return s
	}
	return "section"
}

// Fold returns a name as links compare it: letters and digits folded, all else as it is.
func Fold(name string) string {
	var b strings.Builder
	text.EachFolded(name, func(_, _ int, _ text.CharClass, fold string) bool {
		b.WriteString(fold)
		return true
	})
	return b.String()
}
