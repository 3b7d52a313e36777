package cli

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// benchJudges is a directory with two questions, and servers of all kinds of models.
func benchJudges(t *testing.T) (*world, *fakeModels, *fakeJudges) {
	t.Helper()
	w, f := judgeWorld(t)
	models := &fakeModels{dims: 8}
	w.env["MNEM_EMBED_OLLAMA_URL"] = serveModel(t, models)
	if err := os.Mkdir(filepath.Join(w.Dir, "set"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.write("set/a.changes.jsonl", `{"node":{"key":"n1","type":"T","summary":"fact 1"}}
{"node":{"key":"n3","type":"T","summary":"fact 3"}}
`)
	w.write("set/a.queries.jsonl", `{"qid":"1","text":"zeppelin","gold":["n3"]}
{"qid":"2","text":"fact 1","gold":["n1"]}
`)
	return w, models, f
}

// benchOut is what of a report these tests look at.
type benchOut struct {
	Settings map[string]string
	Rows     []struct {
		Stage string
		R5    float64
	}
	Failures map[string]int
}

func (w *world) bench(args ...string) (out benchOut, stderr string) {
	w.t.Helper()
	text, stderr := w.run(0, append([]string{"bench", "eval", "set", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		w.t.Fatal(err)
	}
	return out, stderr
}

// TestBenchAsksModels has each text embedded once and each question rewritten once, however many
// rows there are.
func TestBenchAsksModels(t *testing.T) {
	w, models, chat := benchJudges(t)
	out, stderr := w.bench("--embed=ollama:e", "--rewrite", "hyde", "--rewrite-model", "openai:m",
		"--by", "stage")
	want := []string{"fact 1", "fact 3", "zeppelin", "1. third thing 2. fact 3", "fact 1",
		"1. third thing 2. fact 3"}
	slices.Sort(models.texts[:2])
	if diff := cmp.Diff(want, models.texts); diff != "" || chat.requests != 2 || stderr != "" {
		t.Errorf("%d rewrites, stderr %q, texts (-want +got):\n%s", chat.requests, stderr, diff)
	}
	if diff := cmp.Diff(map[string]int{"embed": 0, "rerank": 0, "rewrite": 0}, out.Failures); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
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
	judges.status = http.StatusTooManyRequests
	models.intercept = fail(http.StatusTooManyRequests, 2) // after the nodes
	args := []string{"--embed=ollama:e", "--rewrite", "multi", "--rewrite-model", "ollama:m",
		"--rerank", "jina:r"}
	out, stderr := w.bench(args...)
	// The text "zeppelin" finds nothing to rerank.
	if diff := cmp.Diff(map[string]int{"embed": 2, "rerank": 1, "rewrite": 2}, out.Failures); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
	if strings.Count(stderr, "warning: ") != 3 || out.Rows[0].R5 != 0.5 {
		t.Errorf("%+v, stderr %q", out, stderr)
	}
	models.requests = 0
	_, stderr = w.run(0, append([]string{"bench", "eval", "set"}, args...)...)
	if !strings.Contains(stderr, "2 nodes embedded with ollama:e, failures of models in 2 questions: "+
		"rewrite 2, embed 2, rerank 1") {
		t.Errorf("stderr %q", stderr)
	}
	// Figures of nodes without embeddings would be of something else.
	models.intercept = fail(http.StatusBadRequest, 1)
	w.run(1, "bench", "eval", "set", "--embed=ollama:e")
	w.write("set/a.queries.jsonl", `{"qid":"1","text":"fact","gold":["n1"],"rerank":"cohere:x"}`)
	_, stderr = w.run(1, "bench", "eval", "set")
	if !strings.Contains(stderr, "a.queries.jsonl:1: rerank: ") {
		t.Errorf("stderr %q", stderr)
	}
}

// TestHydeIsEmbedded has the passage embedded beside the query, and the mean in the receipt.
func TestHydeIsEmbedded(t *testing.T) {
	w, models, chat := benchJudges(t)
	w.run(0, "embed", "--model", "ollama:e")
	models.texts = nil
	chat.said = "passage"
	args := []string{"a fact", "--embed=ollama:e", "--receipt"}
	hyde := append(slices.Clone(args), "--rewrite", "hyde", "--rewrite-model", "ollama:m")
	got, stderr := w.ask(hyde...)
	if diff := cmp.Diff([]string{"a fact", "passage"}, models.texts); diff != "" || stderr != "" {
		t.Errorf("stderr %q, texts (-want +got):\n%s", stderr, diff)
	}
	// Texts of 6 and 7 bytes are (.25, …, 1, 0) and (.25, …, 0, 1) there: their mean has both.
	if v := w.receiptVector(got.Receipt); !slices.Equal(v, []int8{64, 0, 0, 0, 0, 0, 127, 127}) {
		t.Errorf("vector %v", v)
	}
	asked := models.requests + chat.requests
	w.run(0, "replay", got.Receipt)
	if models.requests+chat.requests != asked {
		t.Error("replay asks")
	}
	// Rewrites of another kind are other questions: they leave the vector as it is.
	got, _ = w.ask(append(slices.Clone(args), "--rewrite", "multi", "--rewrite-model", "ollama:m")...)
	if v := w.receiptVector(got.Receipt); !slices.Equal(v, []int8{32, 0, 0, 0, 0, 0, 127, 0}) {
		t.Errorf("vector %v", v)
	}
	// One embedding alone fails: there is none of half of what was asked.
	models.intercept = fail(http.StatusBadRequest, models.requests+2)
	got, stderr = w.ask(hyde...)
	if v := w.receiptVector(got.Receipt); v != nil || !strings.Contains(stderr, "without embeddings") {
		t.Errorf("vector %v, stderr %q", v, stderr)
	}
	// No passage: the query alone, with a warning in the answer.
	models.intercept, chat.status = nil, http.StatusTooManyRequests
	got, _ = w.ask(hyde...)
	if v := w.receiptVector(got.Receipt); len(v) != 8 || v[7] != 0 || len(got.Warnings) == 0 ||
		got.Warnings[0].Code != "not_rewritten" {
		t.Errorf("vector %v, %+v", v, got.Warnings)
	}
}

// receiptVector reads the vector of the model ollama:e in a receipt, nil for none.
func (w *world) receiptVector(receipt string) []int8 {
	w.t.Helper()
	text, _ := w.run(0, "cat-file", receipt, "--json")
	var block struct {
		Data struct {
			Request struct {
				Vectors map[string]map[string]struct{ Bytes string }
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &block); err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
	data, err := base64.RawStdEncoding.DecodeString(
		block.Data.Request.Vectors["ollama:e"]["/"].Bytes)
	if err != nil {
		w.t.Fatal(err)
	}
	var out []int8
	for _, b := range data {
		out = append(out, int8(b))
	}
	return out
}

// serveModel starts a server that ends with the test.
func serveModel(t *testing.T, h http.Handler) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}
