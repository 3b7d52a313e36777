package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/internal/evaluate"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/testdata/demo"
)

func TestParseFigure(t *testing.T) {
	for text, want := range map[string]int{
		"0": 0, "1": 10_000, "0.0": 0, "0.5": 5000, "0.0001": 1, "0.9999": 9999, "1.0000": 10_000,
	} {
		if got, err := parseFigure(text); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", ".", "0.", ".5", "00", "0.00001", "1.0001", "1.1", "2", "-0", "+0", "0.-1", "0.+1", "0,5",
		"1e0", "0x1", " 0", "0.1 ", "NaN", "١", "0.1_0", strings.Repeat("0", 1000), "1e999999999",
	} {
		if got, err := parseFigure(text); err == nil {
			t.Errorf("%q: read as %d", text, got)
		}
	}
	for n, want := range map[int]string{
		0: "+0.0000", 1: "+0.0001", -1: "-0.0001", 10_000: "+1.0000", -10_000: "-1.0000", 333: "+0.0333",
	} {
		if got := figureText(n); got != want {
			t.Errorf("%d printed as %q, want %q", n, got, want)
		}
	}
}

// benchWorld is a directory with the bundled memory and its questions as one pair.
func benchWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	queries, err := os.ReadFile(filepath.Join("..", "..", "testdata", "demo", "queries.jsonl"))
	must.OK(t, err)
	w.write("memory.changes.jsonl", demo.Memory)
	w.write("memory.queries.jsonl", string(queries))
	return w
}

func TestBaselineIsChecked(t *testing.T) {
	effort.Alone(t)
	w := benchWorld(t)
	good, _ := w.bench(0, "eval", ".", "--json")
	change := func(old, new string) string {
		t.Helper()
		if !strings.Contains(good, old) {
			t.Fatalf("no %s in %s", old, good)
		}
		return strings.Replace(good, old, new, 1)
	}
	const figures = `"queries":25,"r5":`
	more := `"files":[{"name":"more","questions":"x"},`
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "unexpected end"},
		{"a number", "7", "cannot unmarshal"},
		{"no rows", `{"files":[],"rows":[]}`, "no row over all queries"},
		{"only a category", `{"files":[],"rows":[{"cat":"x","r5":0.5}]}`, "no row over all queries"},
		{"a row without category", `{"rows":[{"r5":0.5}]}`, "row 1: cat: "},
		{"a row that is none", `{"rows":[7]}`, "row 1: "},
		{"figures as text", change(figures, `"r5":"0.5","x":`), "row 1: r5: want a number"},
		{"figures below", change(figures, `"r5":-0.5,"x":`), "row 1: r5: want a number"},
		{"figures without end", change(figures, `"r5":1e999999999,"x":`), "row 1: r5: want a number"},
		{"two values", good + good, "after top-level value"},
		{"more files", change(`"files":[`, more), `the baseline is of "more" too`},
		{"other files", change(`"name":"memory"`, `"name":"m"`), `the baseline is not of "memory"`},
		{"too long", good + strings.Repeat(" ", maxBaseline), "no report"},
	} {
		w.write("before.json", tt.text)
		stdout, stderr := w.bench(1, "eval", ".", "--baseline", "before.json")
		if stdout != "" || !strings.Contains(stderr, tt.want) ||
			!strings.Contains(stderr, "mnem-bench: before.json: ") {
			t.Errorf("%s: %q, want %q", tt.name, stderr, tt.want)
		}
	}
	w.write("before.json", change(`"rows":`, `"news":{"of":"a later release"},"rows":`))
	w.bench(0, "eval", ".", "--baseline", "before.json")
}

// TestToleranceIsExact moves one figure of a baseline by a ten-thousandth.
func TestToleranceIsExact(t *testing.T) {
	effort.Alone(t)
	w := benchWorld(t)
	good, _ := w.bench(0, "eval", ".", "--json")
	var report struct{ Rows []map[string]json.Number }
	_ = json.Unmarshal([]byte(good), &report) // cat is null; what matters is checked next
	mrr := report.Rows[0][evaluate.MRR.Name()].String()
	now, err := parseFigure(mrr)
	if err != nil || now > figureOne-2 {
		t.Fatalf("MRR %q, %v", mrr, err)
	}
	moved := strings.TrimPrefix(figureText(now+2), "+")
	w.write("before.json", strings.Replace(good, `"mrr":`+mrr, `"mrr":`+moved, 1))
	for tolerance, exit := range map[string]int{"0": 1, "0.0001": 1, "0.0002": 0, "1": 0} {
		out, _ := w.bench(exit, "eval", ".", "--baseline", "before.json", "--tolerance", tolerance)
		if !strings.Contains(out, "-0.0002") {
			t.Errorf("tolerance %s: %q", tolerance, out)
		}
	}
}

// TestBenchAnswersAsRetrieveDoes compares the answers with those from a repository on disk.
func TestBenchAnswersAsRetrieveDoes(t *testing.T) {
	effort.Alone(t)
	w := benchWorld(t)
	before := files(t, w.Dir)
	changes := `{"node":{"key":"d","type":"Note","summary":"the pump failed","created":"2024-05-01"}}` + "\n"
	questions := `{"qid":"dated","text":"did the pump fail last week?","gold":["d"]}` +
		"\n" + `{"qid":"given","text":"did the pump fail last week?","gold":["d"],"now":"2024-05-08"}` + "\n"
	other := newWorld(t)
	for _, to := range []*world{w, other} {
		to.write("dated.changes.jsonl", changes)
		to.write("dated.queries.jsonl", questions)
	}
	before = append([]string{"dated.changes.jsonl", "dated.queries.jsonl"}, before...)
	w.bench(0, "eval", ".", "--results", "results.jsonl")
	if diff := cmp.Diff(append(before, "results.jsonl"), files(t, w.Dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	got, err := os.ReadFile(filepath.Join(w.Dir, "results.jsonl"))
	must.OK(t, err)
	w.run(0, "init")
	other.run(0, "init")
	other.run(0, "commit", "-m", "dated", "dated.changes.jsonl")
	want, _ := other.run(0, "retrieve", "--set", "floor=rest", "--batch", "dated.queries.jsonl", "--limit", "200", "--budget", "0")
	if n := strings.Count(want, `"lane":"time"`); n != 2 {
		t.Errorf("%d answers by dates: %s", n, want)
	}
	w.run(0, "commit", "-m", "memory", "memory.changes.jsonl")
	more, _ := w.run(0, "retrieve", "--set", "floor=rest", "--batch", "memory.queries.jsonl", "--limit", "200", "--budget", "0")
	want += more
	if diff := cmp.Diff(withoutCommits(t, want), withoutCommits(t, string(got))); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

// TestBenchCountsFromOneDay tells which day dates counted from, and counts from the same day where a
// report is compared with an earlier one.
func TestBenchCountsFromOneDay(t *testing.T) {
	w := newWorld(t)
	w.write("a.changes.jsonl", `{"node":{"key":"old","type":"Note","summary":"the pump failed",`+
		`"created":"2024-05-01"}}`+"\n"+`{"node":{"key":"new","type":"Note","summary":"the pump failed",`+
		`"created":"2024-06-26"}}`+"\n")
	w.write("a.queries.jsonl", `{"qid":"q","text":"pump failed last week","gold":["old"]}`+"\n")
	if out, _ := w.bench(0, "eval", ".", "--json"); !strings.Contains(out, `"now":"20`) {
		t.Errorf("the report does not say which day it is: %s", out)
	}
	out, _ := w.bench(0, "eval", ".", "--json", "--now", "2024-05-08")
	if !strings.Contains(out, `"mrr":1.0000`) {
		t.Fatalf("the date was not read: %s", out)
	}
	w.write("before.json", out)
	w.bench(0, "eval", ".", "--baseline", "before.json")
	w.bench(1, "eval", ".", "--baseline", "before.json", "--now", "2024-07-03")
	w.write("before.json", strings.Replace(out, `"now":"2024-05-08"`, `"now":"soon"`, 1))
	if _, stderr := w.bench(1, "eval", ".", "--baseline", "before.json"); !strings.Contains(stderr,
		"settings: now") {
		t.Error(stderr)
	}
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must.OK(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// withoutCommits returns the lines of answers without their commits, which tell who made them.
func withoutCommits(t *testing.T, text string) []string {
	t.Helper()
	var out []string
	for line := range strings.Lines(text) {
		var answer map[string]json.RawMessage
		must.OK(t, json.Unmarshal([]byte(line), &answer))
		delete(answer, "commit")
		out = append(out, fmt.Sprintf("%s", answer))
	}
	if len(out) < 20 {
		t.Fatalf("only %d answers", len(out))
	}
	return out
}
