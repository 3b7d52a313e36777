package perf

import (
	"fmt"
	"strconv"
	"strings"
)

// row is a line of a table.
type row []string

// heads are the columns of the table of one size.
func heads() row {
	return row{"what", "median", "quartiles", "p99", "runs", "yardstick", "×", "bound"}
}

// manySamples is from how many on a 99th percentile is worth telling.
const manySamples = 20

// cells are the columns of a figure.
func (f *Figure) cells() row {
	if f.Runs == 0 {
		return row{f.Name, "not measured: " + f.Why, "", "", "", "", "", ""}
	}
	r := row{f.Name, f.Unit.text(f.Median), "", "", strconv.Itoa(f.Runs), "", "", f.Bound.text(f.Unit)}
	if f.Runs > 1 {
		r[2] = f.Unit.text(f.Low) + " – " + f.Unit.text(f.High)
	}
	if f.Runs >= manySamples {
		r[3] = f.Unit.text(f.P99)
	}
	if f.Yardstick != nil {
		r[5] = f.Yardstick.Name + ": " + f.Unit.text(f.Yardstick.Median)
		r[6] = strconv.FormatFloat(f.Times(), 'f', 2, 64)
	}
	if f.Over {
		r[7] += " OVER"
	}
	return r
}

// Line says which machine it was.
func (m Machine) Line() string {
	cpu := m.CPU
	if cpu == "" {
		cpu = "CPU not known"
	}
	return fmt.Sprintf("%s, %d cores, %s/%s, %s", cpu, m.CPUs, m.OS, m.Arch, m.Go)
}

// Line says what a memory was like.
func (s *Size) Line(dims int) string {
	out := grouped(int64(s.Nodes)) + " nodes, " + grouped(int64(s.Edges)) + " edges"
	if dims > 0 {
		out += fmt.Sprintf(", vectors of %d dimensions", dims)
	}
	return out
}

// Text is the report as people read it on a terminal.
func (r *Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nseed %d, %d runs\n", r.Machine.Line(), r.Seed, r.Runs)
	if len(r.Figures) > 0 {
		b.WriteString("\nwhole processes\n")
		writeTable(&b, r.Figures)
	}
	for _, s := range r.Sizes {
		fmt.Fprintf(&b, "\n%s\n", s.Line(r.Dims))
		writeTable(&b, s.Figures)
		writeSlices(&b, s.Slices)
	}
	for _, text := range r.Remarks {
		fmt.Fprintf(&b, "\n%s\n", text)
	}
	return b.String()
}

// writeSlices writes what commits in a row cost along the way.
func writeSlices(b *strings.Builder, list []Slice) {
	if len(list) == 0 {
		return
	}
	b.WriteString("\n")
	rows, done := []row{{"commits in a row", "time of one", "p99", "bytes", "blocks", ""}}, 0
	for _, s := range list {
		done += s.Commits
		rows = append(rows, row{"up to " + grouped(int64(done)), Nanoseconds.text(s.Time.Median),
			Nanoseconds.text(s.Time.P99), Bytes.text(s.Bytes), grouped(s.Blocks), ""})
	}
	writeRows(b, rows)
}

func writeTable(b *strings.Builder, figures []Figure) {
	rows := []row{heads()}
	for i := range figures {
		rows = append(rows, figures[i].cells())
	}
	writeRows(b, rows)
}

// writeRows aligns columns: words to the left, numbers to the right.
func writeRows(b *strings.Builder, rows []row) {
	widths := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, cell := range r {
			if !strings.HasPrefix(cell, "not measured") {
				widths[i] = max(widths[i], len([]rune(cell)))
			}
		}
	}
	for _, r := range rows {
		var line strings.Builder
		for i, cell := range r {
			pad := strings.Repeat(" ", max(0, widths[i]-len([]rune(cell))))
			switch {
			case i == 0 || i == 5 || i == len(r)-1: // words
				line.WriteString(cell + pad + "  ")
			default:
				line.WriteString(pad + cell + "  ")
			}
		}
		b.WriteString("  " + strings.TrimRight(line.String(), " ") + "\n")
	}
}
