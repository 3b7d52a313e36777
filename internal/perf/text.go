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

// cells are the columns of a figure.
func (f *Figure) cells() row {
	if f.Runs == 0 {
		return row{f.Name, "not measured: " + f.Why, "", "", "", "", "", ""}
	}
	r := row{f.Name, f.Unit.text(f.Median), "", "", strconv.Itoa(f.Runs), "", "", f.Bound.text(f.Unit)}
	if f.Runs > 1 {
		r[2] = f.Unit.text(f.Low) + " – " + f.Unit.text(f.High)
	}
	if f.Runs >= 20 {
		r[3] = f.Unit.text(f.P99)
	}
	if f.Yardstick != nil {
		r[5] = f.Yardstick.Name + ": " + f.Unit.text(f.Yardstick.Median)
		r[6] = strconv.FormatFloat(f.Times(), 'f', 2, 64)
	}
	if !f.Kept() {
		r[7] += " OVER"
	}
	return r
}

// groups calls fn with each run of figures of one group.
func groups(list []Figure, fn func(group string, list []Figure)) {
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].Group == list[0].Group {
			n++
		}
		fn(list[0].Group, list[:n])
		list = list[n:]
	}
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
	fmt.Fprintf(&b, "%s\nseed %d, %d runs\n", r.Machine.Line(), r.Options.Seed, r.Options.Runs)
	if len(r.Figures) > 0 {
		b.WriteString("\nwhole processes\n")
		writeTable(&b, r.Figures)
	}
	for _, s := range r.Sizes {
		fmt.Fprintf(&b, "\n%s\n", s.Line(r.Options.Dims))
		writeTable(&b, s.Figures)
	}
	return b.String()
}

func writeTable(b *strings.Builder, figures []Figure) {
	rows := []row{heads()}
	for i := range figures {
		rows = append(rows, figures[i].cells())
	}
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
