package perf

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// What a report is written between.
const (
	BeginMark = "<!-- written by mnem-bench perf: begin -->"
	EndMark   = "<!-- written by mnem-bench perf: end -->"
)

// NewPage is a page without a report yet.
const NewPage = "# Performance\n\n" + BeginMark + "\n" + EndMark + "\n"

// Splice puts a section between the marks of a page.
func Splice(page, section string) (string, error) {
	before, rest, ok := strings.Cut(page, BeginMark)
	_, after, ended := strings.Cut(rest, EndMark)
	if !ok || !ended || strings.Contains(after, BeginMark) {
		return "", fmt.Errorf("want the lines %q and %q once each, in this order", BeginMark, EndMark)
	}
	return before + BeginMark + "\n" + section + EndMark + after, nil
}

// File is a file beside the page.
type File struct{ Name, Text string }

// Markdown returns the report as a section of a page, and the charts it shows, whose names begin with
// stem.
func (r *Report) Markdown(stem string) (section string, charts []File) {
	w := markdown{r: r, stem: stem}
	fmt.Fprintf(&w.b, "\n%s. Seed %d, %d runs", r.Machine.Line(), r.Seed, r.Runs)
	if r.Dims > 0 {
		fmt.Fprintf(&w.b, ", vectors of %d dimensions", r.Dims)
	}
	if r.Hub > 0 {
		fmt.Fprintf(&w.b, ", at most %s more edges to one node", grouped(int64(r.Hub)))
	}
	w.b.WriteString(". A cell is the median, the 99th percentile where there are enough samples, and " +
		"in brackets how often it is its yardstick. Bold is over its bound. *Growth* is x where the " +
		"cost follows n^x from the smallest to the largest memory: 0 is independent of size, 1 in " +
		"proportion.\n\n")
	w.aims()
	w.peers()
	if len(r.Figures) > 0 {
		w.table("version", []string{"median"}, [][]Figure{r.Figures})
	}
	for _, name := range Names() {
		w.group(name)
	}
	w.inARow()
	for _, text := range r.Remarks {
		fmt.Fprintf(&w.b, "- %s\n", text)
	}
	return w.b.String(), w.charts
}

type markdown struct {
	r      *Report
	stem   string
	b      strings.Builder
	charts []File
}

// group writes what was measured under one name at all sizes.
func (w *markdown) group(name string) {
	var heads []string
	var columns [][]Figure
	for _, s := range w.r.Sizes {
		heads = append(heads, grouped(int64(s.Nodes))+" nodes")
	}
	names := w.names(name)
	for _, s := range w.r.Sizes {
		list := make([]Figure, len(names))
		for i, f := range names {
			list[i] = s.figure(f)
		}
		columns = append(columns, list)
	}
	if len(names) == 0 {
		return
	}
	w.table(name, heads, columns)
	if len(columns) < 2 {
		return
	}
	for _, u := range []Unit{Nanoseconds, Bytes} {
		w.chart(name, u, columns)
	}
}

// names lists the figures of a group, those of the first size that has some: what differs from size to size
// is in how many of them a figure has a value.
func (w *markdown) names(group string) []Figure {
	for _, s := range w.r.Sizes {
		var list []Figure
		for _, f := range s.Figures {
			if f.Group == group {
				list = append(list, f)
			}
		}
		if len(list) > 0 {
			return list
		}
	}
	return nil
}

// figure is one of this size, without a value where that was left out.
func (s *Size) figure(like Figure) Figure {
	for _, f := range s.Figures {
		if f.Group == like.Group && f.Name == like.Name {
			return f
		}
	}
	return Figure{Group: like.Group, Name: like.Name, Unit: like.Unit}
}

// aims writes each figure that has a bound, at each size that it has one for.
func (w *markdown) aims() {
	w.b.WriteString("### Aims\n\nEvery bound, beside what was measured by the clock and as CPU time. On a machine " +
		"with other work the clock says little: *by CPU time* is what is met if the time of the processors is " +
		"compared with the bound.\n\n| | nodes | aim | by the clock | CPU | |\n|---|---:|---|---:|---:|---|\n")
	for i := range w.r.Figures {
		w.aim(&w.r.Figures[i], "", w.r.Figures)
	}
	for _, name := range Names() {
		for _, f := range w.names(name) {
			for _, s := range w.r.Sizes {
				at := s.figure(f)
				w.aim(&at, grouped(int64(s.Nodes)), s.Figures)
			}
		}
	}
	w.b.WriteString("\n")
}

// aim writes one bound, if the figure has one, and whether it or its CPU time among others keeps to it.
func (w *markdown) aim(f *Figure, nodes string, among []Figure) {
	if f.Bound == nil {
		return
	}
	at := slices.IndexFunc(among, func(c Figure) bool { return c.Group == f.Group && c.Name == f.Name+cpuSuffix })
	cpu, met := Figure{}, "**not met**"
	if at >= 0 && among[at].Runs > 0 {
		cpu = among[at]
		cpu.Bound = f.Bound
	}
	switch {
	case f.Runs == 0:
		met = ""
	case !f.Over:
		met = "met"
	case cpu.Runs > 0 && !cpu.judged().Over:
		met = "by CPU time"
	}
	aim, spent := f.Bound.text(f.Unit), ""
	if f.Yardstick != nil && f.Bound.Times > 0 {
		aim += " of what it takes: " + f.Yardstick.Name
	}
	if cpu.Runs > 0 {
		cpu.Over = false
		spent = cpu.cell()
	}
	plain := *f
	plain.Over = false
	fmt.Fprintf(&w.b, "| %s: %s | %s | %s | %s | %s | %s |\n", f.Group, f.Name, nodes, aim, plain.cell(), spent, met)
}

func (w *markdown) table(name string, heads []string, columns [][]Figure) {
	what := Describe(name)
	fmt.Fprintf(&w.b, "### %s\n\n%s.\n\n", strings.ToUpper(name[:1])+name[1:],
		strings.ToUpper(what[:1])+what[1:])
	fmt.Fprintf(&w.b, "| | %s |", strings.Join(heads, " | "))
	rule := "|---|" + strings.Repeat("---:|", len(heads))
	if len(columns) > 1 {
		w.b.WriteString(" growth |")
		rule += "---:|"
	}
	fmt.Fprintf(&w.b, " bound | yardstick |\n%s---|---|\n", rule)
	for i, f := range columns[0] {
		fmt.Fprintf(&w.b, "| %s |", f.Name)
		for _, list := range columns {
			fmt.Fprintf(&w.b, " %s |", list[i].cell())
		}
		if len(columns) > 1 {
			fmt.Fprintf(&w.b, " %s |", growth(w.r.Sizes, columns, i))
		}
		yard := ""
		if f.Yardstick != nil {
			yard = f.Yardstick.Name
		}
		fmt.Fprintf(&w.b, " %s | %s |\n", boundsOf(columns, i), yard)
	}
	w.b.WriteString("\n")
}

// boundsOf tells the bounds of a figure at all sizes, each once.
func boundsOf(columns [][]Figure, i int) string {
	var list []string
	for _, figures := range columns {
		text := figures[i].Bound.text(figures[i].Unit)
		if text != "" && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return strings.Join(list, "; ")
}

// cell is a figure in one cell.
func (f *Figure) cell() string {
	switch {
	case f.Runs == 0 && f.Why == "":
		return ""
	case f.Runs == 0:
		return "not measured: " + f.Why
	}
	s := f.Unit.text(f.Median)
	if f.Runs >= manySamples && f.Unit == Nanoseconds {
		s += ", p99 " + f.Unit.text(f.P99)
	}
	if f.Yardstick != nil {
		s += " (" + strconv.FormatFloat(f.Times(), 'f', 1, 64) + "×)"
	}
	if f.Over {
		s = "**" + s + "**"
	}
	return s
}

// growth is the exponent of a figure from the first to the last size that it was measured at.
func growth(sizes []*Size, columns [][]Figure, i int) string {
	last := len(columns) - 1
	for last > 0 && columns[last][i].Runs == 0 {
		last--
	}
	a, b := float64(columns[0][i].Median), float64(columns[last][i].Median)
	if a <= 0 || b <= 0 || last == 0 {
		return ""
	}
	n := float64(sizes[last].Nodes) / float64(sizes[0].Nodes)
	return strings.TrimPrefix(strconv.FormatFloat(math.Log(b/a)/math.Log(n), 'f', 2, 64), "+")
}

// chart draws the figures of a group that have a unit over the sizes.
func (w *markdown) chart(name string, u Unit, columns [][]Figure) {
	c := chart{title: name + ": " + map[Unit]string{Nanoseconds: "time", Bytes: "bytes"}[u],
		xName: "nodes", yText: u.tick}
	for i, f := range columns[0] {
		if f.Unit != u {
			continue
		}
		line := curve{name: f.Name}
		for at, list := range columns {
			if list[i].Median > 0 {
				line.points = append(line.points,
					point{float64(w.r.Sizes[at].Nodes), float64(list[i].Median)})
			}
		}
		if len(line.points) > 1 {
			c.curves = append(c.curves, line)
		}
	}
	w.draw(&c, name+"-"+map[Unit]string{Nanoseconds: "time", Bytes: "bytes"}[u])
}

func (w *markdown) draw(c *chart, name string) {
	if len(c.curves) == 0 {
		return
	}
	file := File{w.stem + "-" + name + ".svg", c.svg()}
	w.charts = append(w.charts, file)
	fmt.Fprintf(&w.b, "![%s over %s](%s)\n\n", c.title, c.xName, file.Name)
}

// tick is a power of ten on an axis: bytes are in decimal units there.
func (u Unit) tick(v float64) string {
	if u == Nanoseconds {
		return ticked(v, "ns", "µs", "ms", "s")
	}
	return ticked(v, "B", "kB", "MB", "GB", "TB")
}

func ticked(v float64, units ...string) string {
	at := 0
	for v >= 999.5 && at < len(units)-1 {
		v /= 1000
		at++
	}
	return strconv.FormatFloat(v, 'g', 3, 64) + " " + units[at]
}

// inARow writes what commits in a row cost along the way.
func (w *markdown) inARow() {
	c := chart{title: "one of many commits in a row: time", xName: "commits before",
		yText: Nanoseconds.tick}
	for _, s := range w.r.Sizes {
		if len(s.Slices) == 0 {
			continue
		}
		fmt.Fprintf(&w.b, "Commits of one node in a row, beginning at %s nodes:\n\n"+
			"| commits | time of one | p99 | bytes | blocks |\n|---:|---:|---:|---:|---:|\n",
			grouped(int64(s.Nodes)))
		line, done := curve{name: grouped(int64(s.Nodes)) + " nodes before"}, 0
		for _, part := range s.Slices {
			done += part.Commits
			fmt.Fprintf(&w.b, "| %s | %s | %s | %s | %d |\n", grouped(int64(done)),
				Nanoseconds.text(part.Time.Median), Nanoseconds.text(part.Time.P99),
				Bytes.text(part.Bytes), part.Blocks)
			line.points = append(line.points, point{float64(done), float64(max(1, part.Time.Median))})
		}
		w.b.WriteString("\n")
		c.curves = append(c.curves, line)
	}
	w.draw(&c, "commits-row")
}
