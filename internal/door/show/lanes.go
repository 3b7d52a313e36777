package show

import (
	"slices"
	"strings"

	"github.com/mnem-project/mnem/ipld"
)

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
