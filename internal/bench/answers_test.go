package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// railway is the bundled set.
var railway = filepath.Join("..", "..", "testdata", "answers", "railway")

// figuresPage has the measured tables, each between marks.
var figuresPage = filepath.Join("..", "..", "docs", "internals", "figures.md")

const (
	answersBegin = "<!-- by go test ./internal/bench -run Railway -rewrite -->\n"
	answersEnd   = "<!-- to here -->\n"
)

// railwayRows are the rows of the table, with the flags of each.
var railwayRows = []struct{ name, flags string }{
	{"plain", ""},
	{"other wordings", "--also"},
	{"cues", "--cues"},
	{"cues and other wordings", "--cues --also"},
	{"the same by `mnem retrieve`", "--cues --also --verb retrieve"},
}

// railwayColumns are its figures: names in JSON, of a kind after that. If more is worse, bounds are
// upper bounds.
var railwayColumns = []struct {
	head, figure string
	decimals     int
	worse        bool // whether more is worse
}{
	{"R@1", "r1", 2, false},
	{"R@5", "r5", 2, false},
	{"R@5 of paraphrases", "paraphrase r5", 2, false},
	{"noise items", "noise", 1, true},
	{"tokens printed", "tokens", 0, true},
	{"silent where there is no answer", "silent", 2, false},
	{"muted where there is one", "muted", 2, true},
	{"outdated first", "stale", 2, true},
}

// railwayBounds are the bounds of the figures of each row, in the order of the columns: a change that makes
// answers worse fails. Noise and tokens may grow a little.
var railwayBounds = [][]float64{
	{.7333, .7833, .3333, 1, 60, 1, .5667, 0},
	{.8333, .9166, .7777, .9, 60, 1, .3667, 0},
	{.8333, .9166, .7777, 1.2, 72, 1, .5667, 0},
	{.9666, 1, 1, .8, 60, 1, .2667, 0},
	{.9666, 1, 1, .8, 60, 1, .2667, 0},
}

// measured returns the figures of the bundled set with flags: those of a kind as "KIND NAME".
func measured(t *testing.T, flags string) map[string]string {
	t.Helper()
	w := newWorld(t)
	w.copyIn("railway", railway)
	out, _ := w.bench(0, strings.Fields("answers railway --json "+flags)...)
	var report struct {
		Rows []map[string]json.RawMessage
	}
	must.OK(t, json.Unmarshal([]byte(out), &report))
	figures := make(map[string]string)
	for _, row := range report.Rows {
		if string(row["set"]) != "null" {
			continue
		}
		kind := ""
		if text := string(row["kind"]); text != "null" {
			kind = strings.Trim(text, `"`) + " "
		}
		for name, v := range row {
			figures[kind+name] = string(v)
		}
	}
	return figures
}

// TestRailway measures the bundled set by the command: no figure is worse than its bound, and the table in the
// docs has the figures of the command.
func TestRailway(t *testing.T) {
	effort.Alone(t)
	var table strings.Builder
	table.WriteString("| |")
	for _, c := range railwayColumns {
		table.WriteString(" " + c.head + " |")
	}
	table.WriteString("\n|---|" + strings.Repeat("---|", len(railwayColumns)) + "\n")
	for i, row := range railwayRows {
		figures := measured(t, row.flags)
		fmt.Fprintf(&table, "| %s |", row.name)
		for j, c := range railwayColumns {
			x := must.Get(strconv.ParseFloat(figures[c.figure], 64))(t, row.name, ": ", c.figure)
			bound := railwayBounds[i][j]
			if c.worse && x > bound || !c.worse && x < bound {
				t.Errorf("%s: %s is %g, worse than %g", row.name, c.figure, x, bound)
			}
			text := strconv.FormatFloat(x, 'f', c.decimals, 64)
			if c.decimals == 2 && strings.HasPrefix(text, "0.") {
				text = text[1:]
			}
			table.WriteString(" " + text + " |")
		}
		table.WriteString("\n")
	}
	keepTable(t, figuresPage, answersBegin, table.String())
}

// keepTable compares a table of a page with the expected one, or writes it.
func keepTable(t *testing.T, file, begin, table string) {
	t.Helper()
	page := must.Get(os.ReadFile(file))(t)
	before, rest, begins := strings.Cut(strings.ReplaceAll(string(page), "\r\n", "\n"), begin)
	have, after, ends := strings.Cut(rest, answersEnd)
	must.Require(t, begins && ends, "%s has no %q and %q", file, begin, answersEnd)
	if *rewrite {
		must.OK(t, os.WriteFile(file, []byte(before+begin+table+answersEnd+after), 0o644))
		have = table
	}
	must.Same(t, have, table, file, " is out of date: run this test with -rewrite")
}
