package render

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/rank/source"
)

// RenderDigest returns the lines of a digest: its name and how many facts are below, and for each fact that it
// has sentences from the beginning of the id and these; or what wrote its text, and the lines of that.
func RenderDigest(d *source.Digest) string {
	var b strings.Builder
	fmt.Fprintf(&b, "digest: %s (%d facts)", text.EscapeField(cmp.Or(d.Shown, d.Name), "()"), d.Facts)
	if d.Written != "" {
		b.WriteString(" by " + text.EscapeField(d.Model, "()"))
		for line := range strings.SplitSeq(d.Written, "\n") {
			b.WriteString("\n  " + text.EscapeLine(line))
		}
		return b.String() + "\n"
	}
	for i, s := range d.Sentences {
		if i == 0 || d.Sentences[i-1].Fact != s.Fact {
			fmt.Fprintf(&b, "\n  [%.8s]", s.Fact)
		}
		b.WriteString(" " + text.EscapeLine(s.Text))
	}
	b.WriteString("\n")
	return b.String()
}
