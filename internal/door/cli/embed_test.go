package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/verb/ingesting"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// fakeModels answers as Ollama and as an OpenAI-compatible server: vectors of dims numbers made of
// the lengths of the texts.
type fakeModels struct {
	mu       sync.Mutex
	dims     int
	requests int
	texts    []string
	auth     string
	// intercept may answer a request, given its number; it returns true if it did.
	intercept func(w http.ResponseWriter, r *http.Request, number int) bool
}

func (f *fakeModels) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests++
	f.auth = r.Header.Get("Authorization")
	var ask struct{ Input []string }
	// Read first: a server sees that a client has gone only after the body.
	err := json.NewDecoder(r.Body).Decode(&ask)
	if f.intercept != nil && f.intercept(w, r, f.requests) {
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	f.texts = append(f.texts, ask.Input...)
	vectors := make([][]float64, len(ask.Input))
	type datum struct {
		Index     int       `json:"index"`
		Embedding []float64 `json:"embedding"`
	}
	data := make([]datum, len(ask.Input))
	for i, text := range ask.Input {
		v := make([]float64, f.dims)
		v[0], v[len(text)%f.dims] = 0.25, 1
		vectors[i], data[i] = v, datum{i, v}
	}
	if r.URL.Path == "/api/embed" {
		err = json.NewEncoder(w).Encode(map[string]any{"embeddings": vectors})
	} else {
		err = json.NewEncoder(w).Encode(map[string]any{"data": data})
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// fail answers with a status from a request on.
func fail(status, from int) func(http.ResponseWriter, *http.Request, int) bool {
	return func(w http.ResponseWriter, _ *http.Request, number int) bool {
		if number >= from {
			http.Error(w, "out of order", status)
		}
		return number >= from
	}
}

// embedWorld is a world with n nodes and a server, whose waits take no time.
func embedWorld(t *testing.T, n int) (*world, *fakeModels) {
	t.Helper()
	f := &fakeModels{dims: 8}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	w := newWorld(t)
	w.Sleep = func(ctx context.Context, _ time.Duration) error { return context.Cause(ctx) }
	w.servers = map[string]string{"ollama": server.URL, "openai": server.URL + "/v1"}
	w.init()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"node":{"key":"n%d","type":"T","summary":"fact %d"}}`+"\n", i, i)
	}
	w.write("nodes.jsonl", b.String())
	w.run(0, "commit", "-m", "nodes", "nodes.jsonl")
	return w, f
}

// head is the commit that HEAD is at.
func (w *world) head() string {
	w.t.Helper()
	out, _ := w.run(0, "status", "--json")
	var s struct{ Head string }
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		w.t.Fatal(err)
	}
	return s.Head
}

func (w *world) embedded(args ...string) ingesting.Embedded {
	w.t.Helper()
	out, _ := w.run(0, append([]string{"embed", "--json"}, args...)...)
	var got ingesting.Embedded
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		w.t.Fatal(err)
	}
	return got
}

func TestEmbedWithServers(t *testing.T) {
	for model, secret := range map[string]string{
		"ollama:small": "OLLAMA_API_KEY", "openai:small": "OPENAI_API_KEY",
	} {
		t.Run(model, func(t *testing.T) {
			w, f := embedWorld(t, 70)
			w.env[secret] = "s3cret"
			got := w.embedded("--model", model)
			if got.Embedded != 70 || got.Commits != 1 || *got.Dim != 8 || got.Model != model {
				t.Errorf("%+v", got)
			}
			if f.requests != 2 || len(f.texts) != 70 || f.auth != "Bearer s3cret" {
				t.Errorf("%d requests, %d texts, authorization %q", f.requests, len(f.texts), f.auth)
			}
			if got := w.embedded("--model", model, "--stale"); got.Unchanged != 70 || f.requests != 2 {
				t.Errorf("%+v after %d requests, want nothing to do", got, f.requests)
			}
			out, stderr := w.run(0, "retrieve", "fact 1", "--embed="+model, "--json", "--receipt")
			if !strings.Contains(out, `"dense:`+model+`"`) || stderr != "" || f.requests != 3 {
				t.Errorf("%s%s", out, stderr)
			}
			f.intercept = fail(http.StatusInternalServerError, 0)
			w.run(0, "session", "replay", "_default") // what was asked is in the receipt
			if f.requests != 3 {
				t.Errorf("replay asked the server")
			}
		})
	}
}

// TestEmbedLeavesNothingBehind lets servers fail in several ways.
func TestEmbedLeavesNothingBehind(t *testing.T) {
	tests := []struct {
		name     string
		set      func(w *world, f *fakeModels)
		args     []string
		want     string
		requests int
	}{
		{"internal error", func(_ *world, f *fakeModels) { f.intercept = fail(500, 2) }, nil,
			`embed with ollama:m: .* answers 500 .*\(5 attempts\)`, 6},
		{"key refused", func(_ *world, f *fakeModels) { f.intercept = fail(401, 2) }, nil,
			`key refused`, 2},
		{"no model", func(_ *world, f *fakeModels) { f.intercept = fail(404, 1) }, nil,
			`no such model: .*ollama pull`, 1},
		{"no JSON", func(_ *world, f *fakeModels) {
			f.intercept = func(w http.ResponseWriter, _ *http.Request, _ int) bool {
				_, _ = w.Write([]byte("<html>"))
				return true
			}
		}, nil, `wrong answer`, 1},
		{"timeout", func(w *world, f *fakeModels) {
			w.env["MNEM_MODEL_TIMEOUT"] = "20ms"
			f.intercept = func(_ http.ResponseWriter, r *http.Request, _ int) bool {
				<-r.Context().Done()
				return true
			}
		}, nil, `no answer from .* within 20ms`, 0},
		{"another dimension in the middle", func(_ *world, f *fakeModels) {
			f.intercept = func(_ http.ResponseWriter, _ *http.Request, number int) bool {
				f.dims = 7 + number
				return false
			}
		}, nil, `9 dimensions, want 8`, 2},
		{"key for an address of the repository", func(w *world, _ *fakeModels) {
			w.run(0, "config", "set", "embed.model", "ollama:m")
			w.env["OLLAMA_API_KEY"] = "s3cret"
		}, []string{"--model="}, `OLLAMA_API_KEY is not sent to the address in the repository's configuration`, 0},
		{"key in clear", func(w *world, _ *fakeModels) {
			w.servers["ollama"], w.env["OLLAMA_API_KEY"] = "http://example.invalid", "s3cret"
		}, nil, `would go over http to`, 0},
		{"timeout that is none", func(w *world, _ *fakeModels) { w.env["MNEM_MODEL_TIMEOUT"] = "1" },
			nil, `model.timeout from the environment: .*is not a duration`, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, f := embedWorld(t, 70)
			tt.set(w, f)
			before := w.head()
			_, stderr := w.run(1, append([]string{"embed", "--model", "ollama:m"}, tt.args...)...)
			if !matches(tt.want)(stderr) {
				t.Errorf("stderr %q, want %q", stderr, tt.want)
			}
			if strings.Contains(stderr, "s3cret") {
				t.Error("the key is shown")
			}
			if tt.requests > 0 && f.requests != tt.requests {
				t.Errorf("%d requests, want %d", f.requests, tt.requests)
			}
			if after := w.head(); after != before {
				t.Errorf("%s was committed", after)
			}
		})
	}
}

func TestEmbedRefusesOtherDimensions(t *testing.T) {
	w, f := embedWorld(t, 3)
	w.embedded("--model", "openai:m", "--limit", "2")
	f.dims = 5
	before := w.head()
	_, stderr := w.run(1, "embed", "--model", "openai:m")
	if !matches(`gives vectors of 5 dimensions, but those that are committed have 8\nhint: .*--all`)(
		stderr) || w.head() != before {
		t.Errorf("stderr %q", stderr)
	}
	w.run(1, "embed", "--model", "openai:m", "--all", "--limit", "1")
	got := w.embedded("--model", "openai:m", "--all")
	if got.Embedded != 3 || *got.Dim != 5 {
		t.Errorf("%+v", got)
	}
	if got := w.embedded("--model", "openai:m"); got.Unchanged != 3 {
		t.Errorf("%+v", got)
	}
}

// TestEmbedGoesOn lets a server fail, and somebody interrupt, after the first nodes: what is done is
// kept, without a commit, and one commit has it all in the end.
func TestEmbedGoesOn(t *testing.T) {
	w, f := embedWorld(t, ingesting.EmbedChunk+5)
	first := (ingesting.EmbedChunk + 63) / 64 // requests
	f.intercept = fail(http.StatusServiceUnavailable, first+1)
	before := w.head()
	_, stderr := w.run(1, "embed", "--model", "ollama:m")
	kept := fmt.Sprintf("hint: %d embeddings made and kept: the same command goes on from there and commits all", ingesting.EmbedChunk)
	if !strings.Contains(stderr, kept) {
		t.Errorf("stderr %q", stderr)
	}
	ctx, cancel := context.WithCancel(t.Context())
	f.intercept = func(_ http.ResponseWriter, r *http.Request, _ int) bool {
		cancel()
		<-r.Context().Done()
		return true
	}
	if w.head() != before {
		t.Error("a part was committed")
	}
	w.ctx = ctx
	w.run(operation.Interrupted.Exit, "embed", "--model", "ollama:m")
	w.ctx = t.Context()
	if w.head() != before {
		t.Error("an interrupted chunk was committed")
	}
	f.intercept, f.texts = nil, nil
	got := w.embedded("--model", "ollama:m")
	if got.Embedded != 5 || got.Unchanged != ingesting.EmbedChunk || len(f.texts) != 5 || got.Commits != 1 {
		t.Errorf("%+v, %d texts", got, len(f.texts))
	}
	if parents := w.embedLog(); len(parents) != 2 {
		t.Errorf("the log is %q", parents)
	}
	if got := w.embedded("--model", "ollama:m"); got.Unchanged != ingesting.EmbedChunk+5 || got.Commits != 0 {
		t.Errorf("when all is done: %+v", got)
	}
	if out, _ := w.run(0, "status", "--json"); strings.Contains(out, `"staged":true`) {
		t.Errorf("status %s", out)
	}
}

// embedLog returns the messages of the branch's commits.
func (w *world) embedLog() []string {
	w.t.Helper()
	out, _ := w.run(0, "log", "--json")
	return strings.Split(strings.TrimSpace(out), "\n")
}

// TestEmbedAllGoesOn interrupts a run that makes all embeddings again: the next one makes the others.
func TestEmbedAllGoesOn(t *testing.T) {
	if effort.Race {
		t.Skip("the goroutines of TestEmbedGoesOn")
	}
	w, f := embedWorld(t, ingesting.EmbedChunk+5)
	w.embedded("--model", "ollama:m")
	f.dims = 5 // the model is another now
	f.intercept = fail(http.StatusServiceUnavailable, f.requests+(ingesting.EmbedChunk+63)/64+1)
	w.run(1, "embed", "--model", "ollama:m", "--all")
	f.intercept, f.texts = nil, nil
	got := w.embedded("--model", "ollama:m", "--all")
	if got.Embedded != 5 || got.Commits != 1 || len(f.texts) != 5 || *got.Dim != 5 {
		t.Errorf("%+v, %d texts", got, len(f.texts))
	}
}

// TestEmbedGoesOnElsewhere has the branch move between an interrupted run and the next one: what was
// kept is committed, but for what is no longer said, and the rest after it.
func TestEmbedGoesOnElsewhere(t *testing.T) {
	if effort.Race {
		t.Skip("the goroutines of TestEmbedGoesOn")
	}
	w, f := embedWorld(t, ingesting.EmbedChunk+5)
	f.intercept = fail(http.StatusServiceUnavailable, (ingesting.EmbedChunk+63)/64+1)
	w.run(1, "embed", "--model", "ollama:m")
	f.intercept, f.texts = nil, nil
	w.write("more.jsonl", `{"node":{"key":"n1","summary":"something else"}}`+"\n"+
		`{"node":{"key":"added","type":"T","summary":"a node that came later"}}`+"\n")
	w.run(0, "commit", "-m", "meanwhile", "more.jsonl")
	got := w.embedded("--model", "ollama:m")
	if got.Commits != 2 || got.Embedded < 6 || got.Embedded > 7 || len(f.texts) != got.Embedded {
		t.Errorf("%+v, %d texts", got, len(f.texts))
	}
	if got := w.embedded("--model", "ollama:m"); got.Unchanged != ingesting.EmbedChunk+6 || got.Commits != 0 {
		t.Errorf("when all is done: %+v", got)
	}
}

// TestEmbedConcurrently changes a node while the model works: the repository is free for it, and the
// embedding of what is no longer said does not stay.
func TestEmbedConcurrently(t *testing.T) {
	w, f := embedWorld(t, 3)
	w.write("change.jsonl", `{"node":{"key":"n1","summary":"something else"}}`+"\n")
	other := newWorld(t)
	other.Dir = w.Dir
	f.intercept = func(http.ResponseWriter, *http.Request, int) bool {
		other.run(0, "commit", "-m", "meanwhile", "change.jsonl")
		f.intercept = nil
		return false
	}
	if got := w.embedded("--model", "ollama:m"); got.Embedded != 3 || got.Commits != 1 {
		t.Errorf("%+v", got)
	}
	if got := w.embedded("--model", "ollama:m", "--dry-run"); got.Embedded != 1 || got.Unchanged != 2 {
		t.Errorf("%+v, want the changed node alone to be left", got)
	}
	before := w.head()
	f.intercept = func(http.ResponseWriter, *http.Request, int) bool {
		other.write("more.jsonl", aliceLine)
		other.Dir = w.Dir
		other.run(0, "add", "--set", "n2", "summary=other")
		other.run(0, "commit", "-m", "meanwhile")
		f.intercept = nil
		return false
	}
	w.run(5, "embed", "--model", "ollama:m", "--expect", before)
}

func TestEmbedSkipsWhatIsTooLong(t *testing.T) {
	w, f := embedWorld(t, 1)
	w.write("long.jsonl", `{"node":{"key":"long","type":"T","content":"`+
		strings.Repeat("word ", 1<<18)+`"}}`+"\n")
	w.run(0, "commit", "-m", "long", "long.jsonl")
	got := w.embedded("--model", "ollama:m")
	if got.Embedded != 1 || got.TooLong != 1 || len(f.texts) != 1 {
		t.Errorf("%+v, %d texts", got, len(f.texts))
	}
}

func TestEmbedProgress(t *testing.T) {
	w, _ := embedWorld(t, 70)
	w.ErrTTY = true
	now := time.Unix(1_700_000_000, 0)
	w.Now = func() time.Time { now = now.Add(time.Second); return now }
	_, stderr := w.run(0, "embed", "--model", "ollama:m")
	if !strings.Contains(stderr, "\rembedded 64/70: [") || !strings.HasSuffix(stderr, "\r") {
		t.Errorf("stderr %q, want a line of progress that is taken away", stderr)
	}
}

// TestRetrieveWithoutItsModel answers from the other lanes where the server fails.
func TestRetrieveWithoutItsModel(t *testing.T) {
	w, f := embedWorld(t, 3)
	w.embedded("--model", "ollama:m")
	f.requests, f.intercept = 0, fail(http.StatusBadGateway, 0)
	plain, _ := w.run(0, "retrieve", "fact 1", "--json")
	got, stderr := w.run(0, "retrieve", "fact 1", "--json", "--embed=ollama:m")
	if got != plain || f.requests != reach.QueryAttempts {
		t.Errorf("%d requests, answer %s, want %s", f.requests, got, plain)
	}
	if !matches(`^warning: embed with ollama:m: .* answers 502 .*: the answer is without embeddings\n$`)(
		stderr) {
		t.Errorf("stderr %q", stderr)
	}
	if _, stderr := w.run(0, "retrieve", "fact 1", "--embed=ollama:m", "-q"); strings.Contains(
		stderr, "502") {
		t.Errorf("stderr %q in spite of --quiet", stderr)
	}
	w.write("queries.jsonl", `{"qid":"1","text":"fact 1"}`+"\n"+`{"qid":"2","text":"fact 2"}`+"\n")
	f.intercept, f.requests = fail(http.StatusNotFound, 2), 0
	out, stderr := w.run(0, "retrieve", "--batch", "queries.jsonl", "--embed=ollama:m")
	lines := strings.Split(out, "\n")
	if strings.Count(stderr, "warning: ") != 1 || !strings.Contains(lines[0], "dense:") ||
		strings.Contains(lines[1], "dense:") {
		t.Errorf("%s%s", out, stderr)
	}
}

// TestEmbedPrefixes tells models what a text is for, and keeps what they say of it apart.
func TestEmbedPrefixes(t *testing.T) {
	w, f := embedWorld(t, 1)
	w.run(0, "config", "set", settings.EmbedModel, "ollama:e5-small")
	got := w.embedded()
	if !strings.HasPrefix(got.Model, "ollama:e5-small#") || f.texts[0] != "passage: fact 0" {
		t.Errorf("%+v, texts %q", got, f.texts)
	}
	w.run(0, "retrieve", "fact", "--embed")
	if f.texts[1] != "query: fact" {
		t.Errorf("texts %q", f.texts)
	}
}

// TestEmbedStatic finds a directory from the working directory, and names it alone.
func TestEmbedStatic(t *testing.T) {
	w, _ := embedWorld(t, 2)
	from := filepath.Join("..", "..", "..", "internal", "model", "embed", "testdata", "model2vec")
	if err := os.CopyFS(filepath.Join(w.Dir, "table"), os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	got := w.embedded("--model", "static:table", "--dry-run")
	if !strings.HasPrefix(got.Model, "static-1:table@") || got.Embedded != 2 {
		t.Errorf("%+v", got)
	}
}
