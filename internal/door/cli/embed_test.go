package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/ingesting"
)

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
