package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/testkit/modelkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/ingesting"
	"github.com/mnem-project/mnem/internal/verb/outlining"
)

// modelWorld is a world with so many nodes and servers of models, whose waits take no time.
func modelWorld(t *testing.T, n int) (*world, *modelkit.Models) {
	t.Helper()
	f := &modelkit.Models{Dims: 8, Said: "1. third thing\n2. fact 3\n"}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	w := newWorld(t)
	w.Sleep = func(ctx context.Context, _ time.Duration) error { return context.Cause(ctx) }
	w.servers = map[string]string{}
	for _, p := range slices.Concat(settings.Rerank.Providers, settings.Rewrite.Providers) {
		w.servers[p.Name] = server.URL
	}
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
	must.OK(w.t, json.Unmarshal([]byte(out), &s))
	return s.Head
}

func (w *world) embedded(args ...string) ingesting.Embedded {
	w.t.Helper()
	out, _ := w.run(0, append([]string{"embed", "--json"}, args...)...)
	var got ingesting.Embedded
	must.OK(w.t, json.Unmarshal([]byte(out), &got))
	return got
}

// TestEmbedConcurrently changes a node while the model works: the repository is free for it, and the
// embedding of what is no longer said does not stay.
func TestEmbedConcurrently(t *testing.T) {
	w, f := modelWorld(t, 3)
	w.write("change.jsonl", `{"node":{"key":"n1","summary":"something else"}}`+"\n")
	other := newWorld(t)
	other.Dir = w.Dir
	f.Asked = func(int) {
		other.run(0, "commit", "-m", "meanwhile", "change.jsonl")
		f.Asked = nil
	}
	if got := w.embedded("--model", "ollama:m"); got.Embedded != 3 || got.Commits != 1 {
		t.Errorf("%+v", got)
	}
	if got := w.embedded("--model", "ollama:m", "--dry-run"); got.Embedded != 1 || got.Unchanged != 2 {
		t.Errorf("%+v, want the changed node alone to be left", got)
	}
	before := w.head()
	f.Asked = func(int) {
		other.write("more.jsonl", aliceLine)
		other.Dir = w.Dir
		other.run(0, "add", "--set", "n2", "summary=other")
		other.run(0, "commit", "-m", "meanwhile")
		f.Asked = nil
	}
	w.run(5, "embed", "--model", "ollama:m", "--expect", before)
}

// TestEmbedStatic finds a directory from the working directory, and names it alone.
func TestEmbedStatic(t *testing.T) {
	w, _ := modelWorld(t, 2)
	from := filepath.Join("..", "..", "..", "internal", "model", "embed", "testdata", "model2vec")
	must.OK(t, os.CopyFS(filepath.Join(w.Dir, "table"), os.DirFS(from)))
	got := w.embedded("--model", "static:table", "--dry-run")
	must.True(t, strings.HasPrefix(got.Model, "static-1:table@") && got.Embedded == 2, "%+v", got)
}

// TestRebuildModelStopped: texts that a model wrote are kept whatever ends the run.
func TestRebuildModelStopped(t *testing.T) {
	w, f := modelWorld(t, 4)
	text := `{"node":{"key":"p","type":"Project","summary":"Project of facts."}}` + "\n"
	for i := range 4 {
		text += fmt.Sprintf(`{"node":{"key":"f%d","type":"T","summary":"fact %d of it"}}`+"\n"+
			`{"edge":{"type":"part-of","src":"f%d","dst":"p"}}`+"\n", i, i, i)
	}
	w.write("more.jsonl", text)
	w.run(0, "commit", "-m", "more", "more.jsonl")
	f.Said = "fact 0, fact 1 and fact 3"
	before, ctx := w.head(), w.ctx
	stopped, cancel := context.WithCancel(ctx)
	w.ctx, f.Asked = stopped, func(n int) {
		if n == 2 {
			cancel()
		}
	}
	_, stderr := w.run(130, "map", "--rebuild", "--model=ollama:m")
	w.ctx, f.Asked = ctx, nil
	must.True(t, strings.Contains(stderr, "1 text kept") && w.head() != before, "nothing was kept: %s", stderr)
	asked := f.Requests
	out, _ := w.run(0, "map", "--rebuild", "--model=ollama:m", "--json")
	var got outlining.MapAnswer
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Rebuilt.Written.Calls == 0 ||
		f.Requests-asked != got.Rebuilt.Written.Calls {
		t.Errorf("%v: %s, %d requests", err, out, f.Requests-asked)
	}
}
