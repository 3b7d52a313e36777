package cli

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mnem-project/mnem/internal/evaluate"
	"github.com/mnem-project/mnem/retrieve"
)

const (
	// benchDecimals is how exactly people are told a figure, figureDecimals how exactly programs.
	benchDecimals  = 3
	figureDecimals = 4
	// figureOne is the figure 1.0 in the units in which reports are compared.
	figureOne = 10_000
)

// benchReport is what bench eval prints.
type benchReport struct {
	*evaluate.Report
	opt      *benchOptions
	base     retrieve.Request
	compared *baselineDiff // nil without a baseline
}

// rows returns what was asked for: all queries, and by category.
func (r *benchReport) rows() []evaluate.Row {
	rows := []evaluate.Row{r.All}
	if r.opt.by != "" {
		rows = append(rows, r.Categories...)
	}
	return rows
}

// settings returns the flags that select, rank and print, with the values that held.
func (r *benchReport) settings() map[string]string {
	set := make(map[string]string)
	for _, f := range r.opt.settings {
		if v := f.Value.String(); v != "" && v != "[]" {
			set[f.Name] = v
		}
	}
	name, err := r.opt.profiles.Choose(r.base.Profile, r.base.Types)
	if err == nil && name != retrieve.DefaultProfile {
		set["profile"] = name
	}
	profile, _, _ := r.opt.profiles.Get(name)
	for _, e := range profile.Params { // unless a flag says otherwise
		if f := r.opt.flag(flagOf(e.Key)); f != nil && !f.Changed && e.Key != "limit" && e.Key != "budget" {
			set[f.Name] = paramText(e)
		}
	}
	r.opt.models.settings(set)
	if n := r.base.SummaryCap; n != nil { // the environment has a say
		set["summary-cap"] = intText(*n)
	}
	return set
}

// flag returns one of the settings, nil for none.
func (o *benchOptions) flag(name string) *pflag.Flag {
	for _, f := range o.settings {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// benchFileJSON is a pair of files.
type benchFileJSON struct {
	Name      string  `json:"name"`
	Graph     *string `json:"graph"`
	Nodes     int     `json:"nodes"`
	Edges     int     `json:"edges"`
	Queries   int     `json:"queries"`
	Questions string  `json:"questions"` // sha256 of the query file
}

func jsonBenchFiles(list []evaluate.File) []benchFileJSON {
	files := make([]benchFileJSON, len(list))
	for i, f := range list {
		files[i] = benchFileJSON{f.Name, jsonCID(f.Graph), f.Nodes, f.Edges, f.Queries, f.Questions}
	}
	return files
}

func (c *cli) printBenchJSON(r *benchReport) error {
	engine := retrieve.CurrentEngine()
	out := c.stream()
	out.field("ranking", engine.Ranking)
	out.field("analyser", engine.Analyser)
	out.field("settings", r.settings())
	out.field("files", jsonBenchFiles(r.Files))
	out.list("rows")
	for _, row := range r.rows() {
		out.comma()
		out.open("{")
		out.field(firstOf(r.opt.by, string(evaluate.ByCategory)), orNull(row.Category))
		out.field("queries", row.Queries)
		for m := range evaluate.MetricCount {
			out.field(m.Name(), jsonFigure(row.Text(m, figureDecimals)))
		}
		out.close("}")
	}
	out.endList()
	if r.opt.models.c.failures != nil {
		out.field("failures", r.opt.models.json())
	}
	if r.compared != nil {
		out.field("baseline", r.compared.json())
	}
	return out.end()
}

// jsonFigure is a number with all its decimals, null for none.
func jsonFigure(text string) *json.Number {
	if text == "" {
		return nil
	}
	return new(json.Number(text))
}

func (c *cli) printBench(r *benchReport) error {
	table := [][]cell{benchHead(r.All, r.opt.by)}
	for _, row := range r.rows() {
		cells := []cell{{firstOf(line(row.Category), "all"), styleBold}, {intText(row.Queries), ""}}
		for _, m := range shownMetrics(r.All) {
			cells = append(cells, cell{firstOf(row.Text(m, benchDecimals), "-"), ""})
		}
		table = append(table, cells)
		if r.compared != nil {
			table = append(table, r.compared.cells(r.All, row.Category)...)
		}
	}
	if err := c.table(table); err != nil {
		return err
	}
	if err := c.out.Flush(); err != nil { // the summary comes after what it sums up
		return err
	}
	c.remark("%s", benchSummary(r))
	return nil
}

func benchHead(all evaluate.Row, by string) []cell {
	what := "category"
	if by != string(evaluate.ByCategory) {
		what = firstOf(by, what)
	}
	head := []cell{{what, styleDim}, {"queries", styleDim}}
	for _, m := range shownMetrics(all) {
		head = append(head, cell{m.String(), styleDim})
	}
	return head
}

// shownMetrics returns the metrics that any query has.
func shownMetrics(all evaluate.Row) []evaluate.Metric {
	var shown []evaluate.Metric
	for m := range evaluate.MetricCount {
		if all.Means[m] != nil {
			shown = append(shown, m)
		}
	}
	return shown
}

func benchSummary(r *benchReport) string {
	nodes, edges := 0, 0
	for _, f := range r.Files {
		nodes += f.Nodes
		edges += f.Edges
	}
	base := r.base.Resolve()
	parts := []string{
		plural(len(r.Files), "pair") + " of files", plural(nodes, "node"), plural(edges, "edge"),
		fmt.Sprintf("limit %d", *base.Limit), fmt.Sprintf("budget %d", *base.Budget),
		"expand " + r.settings()["expand"],
	}
	if name := r.settings()["profile"]; name != "" {
		parts = append(parts, "profile "+line(name))
	}
	if base.Expansion != retrieve.Lend {
		parts = append(parts, "expansion "+string(base.Expansion))
	}
	parts = append(parts, r.opt.models.summary(r.All.Queries)...)
	if r.compared != nil {
		verdict := "no worse than the baseline"
		if len(r.compared.worse) > 0 {
			names := make([]string, len(r.compared.worse))
			for i, m := range r.compared.worse {
				names[i] = m.String()
			}
			verdict = "worse than the baseline: " + strings.Join(names, ", ")
		}
		parts = append(parts, verdict)
	}
	return strings.Join(parts, ", ")
}

func intText(n int) string { return strconv.Itoa(n) }
