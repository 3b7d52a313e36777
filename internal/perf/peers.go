package perf

import "fmt"

// peer is a figure that is published of other software which answers the same kind of question.
type peer struct {
	name, what, value, source string
}

// published are figures that others give. None was measured again: machines, models and memories differ.
var published = []peer{
	{name: "Mem0", what: "search, 95th percentile", value: "200 ms", source: zepPost},
	{name: "Mem0 with its graph", what: "search, 95th percentile", value: "657 ms", source: zepPost},
	{name: "Zep", what: "search, 95th percentile, several at a time", value: "632 ms", source: zepPost},
}

const zepPost = "[Zep, May 2025](https://blog.getzep.com/" +
	"lies-damn-lies-statistics-is-mem0-really-sota-in-agent-memory/), hosted services, conversations of LoCoMo"

// peers writes figures of others: the yardsticks of this run, which are measured, and what is published.
func (w *markdown) peers() {
	w.b.WriteString("### Others\n\nWhat other programs take, measured in the same run or published elsewhere." +
		"\n\n| | nodes | what | time | | source |\n|---|---:|---|---:|---|---|\n")
	row := func(f *Figure, nodes string) {
		if f.Yardstick == nil || f.Unit != Nanoseconds || f.Yardstick.Name == "" {
			return
		}
		fmt.Fprintf(&w.b, "| %s | %s | beside %s | %s | measured | this run |\n", f.Yardstick.Name, nodes, f.Name,
			f.Unit.text(f.Yardstick.Median))
	}
	if len(w.r.Figures) > 0 {
		row(&w.r.Figures[0], "")
	}
	for _, name := range Names() {
		for i, f := range w.names(name) {
			if i > 0 { // the others of a group have the same yardstick
				break
			}
			for _, s := range w.r.Sizes {
				at := s.figure(f)
				row(&at, grouped(int64(s.Nodes)))
			}
		}
	}
	for _, p := range published {
		fmt.Fprintf(&w.b, "| %s | | %s | %s | published | %s |\n", p.name, p.what, p.value, p.source)
	}
	w.b.WriteString("\n")
}
