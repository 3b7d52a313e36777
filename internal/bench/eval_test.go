package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/testdata/demo"
)

// benchWorld is a directory with the bundled memory and its questions as one pair.
func benchWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	queries := must.Get(os.ReadFile(filepath.Join("..", "..", "testdata", "demo", "queries.jsonl")))(t)
	w.write("memory.changes.jsonl", demo.Memory)
	w.write("memory.queries.jsonl", string(queries))
	return w
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
	must.Same(t, files(t, w.Dir), append(before, "results.jsonl"), "files")
	got := must.Get(os.ReadFile(filepath.Join(w.Dir, "results.jsonl")))(t)
	w.run(0, "init")
	other.run(0, "init")
	other.run(0, "commit", "-m", "dated", "dated.changes.jsonl")
	want, _ := other.run(0, "retrieve", "--set", "floor=rest", "--batch", "dated.queries.jsonl", "--limit", "200", "--budget", "0")
	must.Equal(t, strings.Count(want, `"lane":"time"`), 2, "answers by dates: ", want)
	w.run(0, "commit", "-m", "memory", "memory.changes.jsonl")
	more, _ := w.run(0, "retrieve", "--set", "floor=rest", "--batch", "memory.queries.jsonl", "--limit", "200", "--budget", "0")
	want += more
	must.Same(t, withoutCommits(t, string(got)), withoutCommits(t, want), "answers")
}

// TestBenchCountsFromOneDay tells which day dates counted from.
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
	must.Contain(t, out, `"mrr":1.0000`, "the date was not read")
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))(t)
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
	must.Require(t, len(out) >= 20, "only %d answers", len(out))
	return out
}
