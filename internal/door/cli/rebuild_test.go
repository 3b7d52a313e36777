package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/verb/outlining"
)

// rebuild makes digests, and returns what became of texts.
func (w *world) rebuild(args ...string) *outlining.DigestTexts {
	w.t.Helper()
	out, _ := w.run(0, append([]string{"map", "--rebuild", "--json"}, args...)...)
	var got outlining.MapAnswer
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Rebuilt == nil || got.Rebuilt.Written == nil {
		w.t.Fatalf("%v: %s", err, out)
	}
	return got.Rebuilt.Written
}

// TestRebuildWithServers lets a chat model write the texts of digests, by each provider.
func TestRebuildWithServers(t *testing.T) {
	for _, p := range settings.Rewrite.Providers {
		w, f := judgeWorld(t)
		f.said = "fact 0, fact 1,\n and fact 3"
		before := w.head()
		got := w.rebuild("--model="+p.Name+":m", "--dry-run")
		if got.Calls != 1 || got.Tokens == 0 || !got.DryRun ||
			got.Written != 0 || f.requests != 0 || w.head() != before {
			t.Errorf("%s: dry run: %+v, %d requests", p.Name, got, f.requests)
		}
		got = w.rebuild("--model="+p.Name+":m", "-m", "by a model")
		if got.Written != 1 || f.requests != 1 || got.Commit.String() != w.head() || w.head() == before {
			t.Errorf("%s: %+v, %d requests", p.Name, got, f.requests)
		}
		messages, _ := f.body["messages"].([]any)
		if len(messages) != 2 || !strings.Contains(messages[1].(map[string]any)["content"].(string), "- fact 2") {
			t.Errorf("%s was asked %v", p.Name, f.body)
		}
		out, _ := w.run(0, "map", "root")
		if !strings.Contains(out, "fact 0, fact 1, and fact 3\nwritten by "+p.Name+":m\n") {
			t.Errorf("%s: %s", p.Name, out)
		}
		out, _ = w.run(0, "retrieve", "--set", "altitude=root", "overview of facts")
		if !strings.Contains(out, "by "+p.Name+":m\n  fact 0, fact 1, and fact 3\n") {
			t.Errorf("%s: %s", p.Name, out)
		}
		if got = w.rebuild("--model=" + p.Name + ":m"); got.Calls != 0 || f.requests != 1 {
			t.Errorf("%s: again: %+v", p.Name, got.Written)
		}
		w.run(0, "remember", "another fact of tides")
		if out, _ := w.run(0, "map", "root"); strings.Contains(out, "written by") {
			t.Errorf("%s: a text of what was is shown: %s", p.Name, out)
		}
	}
}

// TestRebuildModelFails: whatever a model says that is no digest, the sentences stay, and the answer says why.
func TestRebuildModelFails(t *testing.T) {
	w, f := judgeWorld(t)
	before := w.head()
	try := func(name, says string) {
		t.Helper()
		got := w.rebuild("--model=ollama:m")
		if len(got.Failed) != 1 || got.Written != 0 || !strings.Contains(got.Failed[0].Error, says) {
			t.Errorf("%s: %+v", name, got.Written)
		}
		if out, _ := w.run(0, "map", "root"); !strings.Contains(out, "fact") || strings.Contains(out, "written by") {
			t.Errorf("%s: %s", name, out)
		}
	}
	for name, c := range map[string]struct{ said, says string }{
		"empty":      {" \n", "nothing"},
		"too long":   {strings.Repeat("fact 1 and fact 2. ", 400), "limit"},
		"refuses":    {"I'm sorry, but I cannot assist with that request.", "something else"},
		"credential": {"fact 1 has the key AKIAQ3EGR7LMX5WZPYTN", "credential"},
	} {
		f.said = c.said
		try(name, c.says)
	}
	f.said = "fact 1"
	for _, status := range []int{http.StatusInternalServerError, http.StatusBadRequest} {
		f.status = status
		try(http.StatusText(status), "ollama:m")
	}
	f.status = 0
	f.raw = "not JSON"
	try("not JSON", "wrong answer")
	f.raw = ""
	w.env["MNEM_MODEL_TIMEOUT"] = "1ms"
	f.hang = true
	try("timeout", "within 1ms")
	if w.head() != before {
		t.Error("a failure made a commit")
	}
}

// TestRebuildModelStopped: texts that a model wrote are kept whatever ends the run.
func TestRebuildModelStopped(t *testing.T) {
	w, f := judgeWorld(t)
	text := `{"node":{"key":"p","type":"Project","summary":"Project of facts."}}` + "\n"
	for i := range 4 {
		text += fmt.Sprintf(`{"node":{"key":"f%d","type":"T","summary":"fact %d of it"}}`+"\n"+
			`{"edge":{"type":"part-of","src":"f%d","dst":"p"}}`+"\n", i, i, i)
	}
	w.write("more.jsonl", text)
	w.run(0, "commit", "-m", "more", "more.jsonl")
	f.said = "fact 0, fact 1 and fact 3"
	before, ctx := w.head(), w.ctx
	stopped, cancel := context.WithCancel(ctx)
	w.ctx, f.asked = stopped, func(n int) {
		if n == 2 {
			cancel()
		}
	}
	_, stderr := w.run(130, "map", "--rebuild", "--model=ollama:m")
	w.ctx, f.asked = ctx, nil
	if !strings.Contains(stderr, "1 text kept") || w.head() == before {
		t.Errorf("nothing was kept: %s", stderr)
	}
	asked := f.requests
	if got := w.rebuild("--model=ollama:m"); got.Calls == 0 || f.requests-asked != got.Calls {
		t.Errorf("%+v, %d requests", got, f.requests-asked)
	}
}
