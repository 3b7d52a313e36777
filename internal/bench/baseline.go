package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/evaluate"
)

// maxBaseline is the longest report that is compared with, in bytes.
const maxBaseline = 16 << 20

// baseline holds the parts of an earlier report that are compared.
type baseline struct {
	Files    []fileJSON        `json:"files"`
	Rows     []json.RawMessage `json:"rows"`
	Settings map[string]string `json:"settings"`

	now     graph.OptTime      // from which the dates of its questions count, if one has any
	figures map[string]figures // by category, "" for all
}

// figures are the means of one row in units of 1/figureOne; a metric that is not there is absent.
type figures map[evaluate.Metric]int

// baselineDiff tells how a report differs from an earlier one.
type baselineDiff struct {
	tolerance int
	changes   []rowChange
	worse     []evaluate.Metric // over all queries, those that are worse beyond the tolerance
}

// rowChange is how the figures of one category changed.
type rowChange struct {
	category string
	change   figures
}

var errFigure = errors.New("want a number from 0 to 1 with at most 4 decimals")

// parseFigure reads a number in units of 1/figureOne.
func parseFigure(s string) (int, error) {
	whole, decimals, point := strings.Cut(s, ".")
	if whole != "0" && whole != "1" || point && decimals == "" || len(decimals) > figureDecimals {
		return 0, errFigure
	}
	n, err := strconv.ParseUint(decimals+strings.Repeat("0", figureDecimals-len(decimals)), 10, 32)
	if whole == "1" {
		n += figureOne
	}
	if err != nil || n > figureOne {
		return 0, errFigure
	}
	return int(n), nil
}

// figureText is a difference of figures with its sign.
func figureText(n int) string {
	sign := "+"
	if n < 0 {
		sign, n = "-", -n
	}
	return fmt.Sprintf("%s%d.%0*d", sign, n/figureOne, figureDecimals, n%figureOne)
}

// readBaseline reads what bench eval printed with --json. Members that it does not know may be
// there: a later release may have made it.
func readBaseline(ctx context.Context, h *reach.Host, path string) (*baseline, error) {
	in, file, err := h.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }() // only read from
	data, err := io.ReadAll(io.LimitReader(in, maxBaseline+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxBaseline {
		return nil, graph.Fieldf(file, "more than %d bytes: no report", maxBaseline)
	}
	b := &baseline{}
	if err = json.Unmarshal(data, b); err == nil {
		err = b.readRows()
	}
	if at := b.Settings["now"]; err == nil && at != "" {
		b.now.Given = true
		if b.now.Time, err = graph.ParseTime(at); err != nil {
			err = fmt.Errorf("settings: now: %w", err)
		}
	}
	if err != nil {
		return nil, reach.Hint(graph.Fieldf(file, "not a report of 'mnem-bench eval --json': %v", err),
			"make one with 'mnem-bench eval DIR --json >FILE'")
	}
	return b, nil
}

func (b *baseline) readRows() error {
	b.figures = make(map[string]figures)
	for i, raw := range b.Rows {
		members := make(map[string]json.RawMessage)
		if err := json.Unmarshal(raw, &members); err != nil {
			return fmt.Errorf("row %d: %w", i+1, err)
		}
		var category string
		if err := json.Unmarshal(members["cat"], &category); err != nil {
			return fmt.Errorf("row %d: cat: %w", i+1, err)
		}
		row := make(figures)
		for m := range evaluate.MetricCount {
			text, given := members[m.Name()]
			if !given || string(text) == "null" {
				continue
			}
			n, err := parseFigure(string(text))
			if err != nil {
				return fmt.Errorf("row %d: %s: %w", i+1, m.Name(), err)
			}
			row[m] = n
		}
		b.figures[category] = row
	}
	if len(b.figures[""]) == 0 {
		return errors.New("no row over all queries")
	}
	return nil
}

// compare tells how a report differs from the baseline, which must be of the same questions.
func (b *baseline) compare(
	file string, r *evaluate.Report, tolerance int,
) (*baselineDiff, error) {
	if err := b.sameQuestions(r); err != nil {
		return nil, reach.Hint(graph.Fieldf(file, "%v", err),
			"measure the same files as the baseline, or make a new one with --json")
	}
	c := &baselineDiff{tolerance: tolerance}
	for i, row := range append([]evaluate.Row{r.All}, r.Categories...) {
		before, there := b.figures[row.Category]
		if !there {
			continue
		}
		change := make(figures)
		for m, n := range before {
			now, err := parseFigure(row.Text(m, figureDecimals))
			if err != nil {
				continue // no query has it
			}
			change[m] = now - n
		}
		c.changes = append(c.changes, rowChange{row.Category, change})
		for m := range evaluate.MetricCount {
			if i == 0 && change[m] < -tolerance {
				c.worse = append(c.worse, m)
			}
		}
	}
	return c, nil
}

func (b *baseline) sameQuestions(r *evaluate.Report) error {
	before := make(map[string]string)
	for _, f := range b.Files {
		before[f.Name] = f.Questions
	}
	for _, f := range r.Files {
		was, there := before[f.Name]
		switch {
		case !there:
			return fmt.Errorf("the baseline is not of %q", f.Name)
		case was != f.Questions:
			return fmt.Errorf("the questions of %q were others", f.Name)
		}
		delete(before, f.Name)
	}
	for _, f := range b.Files {
		if _, left := before[f.Name]; left {
			return fmt.Errorf("the baseline is of %q too", f.Name)
		}
	}
	return nil
}

// cells returns the row of a table that tells how a category changed, if that is known.
func (d *baselineDiff) cells(all evaluate.Row, category string) [][]show.Cell {
	for _, row := range d.changes {
		if row.category != category {
			continue
		}
		cells := show.Row("  change", show.Dim, "", "")
		for _, m := range shownMetrics(all) {
			n, given := row.change[m]
			switch {
			case !given:
				cells = append(cells, show.CellOf("-", ""))
			case n < -d.tolerance:
				cells = append(cells, show.CellOf(figureText(n), show.Red))
			case n > 0:
				cells = append(cells, show.CellOf(figureText(n), show.Green))
			default:
				cells = append(cells, show.CellOf(figureText(n), ""))
			}
		}
		return [][]show.Cell{cells}
	}
	return nil
}

// json returns the comparison as the reports have it. Numbers in JSON have no plus sign.
func (d *baselineDiff) json() map[string]any {
	worse := []string{}
	for _, m := range d.worse {
		worse = append(worse, m.Name())
	}
	rows := []map[string]any{}
	for _, row := range d.changes {
		out := map[string]any{"cat": orNull(row.category)}
		for m := range evaluate.MetricCount {
			out[m.Name()] = nil
			if n, given := row.change[m]; given {
				out[m.Name()] = json.Number(strings.TrimPrefix(figureText(n), "+"))
			}
		}
		rows = append(rows, out)
	}
	return map[string]any{
		"tolerance": json.Number(strings.TrimPrefix(figureText(d.tolerance), "+")),
		"worse":     worse, "rows": rows,
	}
}
