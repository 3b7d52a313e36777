package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/settings"
)

// fakeJudges answers as rerankers, which like what is last, and as chat models.
type fakeJudges struct {
	mu       sync.Mutex
	requests int
	auth     string
	body     map[string]any
	said     string // what the chat model says
	raw      string // what it answers in place of JSON
	hang     bool   // answer nothing until the caller gives up
	status   int    // of every answer, 0 for 200
	asked    func(n int)
}

func (f *fakeJudges) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests++
	f.auth, f.body = r.Header.Get("Authorization"), map[string]any{}
	if err := json.NewDecoder(r.Body).Decode(&f.body); err != nil || f.status != 0 {
		http.Error(w, "out of order", max(f.status, http.StatusBadRequest))
		return
	}
	if f.asked != nil {
		f.asked(f.requests)
	}
	if f.hang {
		<-r.Context().Done()
		return
	}
	if f.raw != "" {
		_, _ = w.Write([]byte(f.raw))
		return
	}
	if !strings.HasSuffix(r.URL.Path, "/rerank") {
		message := map[string]any{"content": f.said}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"message": message, "choices": []any{map[string]any{"message": message}},
		})
		return
	}
	type result struct {
		Index int     `json:"index"`
		Score float64 `json:"relevance_score"`
	}
	var results []result
	for i := range f.body["documents"].([]any) {
		results = append(results, result{i, float64(i) / 100})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"results": results, "data": results})
}

// judgeWorld is a world with a few nodes and a server.
func judgeWorld(t *testing.T) (*world, *fakeJudges) {
	t.Helper()
	w, _ := embedWorld(t, 4)
	f := &fakeJudges{said: "1. third thing\n2. fact 3\n"}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	w.servers = map[string]string{}
	for _, p := range slices.Concat(settings.Rerank.Providers, settings.Rewrite.Providers) {
		w.servers[p.Name] = server.URL
	}
	return w, f
}

// asked holds the parts of an answer that these tests check.
type asked struct {
	Receipt  string
	Items    []struct{ Key string }
	Warnings []struct{ Code string }
}

func (w *world) ask(args ...string) (a asked, stderr string) {
	w.t.Helper()
	out, stderr := w.run(0, append([]string{"retrieve", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &a); err != nil {
		w.t.Fatal(err)
	}
	return a, stderr
}

func (a asked) keys() string {
	var keys []string
	for _, it := range a.Items {
		keys = append(keys, it.Key)
	}
	return strings.Join(keys, " ")
}

func TestRerankWithServers(t *testing.T) {
	for _, p := range settings.Rerank.Providers {
		name := p.Name
		w, f := judgeWorld(t)
		w.env[p.Secret] = "sesame"
		plain, _ := w.ask("fact", "--set", "floor=rest")
		got, stderr := w.ask("fact", "--set", "floor=rest", "--set", "rerank="+name+":m", "--receipt")
		before, after := strings.Fields(plain.keys()), strings.Fields(got.keys())
		for i := range before {
			if before[i] != after[len(after)-1-i] {
				t.Errorf("%s: %v after %v", name, after, before)
				break
			}
		}
		if stderr != "" || f.requests != 1 || f.auth != "Bearer sesame" || f.body["query"] != "fact" {
			t.Errorf("%s: %d requests, %v, stderr %q", name, f.requests, f.body, stderr)
		}
		w.run(0, "session", "replay", got.Receipt)
		if f.requests != 1 {
			t.Errorf("%s: replay asks", name)
		}
	}
}

func TestRerankFails(t *testing.T) {
	w, f := judgeWorld(t)
	f.status = http.StatusTooManyRequests
	plain, _ := w.ask("fact")
	got, stderr := w.ask("fact", "--set", "rerank=voyage:m", "--receipt")
	if got.keys() != plain.keys() || len(got.Warnings) != 1 ||
		got.Warnings[0].Code != "not_reranked" ||
		f.requests != reach.QueryAttempts || !strings.Contains(stderr, "warning: rerank with voyage:m:") {
		t.Errorf("%+v, %d requests, stderr %q", got, f.requests, stderr)
	}
	w.run(0, "session", "replay", got.Receipt)
}

func TestRewriteWithServers(t *testing.T) {
	for _, p := range settings.Rewrite.Providers {
		name := p.Name
		w, f := judgeWorld(t)
		w.env[p.Secret] = "sesame"
		got, stderr := w.ask("zeppelin", "--set", "rewrite=multi", "--set", "rewrite-model="+name+":m", "--receipt")
		if !strings.HasPrefix(got.keys(), "n3") || stderr != "" || f.auth != "Bearer sesame" {
			t.Errorf("%s: %+v, %v, stderr %q", name, got, f.body, stderr)
		}
		w.run(0, "session", "replay", got.Receipt)
		if f.requests != 1 {
			t.Errorf("%s: replay asks", name)
		}
	}
	w, f := judgeWorld(t)
	f.said = " \n"
	w.run(0, "config", "set", settings.RewriteModel, "ollama:m")
	got, stderr := w.ask("fact 1", "--set", "rewrite=hyde")
	if len(got.Warnings) != 1 || got.Warnings[0].Code != "not_rewritten" ||
		!strings.Contains(stderr, "nothing but the query itself") {
		t.Errorf("%+v, stderr %q", got, stderr)
	}
}

// TestModelsInBatch lets lines choose, and give what models would say.
func TestModelsInBatch(t *testing.T) {
	w, f := judgeWorld(t)
	plain, _ := w.ask("fact")
	last := plain.keys()[len(plain.keys())-2:]
	id, _ := w.run(0, "show", last, "--json")
	var node struct{ ID string }
	if err := json.Unmarshal([]byte(id), &node); err != nil {
		t.Fatal(err)
	}
	w.write("q.jsonl", fmt.Sprintf(`{"text":"fact","rerank":"mine","reranked":{%q:0.5}}
{"text":"zeppelin","rerank":"","rewrites":["fact 2"]}
{"text":"fact"}
`, node.ID))
	out, _ := w.run(0, "retrieve", "--batch", "q.jsonl", "--set", "rerank=jina:m", "--set", "rewrite=multi",
		"--set", "rewrite-model=ollama:m")
	var firsts []string
	for line := range strings.Lines(out) {
		var a asked
		if err := json.Unmarshal([]byte(line), &a); err != nil || len(a.Items) == 0 {
			t.Fatalf("%s: %v", line, err)
		}
		firsts = append(firsts, a.Items[0].Key)
	}
	// Two lines have their query rewritten, and one is reranked by the server.
	if firsts[0] != last || firsts[1] != "n2" || f.requests != 3 {
		t.Errorf("first items %v, %d requests", firsts, f.requests)
	}
	w.write("bad.jsonl", `{"text":"fact","rerank":"cohere:m"}`)
	_, stderr := w.run(1, "retrieve", "--batch", "bad.jsonl")
	if !strings.Contains(stderr, "--set rerank") {
		t.Errorf("stderr %q", stderr)
	}
}

func TestModelFlags(t *testing.T) {
	w, f := judgeWorld(t)
	for _, args := range [][]string{
		{"--set", "rerank=jina:m"}, {"x", "--set", "rerank="}, {"x", "--set", "rerank-top=9"},

		{"x", "--set", "rewrite=step"}, {"x", "--set", "rewrite-model=ollama:m"},
		{"x", "--set", "rewrite=hyde", "--set", "rewrites=2"}, {"--also", "y"},
		{"x", "--set", "rewrite=multi", "--set", "rewrite-model=ollama:m", "--set", "rewrites=9"},
		{"x", "--set", "rewrite=multi", "--set", "rewrite-model=ollama:m", "--also", "y"},
	} {
		w.run(2, append([]string{"retrieve"}, args...)...)
	}
	for _, args := range [][]string{
		{"--set", "rerank=local"}, {"--set", "rerank=jina:m", "--set", "rerank-top=0"}, {"--also", " "},
		{"--set", "rewrite=multi"}, {"--set", "rewrite=multi", "--set", "rewrite-model=cohere:m"},
	} {
		w.run(1, append([]string{"retrieve", "x"}, args...)...)
	}
	// A repository's own configuration does not learn the key.
	w.env["JINA_API_KEY"] = "sesame"
	w.run(0, "config", "set", settings.RerankModel, "jina:m")
	_, stderr := w.run(1, "retrieve", "fact", "--set", "rerank=configured")
	if !strings.Contains(stderr, "not sent") || f.requests != 0 {
		t.Errorf("%d requests, stderr %q", f.requests, stderr)
	}
	for key, value := range map[string]string{
		settings.RerankModel: "cohere:m@ftp://x", settings.RewriteModel: "openai:m@ftp://x", "model.timeout": "ftp://x",
	} {
		w.run(1, "config", "set", key, value)
	}
}
