package cli

import (
	"github.com/mnem-project/mnem/internal/plain"
	"github.com/mnem-project/mnem/internal/text"
)

// line makes text that users wrote safe to print: one line, nothing invisible.
func line(s string) string { return text.EscapeLine(s) }

// printable makes text of several lines safe to print: no line of it can move the cursor or hide
// another.
func printable(s string) string { return plain.Lines(s) }

// brief is the beginning of text in one safe line of at most width characters.
func brief(s string, width int) string { return plain.Brief(s, width) }

// The JSON forms that several commands share.

// orNull is nil, JSON's null, for the empty string.
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// plural is "1 node", "2 nodes".
func plural(n int, what string) string { return plain.Plural(n, what) }
