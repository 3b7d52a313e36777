// Package plain formats numbers, names and paths for people.
package plain

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/base/text"
)

// Plural formats a count: "1 ref", "2 refs".
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Line makes users' text safe to print: one line, nothing invisible.
func Line(s string) string { return text.EscapeLine(s) }

// Word makes users' text into one word that is safe to print within a line.
func Word(s string) string { return text.EscapeWord(s) }

// Brief returns users' text as one line that is safe to print, of at most width characters.
func Brief(s string, width int) string {
	if s = Line(s); utf8.RuneCountInString(s) <= width {
		return s
	}
	return string([]rune(s)[:width-1]) + "…"
}

// Lines makes text of several lines safe to print: no line of it can move the cursor or hide another.
func Lines(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, l := range lines {
		lines[i] = text.EscapeLine(l)
	}
	return strings.Join(lines, "\n")
}

// Bytes formats a number of bytes: "312 B", "1.5 MiB".
func Bytes(n int64) string {
	const step = 1 << 10
	if n < step {
		return strconv.FormatInt(n, 10) + " B"
	}
	x, unit := float64(n)/step, "KiB"
	for _, next := range []string{"MiB", "GiB", "TiB"} {
		if x < step {
			break
		}
		x, unit = x/step, next
	}
	return strconv.FormatFloat(x, 'f', 1, 64) + " " + unit
}

// Shell quotes a word for a shell.
func Shell(s string) string {
	if s != "" && s[0] != '~' && !strings.ContainsAny(s, " '\"\\$`&|;<>()*?[]{}!#\n\t") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
