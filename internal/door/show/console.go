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
	"github.com/mnem-project/mnem/internal/verb/operation"
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

const mostShown = 32 << 20

// Fields prints any answer by the names that its JSON form has: what it says itself as names and values, then each list
// of objects as a table under its name. What is null, empty, false or 0 is left out.
func Fields(c *Console, answer any) error {
	v, _, err := verb.Answer{Of: answer}.Value(mostShown)
	if err != nil {
		return err
	}
	var pairs [][]Cell
	var tables []operation.Member
	gatherFields(&pairs, &tables, "", v)
	c.PutTable(pairs)
	for _, t := range tables {
		c.Put("%s\n", c.Paint(Bold, Line(t.Name)))
		c.PutTable(tableOf(t.Value.Items))
	}
	return c.Failed()
}

// FieldRow is one answer of many as the row of a table.
func FieldRow(_ *Console, answer any) []Cell {
	v, _, err := verb.Answer{Of: answer}.Value(mostShown)
	if err != nil {
		return nil
	}
	var row []Cell
	for _, m := range v.Members {
		row = append(row, fieldCell(m.Value, true))
	}
	return row
}

// gatherFields adds the pairs and the tables of an object, whose names come after that of the object.
func gatherFields(pairs *[][]Cell, tables *[]operation.Member, of string, v operation.Value) {
	for _, m := range v.Members {
		name := of + m.Name
		switch {
		case strings.HasPrefix(m.Name, "_"), saysNothing(m.Value):
		case m.Value.Kind == '{':
			gatherFields(pairs, tables, name+" ", m.Value)
		case m.Value.Kind == '[' && m.Value.Items[0].Kind == '{':
			*tables = append(*tables, operation.Member{Name: name, Value: m.Value})
		default:
			*pairs = append(*pairs, []Cell{{Line(name), Bold}, fieldCell(m.Value, false)})
		}
	}
}

// saysNothing reports whether a value need not be printed.
func saysNothing(v operation.Value) bool {
	switch v.Kind {
	case '{':
		return len(v.Members) == 0
	case '[':
		return len(v.Items) == 0
	case '"':
		return v.Text == ""
	}
	return v.Text == "null" || v.Text == "false" || v.Text == "0"
}

// tableOf returns a table of objects, with a column for each name that one of them has a value of.
func tableOf(items []operation.Value) [][]Cell {
	var names []string
	said := map[string]bool{}
	for _, item := range items {
		for _, m := range item.Members {
			if _, known := said[m.Name]; !known {
				names = append(names, m.Name)
			}
			said[m.Name] = said[m.Name] || !saysNothing(m.Value)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !said[name] })
	head := make([]Cell, len(names))
	for i, name := range names {
		head[i] = Cell{"  " + Line(name), Dim}
		if i > 0 {
			head[i].Text = Line(name)
		}
	}
	rows := [][]Cell{head}
	for _, item := range items {
		row := make([]Cell, len(names))
		for i, name := range names {
			row[i] = fieldCell(item.Find(name), true)
			if i == 0 {
				row[i].Text = "  " + row[i].Text
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func fieldCell(v operation.Value, short bool) Cell {
	switch v.Kind {
	case '"':
		const cidLen, prefix = 59, "bafyrei"
		switch cid := len(v.Text) == cidLen && strings.HasPrefix(v.Text, "baf"); {
		case cid && short:
			return Cell{v.Text[len(prefix) : len(prefix)+12], Yellow}
		case cid:
			return Cell{v.Text, Yellow}
		case short:
			return Cell{Brief(v.Text, SummaryWidth), ""}
		}
		return Cell{Line(v.Text), ""}
	case '[', '{':
		var parts []string
		for _, item := range v.Items {
			parts = append(parts, fieldCell(item, short).Text)
		}
		for _, m := range v.Members {
			if !saysNothing(m.Value) {
				parts = append(parts, Line(m.Name)+" "+fieldCell(m.Value, short).Text)
			}
		}
		return Cell{strings.Join(parts, ", "), ""}
	}
	return Cell{strings.NewReplacer("null", "", "true", "yes", "false", "no").Replace(v.Text), ""}
}

// lanes draws the lines between commits, which come newest first, no commit before one of its children. The zero
// value has drawn nothing.
type lanes struct {
	next []ipld.CID // the commit that each lane leads to; undefined for a free one
}

// drawn stands before the lines of one commit.
type drawn struct {
	first string   // before its first line
	moves []string // lanes that begin and end, each before one of the lines that follow
	rest  string   // before the lines after that
}

// Draw places a commit.
func (l *lanes) Draw(c ipld.CID, parents []ipld.CID) drawn {
	at := slices.Index(l.next, c)
	if at < 0 {
		at = l.free(-1)
		l.next[at] = c
	}
	d := drawn{first: l.row(at)}
	l.next[at] = ipld.CID{}
	for i, p := range parents {
		to := slices.Index(l.next, p)
		switch {
		case to > at && i == 0: // the first line of a commit goes straight on, and others come to it
			l.next[at], l.next[to] = p, ipld.CID{}
			d.moves = append(d.moves, l.move(to, at)...)
			continue
		case to >= 0:
		case i == 0:
			l.next[at] = p
			continue
		default:
			to = l.free(at)
		}
		d.moves = append(d.moves, l.move(at, to)...)
		l.next[to] = p
	}
	for len(l.next) > 0 && !l.next[len(l.next)-1].Defined() {
		l.next = l.next[:len(l.next)-1]
	}
	d.rest = l.row(-1)
	return d
}

// free returns a lane that leads nowhere, right of a lane if there is one, and makes one if there is none.
func (l *lanes) free(after int) int {
	for i := after + 1; i < len(l.next); i++ {
		if !l.next[i].Defined() {
			return i
		}
	}
	l.next = append(l.next, ipld.CID{})
	return len(l.next) - 1
}

// row is a line in which lanes go on; the commit is in the lane at, -1 for no lane.
func (l *lanes) row(at int) string {
	var b strings.Builder
	for i, next := range l.next {
		switch {
		case i == at:
			b.WriteString("* ")
		case next.Defined():
			b.WriteString("| ")
		default:
			b.WriteString("  ")
		}
	}
	return b.String()
}

// move draws a line from one lane to another, a column at a time; others go on behind it.
func (l *lanes) move(from, to int) (rows []string) {
	sign, step, gap := byte('\\'), 1, 1
	if to < from {
		sign, step, gap = '/', -1, -1
	}
	for i := from; i != to; i += step {
		row := []byte(l.row(-1))
		row[2*i+gap] = sign
		rows = append(rows, string(row))
	}
	return rows
}

var laneStyles = []string{Red, Green, Yellow, "34", "35", Cyan}

func (c *Console) paintLanes(row string) string {
	if !c.colour() {
		return row
	}
	var b strings.Builder
	for i, r := range row {
		if r == ' ' || r == '*' {
			b.WriteRune(r)
			continue
		}
		b.WriteString(c.Paint(laneStyles[i/2%len(laneStyles)], string(r)))
	}
	return b.String()
}

// PrintBeside prints the lines of a commit, each after its part of the graph.
func (c *Console) PrintBeside(d drawn, text string) error {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for n := 0; n < max(len(lines), 1+len(d.moves)); n++ {
		before, after := d.rest, ""
		switch {
		case n == 0:
			before = d.first
		case n <= len(d.moves):
			before = d.moves[n-1]
		}
		if n < len(lines) {
			after = lines[n]
		}
		if after == "" {
			before = strings.TrimRight(before, " ")
		}
		c.Put("%s%s\n", c.paintLanes(before), after)
	}
	return c.Failed()
}
