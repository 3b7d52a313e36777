package bench

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/internal/testkit/modelkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// benchJudges is a directory with two questions, and servers of all kinds of models.
func benchJudges(t *testing.T) (w *world, models, judges *modelkit.Models) {
	t.Helper()
	w = newWorld(t)
	models, judges = &modelkit.Models{Dims: 8}, &modelkit.Models{Dims: 8, Said: "1. third thing\n2. fact 3\n"}
	at := serveModel(t, judges)
	w.servers = map[string]string{"ollama:e": serveModel(t, models), "ollama": at, "openai": at, "jina": at, "cohere": at}
	must.OK(t, os.Mkdir(filepath.Join(w.Dir, "set"), 0o755))
	w.write("set/a.changes.jsonl", `{"node":{"key":"n1","type":"T","summary":"fact 1"}}
{"node":{"key":"n3","type":"T","summary":"fact 3"}}
`)
	w.write("set/a.queries.jsonl", `{"qid":"1","text":"zeppelin","gold":["n3"]}
{"qid":"2","text":"fact 1","gold":["n1"]}
`)
	return w, models, judges
}

// benchOut has the members of a report that these tests check.
type benchOut struct {
	Settings map[string]string
	Rows     []struct {
		Stage string
		R5    float64
	}
	Failures map[string]int
}

func (w *world) report(args ...string) (out benchOut, stderr string) {
	w.t.Helper()
	text, stderr := w.bench(0, append([]string{"eval", "set", "--json"}, args...)...)
	must.OK(w.t, json.Unmarshal([]byte(text), &out))
	return out, stderr
}

// TestBenchAsksModels has each text embedded once and each question rewritten once, however many
// rows there are.
func TestBenchAsksModels(t *testing.T) {
	w, models, chat := benchJudges(t)
	out, stderr := w.report("--embed=ollama:e", "--rewrite", "hyde", "--rewrite-model", "openai:m",
		"--by", "stage")
	want := []string{"fact 1", "fact 3", "zeppelin", "1. third thing 2. fact 3", "fact 1",
		"1. third thing 2. fact 3"}
	slices.Sort(models.Texts[:2])
	if diff := cmp.Diff(want, models.Texts); diff != "" || chat.Requests != 2 || stderr != "" {
		t.Errorf("%d rewrites, stderr %q, texts (-want +got):\n%s", chat.Requests, stderr, diff)
	}
	must.Same(t, out.Failures, map[string]int{"embed": 0, "rerank": 0, "rewrite": 0}, "failures")
	if out.Settings["embed"] != "ollama:e" || out.Settings["rewrite-model"] != "openai:m" ||
		out.Settings["rewrites"] != "" || out.Rows[0].R5 != 1 {
		t.Errorf("%+v", out)
	}
	for _, stage := range []string{"without dense:ollama:e", "without text:1", "with --dedup"} {
		if !slices.ContainsFunc(out.Rows, func(r struct {
			Stage string
			R5    float64
		}) bool {
			return r.Stage == stage
		}) {
			t.Errorf("no row %q in %+v", stage, out.Rows)
		}
	}
}

// TestBenchCountsFailures tells the first failure of each kind, and how many there were.
func TestBenchCountsFailures(t *testing.T) {
	w, models, judges := benchJudges(t)
	judges.Status = http.StatusTooManyRequests
	models.Status, models.From = http.StatusTooManyRequests, 2 // after the nodes
	args := []string{"--embed=ollama:e", "--rewrite", "multi", "--rewrite-model", "ollama:m",
		"--rerank", "jina:r"}
	out, stderr := w.report(args...)
	// The text "zeppelin" finds nothing to rerank.
	must.Same(t, out.Failures, map[string]int{"embed": 2, "rerank": 1, "rewrite": 2}, "failures")
	must.True(t, strings.Count(stderr, "warning: ") == 3 && out.Rows[0].R5 == 0.5, "%+v, stderr %q", out, stderr)
	models.Requests = 0
	_, stderr = w.bench(0, append([]string{"eval", "set"}, args...)...)
	if !strings.Contains(stderr, "2 nodes embedded with ollama:e, failures of models in 2 questions: "+
		"rewrite 2, embed 2, rerank 1") {
		t.Errorf("stderr %q", stderr)
	}
	// Figures of nodes without embeddings would be of something else.
	models.Status, models.From = http.StatusBadRequest, 1
	w.bench(1, "eval", "set", "--embed=ollama:e")
	w.write("set/a.queries.jsonl", `{"qid":"1","text":"fact","gold":["n1"],"rerank":"cohere:x"}`)
	_, stderr = w.bench(1, "eval", "set")
	must.Contain(t, stderr, "a.queries.jsonl:1: rerank: ", "stderr")
}
