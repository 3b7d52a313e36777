package bench

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/evaluate"
	"github.com/mnem-project/mnem/retrieve"
)

// answersRow is a row of figures: over all questions, over those of a kind, over a set or over all others.
type answersRow struct {
	set, kind string
	others    bool
	keep      func(*evaluate.Asked) bool
}

// rowsOf returns the rows of a report: sets, kinds, and all.
func rowsOf(r *evaluate.AnswersReport) (rows []answersRow) {
	for i, set := range r.Sets {
		rows = append(rows, answersRow{set: set.Name, keep: func(q *evaluate.Asked) bool { return q.Set == i }})
	}
	var kinds []string
	for _, q := range r.Questions {
		kinds = append(kinds, q.Kind)
	}
	slices.Sort(kinds)
	for _, kind := range slices.Compact(kinds) {
		rows = append(rows, answersRow{kind: kind, keep: func(q *evaluate.Asked) bool { return q.Kind == kind }})
	}
	return append(rows, answersRow{keep: func(*evaluate.Asked) bool { return true }})
}

// leftOutRows returns for each set of a report the row of the set and that of all others.
func leftOutRows(r *evaluate.AnswersReport) (rows []answersRow) {
	for i, set := range r.Sets {
		rows = append(rows, answersRow{set: set.Name, keep: func(q *evaluate.Asked) bool { return q.Set == i }})
		if len(r.Sets) > 1 {
			rows = append(rows, answersRow{set: set.Name, others: true,
				keep: func(q *evaluate.Asked) bool { return q.Set != i }})
		}
	}
	return rows
}

// rows returns what is printed of a report.
func (o *answersOut) rows(r *evaluate.AnswersReport) []answersRow {
	if o.opt.constant != "" {
		return leftOutRows(r)
	}
	return rowsOf(r)
}

func (row answersRow) questions(r *evaluate.AnswersReport) (n int) {
	for i := range r.Questions {
		if row.keep(&r.Questions[i]) {
			n++
		}
	}
	return n
}

// missed reports whether not all of gold is in the first five items.
func missed(q *evaluate.Asked) bool {
	r5 := q.Scores[evaluate.AnswerRecall5]
	return r5 != nil && r5.Num().Cmp(r5.Denom()) < 0
}

// answersJSON is the answer of answers with --json. Varied stands for rows with --vary.
type answersJSON struct {
	Ranking  int                   `json:"ranking"`
	Analyser int                   `json:"analyser"`
	Settings map[string]string     `json:"settings"`
	Sets     []evaluate.AnswersSet `json:"sets"`
	Rows     []json.RawMessage     `json:"rows,omitempty"`
	Misses   *[]missJSON           `json:"misses,omitempty"`
	Constant string                `json:"constant,omitempty"`
	Varied   []variedJSON          `json:"varied,omitempty"`
	Failures map[string]int        `json:"failures,omitempty"` // of models, if any is asked
}

// missJSON is a question without all of gold in the first five items. An item that is no memory is null.
type missJSON struct {
	Set   string    `json:"set"`
	QID   string    `json:"qid"`
	Kind  string    `json:"kind"`
	Query string    `json:"query"`
	Gold  []string  `json:"gold"`
	Items []*string `json:"items"`
}

type variedJSON struct {
	Value int64             `json:"value"`
	Rows  []json.RawMessage `json:"rows"`
}

func (o *answersOut) json() *answersJSON {
	engine, first := retrieve.CurrentEngine(), o.reports[0]
	out := &answersJSON{
		Ranking: engine.Ranking, Analyser: engine.Analyser, Settings: o.settings(), Sets: first.Sets,
		Constant: o.opt.constant, Failures: o.opt.Models.Failures(),
	}
	for i, r := range o.reports {
		var rows []json.RawMessage
		for _, row := range o.rows(r) {
			rows = append(rows, o.rowJSON(r, row))
		}
		if o.opt.constant == "" {
			out.Rows = rows
		} else {
			out.Varied = append(out.Varied, variedJSON{o.opt.values[i], rows})
		}
	}
	if o.opt.misses {
		out.Misses = new(missesJSON(first))
	}
	return out
}

func (o *answersOut) rowJSON(r *evaluate.AnswersReport, row answersRow) json.RawMessage {
	var out object
	out.add("set", orNull(row.set))
	if o.opt.constant != "" {
		out.add("others", row.others)
	} else {
		out.add("kind", orNull(row.kind))
	}
	out.add("questions", row.questions(r))
	for m := range evaluate.AnswerMetricCount {
		f, text := r.Figure(m, row.keep), ""
		if f != nil {
			text = f.Text(figureDecimals)
		}
		out.add(m.Name(), jsonFigure(text))
	}
	return out.json()
}

func missesJSON(r *evaluate.AnswersReport) []missJSON {
	list := []missJSON{}
	for i := range r.Questions {
		q := &r.Questions[i]
		if !missed(q) {
			continue
		}
		miss := missJSON{r.Sets[q.Set].Name, q.ID, q.Kind, q.Text, q.Gold, []*string{}}
		for _, key := range q.Found {
			miss.Items = append(miss.Items, orNull(key))
		}
		list = append(list, miss)
	}
	return list
}

func (o *answersOut) print(h *reach.Host) error {
	names := []string{"set", "questions"}
	if o.opt.constant != "" {
		names = []string{o.opt.constant, "set", "questions"}
	}
	for m := range evaluate.AnswerMetricCount {
		names = append(names, m.String())
	}
	table := [][]show.Cell{show.HeadRow(names...)}
	for i, r := range o.reports {
		for _, row := range o.rows(r) {
			var cells []show.Cell
			if o.opt.constant != "" {
				cells = append(cells, show.CellOf(strconv.FormatInt(o.opt.values[i], 10), ""))
			}
			table = append(table, append(cells, o.cells(r, row)...))
		}
	}
	if err := h.Table(table); err != nil {
		return err
	}
	if o.opt.misses {
		if err := printMisses(h, o.reports[0]); err != nil {
			return err
		}
	}
	h.Remark("%s", o.summary())
	return nil
}

// cells returns the name of a row and its figures.
func (o *answersOut) cells(r *evaluate.AnswersReport, row answersRow) []show.Cell {
	name, whole := plain.Line(row.set), row.set == "" && row.kind == ""
	switch {
	case row.others:
		name = "  others than " + name
	case row.kind != "":
		name = "  " + plain.Line(row.kind)
	case whole:
		name = "all"
	}
	cells := show.Row(name, show.Bold, strconv.Itoa(row.questions(r)), "")
	for m := range evaluate.AnswerMetricCount {
		text := "-"
		if f := r.Figure(m, row.keep); f != nil {
			text = f.Text(benchDecimals)
			if whole && (m == evaluate.AnswerRecall5 || m == evaluate.AnswerSilent) {
				text += "±" + f.Half(benchDecimals)
			}
		}
		cells = append(cells, show.CellOf(text, ""))
	}
	return cells
}

// missShown is how many items of a missed question people are told.
const missShown = 6

func printMisses(h *reach.Host, r *evaluate.AnswersReport) error {
	rows := [][]show.Cell{show.HeadRow("missed", "kind", "gold", "first items", "question")}
	for _, miss := range missesJSON(r) {
		var items []string
		for _, key := range miss.Items[:min(missShown, len(miss.Items))] {
			items = append(items, *cmp.Or(key, new("-")))
		}
		row := show.Row(plain.Line(miss.Set+" "+miss.QID), show.Bold)
		for _, text := range []string{miss.Kind, strings.Join(miss.Gold, " "), strings.Join(items, " "), miss.Query} {
			row = append(row, show.CellOf(plain.Line(text), ""))
		}
		rows = append(rows, row)
	}
	return h.Table(rows)
}

func (o *answersOut) summary() string {
	memories, questions := 0, 0
	for _, set := range o.reports[0].Sets {
		memories += set.Memories
		questions += set.Questions
	}
	base := o.base.Resolve()
	parts := []string{
		plain.Plural(len(o.reports[0].Sets), "set"), fmt.Sprintf("%d memories", memories),
		plain.Plural(questions, "question"), o.opt.verb, fmt.Sprintf("limit %d", *base.Limit),
		fmt.Sprintf("budget %d", *base.Budget),
	}
	for _, s := range []struct {
		on   bool
		name string
	}{{o.opt.cues, "cues"}, {o.opt.also, "other wordings"}, {o.opt.vectors, "vectors"}} {
		if s.on {
			parts = append(parts, s.name)
		}
	}
	return strings.Join(append(parts, o.opt.Models.Summary(questions*len(o.reports))...), ", ")
}
