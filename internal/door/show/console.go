// Package show has what printing needs: a console with colours and widths, and the few shapes that answers share. It
// reads no repository, flag or file.
package show

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/ingesting"
	"github.com/mnem-project/mnem/ipld"
)

// Console prints the results of a command, and remarks about them.
type Console struct {
	Out      *bufio.Writer // results
	Aside    io.Writer     // what is no result
	Terminal bool          // whether results go to a terminal
	Plain    bool          // whether they have no colour there either
	InJSON   bool          // whether they are JSON: then there are no remarks
	Quiet    bool          // whether there are no remarks otherwise
	Answers  int           // that the verb under way has given
	// Typed takes what is printed as JSON, nil to have bytes made of it.
	Typed func(answer any) error
	Again bool // whether the verb runs again because something changed

	Lanes lanes                           // between the commits of a log
	Left  map[ingesting.IngestedFile]bool // what the run of ingest before left out
}

// Answer prints an answer: as JSON, or as text.
func Answer[T any](c *Console, answer T, text func(c *Console, answer T) error) error {
	if c.InJSON {
		return c.PrintJSON(answer)
	}
	return text(c, answer)
}

// Say prints an answer: as JSON, or as a line of text.
func (c *Console) Say(answer any, format string, args ...any) error {
	if c.InJSON {
		return c.PrintJSON(answer)
	}
	return c.Printf(format, args...)
}

// PrintJSON prints one JSON value in one line.
func (c *Console) PrintJSON(v any) error {
	if c.Typed != nil {
		return c.Typed(v)
	}
	return verb.WriteJSON(c.Out, v)
}

// Printf prints results. Values that users wrote must be safe to print.
func (c *Console) Printf(format string, args ...any) error {
	_, err := fmt.Fprintf(c.Out, format, args...)
	return err
}

// Put prints results before others. If it fails, so does what is printed after it, and failed.
func (c *Console) Put(format string, args ...any) { _ = c.Printf(format, args...) }

// PutTable is put for a table.
func (c *Console) PutTable(rows [][]Cell) { _ = c.Table(rows) }

// Failed returns the error of printing, nil if all went well.
func (c *Console) Failed() error {
	_, err := c.Out.Write(nil)
	return err
}

// Remark says something on the side, unless that is not wanted. What looks like a credential in it is masked.
func (c *Console) Remark(format string, args ...any) {
	if !c.Quiet && !c.InJSON {
		_, _ = fmt.Fprintln(c.Aside, guard.Message(fmt.Sprintf(format, args...))) // there is no one to tell
	}
}

// Styles of results on a terminal, as SGR codes.
const (
	Green  = "32"
	Red    = "31"
	Yellow = "33"
	Cyan   = "36"
	Bold   = "1"
	Dim    = "2"
)

func (c *Console) colour() bool { return c.Terminal && !c.Plain && !c.InJSON }

// Paint returns s in a style where results may be coloured.
func (c *Console) Paint(style, s string) string {
	if style == "" || s == "" || !c.colour() {
		return s
	}
	return "\x1b[" + style + "m" + s + "\x1b[0m"
}

// Cell is one cell of a table: safe text and a style for terminals.
type Cell struct{ Text, Style string }

// CellOf returns a cell.
func CellOf(text, style string) Cell { return Cell{text, style} }

// Row returns a row of cells, of each its text and then its style.
func Row(cells ...string) []Cell {
	row := make([]Cell, len(cells)/2)
	for i := range row {
		row[i] = Cell{cells[2*i], cells[2*i+1]}
	}
	return row
}

// HeadRow returns the first row of a table.
func HeadRow(names ...string) []Cell {
	row := make([]Cell, len(names))
	for i, name := range names {
		row[i] = Cell{name, Dim}
	}
	return row
}

// PrintList prints a list: an object a line as JSON, or a table for people.
func PrintList[T any](c *Console, list []T, row func(T) []Cell) error {
	var rows [][]Cell
	for _, v := range list {
		if !c.InJSON {
			rows = append(rows, row(v))
		} else if err := c.PrintJSON(v); err != nil {
			return err
		}
	}
	return c.Table(rows)
}

// Table prints rows in columns two blanks apart; the last column is as wide as it wants.
func (c *Console) Table(rows [][]Cell) error {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell.Text))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(c.Paint(cell.Style, cell.Text))
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell.Text)+2))
			}
		}
		c.Put("%s\n", strings.TrimRight(b.String(), " "))
	}
	return c.Failed()
}

// ListOf prints rows, and how many more there are.
func (c *Console) ListOf(rows [][]Cell, more int) error {
	c.PutTable(rows)
	if more > 0 {
		c.Put("... (+%d more)\n", more)
	}
	return c.Failed()
}

// SummaryWidth is how many characters of a summary a list shows.
const SummaryWidth = 72

// Line makes text that users wrote safe to print: one line, nothing invisible.
func Line(s string) string { return text.EscapeLine(s) }

// Word makes of the type of a node or an edge one safe word, since other parts of a line follow it.
func Word(s string) string { return text.EscapeWord(s) }

// Brief is the beginning of text in one safe line of at most width characters.
func Brief(s string, width int) string { return plain.Brief(s, width) }

// Plural is "1 node", "2 nodes".
func Plural(n int, what string) string { return plain.Plural(n, what) }

// ShortCID is as much of a CID as tells commits apart for people: it names a revision.
func ShortCID(c ipld.CID) string {
	const prefix, digits = len("bafyrei"), 12
	s := c.String()
	if len(s) < prefix+digits {
		return "(none)"
	}
	return s[prefix : prefix+digits]
}

// Commit is a commit as answers name it.
func (c *Console) Commit(at ipld.CID) string { return c.Paint(Yellow, ShortCID(at)) }

// At is the place of a new commit.
func (c *Console) At(branch string, at ipld.CID) string {
	return "[" + c.Paint(Cyan, Line(branch)) + " " + c.Commit(at) + "]"
}

// CountsLine is how people read counts: "+2 ~1 -0 nodes".
func (c *Console) CountsLine(n state.Counts, what string) string {
	part := func(style, sign string, n int) string {
		if n == 0 {
			style = Dim
		}
		return c.Paint(style, fmt.Sprintf("%s%d", sign, n))
	}
	return part(Green, "+", n.Added) + " " + part(Yellow, "~", n.Changed) + " " + part(Red, "-", n.Removed) + " " + what
}

// Changes are the counts of nodes and of edges.
func (c *Console) Changes(nodes, edges state.Counts) string {
	return c.CountsLine(nodes, "nodes") + ", " + c.CountsLine(edges, "edges")
}

// JoinText joins what is not empty.
func JoinText(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "  ")
}
