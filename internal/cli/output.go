package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/plain"
	"github.com/mnem-project/mnem/internal/text"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

// encodeJSON returns v as JSON without a line end. Nothing is escaped for HTML: what people and
// programs read here is what was written.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// show prints an answer: as JSON, or as text.
func show[T any](c *cli, answer T, text func(*cli, T) error) error {
	if c.global.json {
		return c.printJSON(answer)
	}
	return text(c, answer)
}

// say prints an answer: as JSON, or as a line of text.
func (c *cli) say(answer any, format string, args ...any) error {
	if c.global.json {
		return c.printJSON(answer)
	}
	return c.printf(format, args...)
}

// printJSON prints one JSON value in one line.
func (c *cli) printJSON(v any) error {
	return ops.WriteJSON(c.out, v)
}

// printf prints results. Values that users wrote must have been through line.
func (c *cli) printf(format string, args ...any) error {
	_, err := fmt.Fprintf(c.out, format, args...)
	return err
}

// remark says something on the side, on the error stream, unless --quiet or --json.
func (c *cli) remark(format string, args ...any) {
	if !c.global.quiet && !c.global.json {
		_, _ = fmt.Fprintf(c.app.Stderr, format+"\n", args...) // nobody to tell
	}
}

// line makes text that users wrote safe to print: one line, nothing invisible.
func line(s string) string { return text.EscapeLine(s) }

// printable makes text of several lines safe to print: no line of it can move the cursor or hide
// another.
func printable(s string) string { return plain.Lines(s) }

// summaryWidth is how many characters of a summary a list shows.
const summaryWidth = 72

// brief is the beginning of text in one safe line of at most width characters.
func brief(s string, width int) string { return plain.Brief(s, width) }

// shortCID is as much of a CID as tells commits apart for people: it names a revision.
func shortCID(c ipld.CID) string {
	const prefix, digits = len("bafyrei"), 12
	s := c.String()
	if len(s) < prefix+digits {
		return "(none)"
	}
	return s[prefix : prefix+digits]
}

// cell is one cell of a table: safe text and a style for terminals.
type cell struct{ text, style string }

// printList prints a list: an object a line as JSON, or a table for people.
func printList[T, F any](c *cli, list []T, form func(T) F, row func(T) []cell) error {
	var rows [][]cell
	for _, v := range list {
		if !c.global.json {
			rows = append(rows, row(v))
		} else if err := c.printJSON(form(v)); err != nil {
			return err
		}
	}
	return c.table(rows)
}

// table prints rows in columns two blanks apart; the last column is as wide as it wants.
func (c *cli) table(rows [][]cell) error {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell.text))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(c.paint(cell.style, cell.text))
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell.text)+2))
			}
		}
		if _, err := io.WriteString(c.out, strings.TrimRight(b.String(), " ")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// The JSON forms that several commands share.

// orNull is nil, JSON's null, for the empty string.
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// jsonCIDs is a list, never null.
func jsonCIDs(list []ipld.CID) []string {
	out := make([]string, len(list))
	for i, c := range list {
		out[i] = c.String()
	}
	return out
}

// countsLine is how people read counts: "+2 ~1 -0 nodes".
func (c *cli) countsLine(n repo.Counts, what string) string {
	return fmt.Sprintf("%s %s %s %s",
		c.paint(styleIf(n.Added, styleGreen), fmt.Sprintf("+%d", n.Added)),
		c.paint(styleIf(n.Changed, styleYellow), fmt.Sprintf("~%d", n.Changed)),
		c.paint(styleIf(n.Removed, styleRed), fmt.Sprintf("-%d", n.Removed)), what)
}

func styleIf(n int, style string) string {
	if n == 0 {
		return styleDim
	}
	return style
}

// plural is "1 node", "2 nodes".
func plural(n int, what string) string { return plain.Plural(n, what) }

// joinText joins what is not empty.
func joinText(parts ...string) string {
	var given []string
	for _, p := range parts {
		if p != "" {
			given = append(given, p)
		}
	}
	return strings.Join(given, "  ")
}
