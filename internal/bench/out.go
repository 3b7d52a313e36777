package bench

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/evaluate"
	"github.com/mnem-project/mnem/internal/model"
	"github.com/mnem-project/mnem/retrieve"
)

const (
	// benchDecimals is how exactly people are told a figure, figureDecimals how exactly programs.
	benchDecimals  = 3
	figureDecimals = 4
)

type evalReport struct {
	*evaluate.Report
	opt  *evalOptions
	base retrieve.Request
}

func (r *evalReport) rows() []evaluate.Row {
	rows := []evaluate.Row{r.All}
	if r.opt.by != "" {
		rows = append(rows, r.Categories...)
	}
	return rows
}

func (r *evalReport) settings() map[string]string { return r.opt.Settings(r.base) }

type reportJSON struct {
	Ranking  int                 `json:"ranking"`
	Analyser int                 `json:"analyser"`
	Settings map[string]string   `json:"settings"`
	Files    []evaluate.FilePair `json:"files"`
	Rows     []json.RawMessage   `json:"rows"`
	Failures map[string]int      `json:"failures,omitempty"` // of models, if any is asked
}

func (r *evalReport) json() *reportJSON {
	engine := retrieve.CurrentEngine()
	out := &reportJSON{
		Ranking: engine.Ranking, Analyser: engine.Analyser, Settings: r.settings(),
		Files: r.Files, Rows: []json.RawMessage{}, Failures: r.opt.Models.Failures(),
	}
	for _, row := range r.rows() {
		out.Rows = append(out.Rows, rowJSON(r.opt.by, row))
	}
	return out
}

// rowJSON is an object whose first member is called as rows are told apart by.
func rowJSON(by string, row evaluate.Row) json.RawMessage {
	var o object
	o.add(cmp.Or(by, string(evaluate.ByCategory)), orNull(row.Category))
	o.add("queries", row.Queries)
	for m := range evaluate.MetricCount {
		o.add(m.Name(), jsonFigure(row.Text(m, figureDecimals)))
	}
	return o.json()
}

// object writes a JSON object whose members are in the order in which they were added.
type object struct{ b bytes.Buffer }

func (o *object) add(name string, v any) {
	if o.b.Len() > 0 {
		o.b.WriteByte(',')
	}
	data, _ := model.Marshal(v) // strings, numbers and lists of them always have a JSON form
	fmt.Fprintf(&o.b, "%q:%s", name, bytes.TrimSpace(data))
}

func (o *object) json() json.RawMessage { return json.RawMessage("{" + o.b.String() + "}") }

// jsonFigure is a number with all its decimals, null for none.
func jsonFigure(text string) *json.Number {
	if text == "" {
		return nil
	}
	return new(json.Number(text))
}

func (r *evalReport) print(h *reach.Host) error {
	table := [][]show.Cell{evalHead(r.All, r.opt.by)}
	for _, row := range r.rows() {
		cells := show.Row(cmp.Or(plain.Line(row.Category), "all"), show.Bold, strconv.Itoa(row.Queries), "")
		for _, m := range shownMetrics(r.All) {
			cells = append(cells, show.CellOf(cmp.Or(row.Text(m, benchDecimals), "-"), ""))
		}
		table = append(table, cells)
	}
	if err := h.Table(table); err != nil { // the summary comes after what it sums up
		return err
	}
	h.Remark("%s", evalSummary(r))
	return nil
}

func evalHead(all evaluate.Row, by string) []show.Cell {
	what := "category"
	if by != string(evaluate.ByCategory) {
		what = cmp.Or(by, what)
	}
	names := []string{what, "queries"}
	for _, m := range shownMetrics(all) {
		names = append(names, m.String())
	}
	return show.HeadRow(names...)
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

func evalSummary(r *evalReport) string {
	nodes, edges := 0, 0
	for _, f := range r.Files {
		nodes += f.Nodes
		edges += f.Edges
	}
	base := r.base.Resolve()
	parts := []string{
		plain.Plural(len(r.Files), "pair") + " of files", plain.Plural(nodes, "node"), plain.Plural(edges, "edge"),
		fmt.Sprintf("limit %d", *base.Limit), fmt.Sprintf("budget %d", *base.Budget),
		"expand " + r.settings()["expand"],
	}
	if name := r.settings()["profile"]; name != "" {
		parts = append(parts, "profile "+plain.Line(name))
	}
	if base.Expansion != retrieve.Lend {
		parts = append(parts, "expansion "+string(base.Expansion))
	}
	parts = append(parts, r.opt.Models.Summary(r.All.Queries)...)
	return strings.Join(parts, ", ")
}

// orNull is nil, JSON's null, for the empty string.
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
