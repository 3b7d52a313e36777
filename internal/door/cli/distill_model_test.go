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

func (w *world) distill(args ...string) (got outlining.Distilled, stderr string) {
	w.t.Helper()
	out, stderr := w.run(0, append([]string{"distill", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		w.t.Fatal(err)
	}
	return got, stderr
}

// TestDistillWithServers lets a chat model write the texts of digests, by each provider.
func TestDistillWithServers(t *testing.T) {
	for _, p := range settings.Rewrite.Providers {
		w, f := judgeWorld(t)
		f.said = "fact 0, fact 1,\n and fact 3"
		before := w.head()
		got, _ := w.distill("--model="+p.Name+":m", "--dry-run")
		if got.Written == nil || got.Written.Calls != 1 || got.Written.Tokens == 0 || !got.Written.DryRun ||
			got.Written.Written != 0 || f.requests != 0 || w.head() != before {
			t.Errorf("%s: dry run: %+v, %d requests", p.Name, got.Written, f.requests)
		}
		got, _ = w.distill("--model="+p.Name+":m", "-m", "by a model")
		if got.Written.Written != 1 || f.requests != 1 || got.Written.Commit.String() != w.head() || w.head() == before {
			t.Errorf("%s: %+v, %d requests", p.Name, got.Written, f.requests)
		}
		messages, _ := f.body["messages"].([]any)
		if len(messages) != 2 || !strings.Contains(messages[1].(map[string]any)["content"].(string), "- fact 2") {
			t.Errorf("%s was asked %v", p.Name, f.body)
		}
		out, _ := w.run(0, "digest")
		if !strings.Contains(out, "fact 0, fact 1, and fact 3\nwritten by "+p.Name+":m\n") {
			t.Errorf("%s: %s", p.Name, out)
		}
		out, _ = w.run(0, "retrieve", "--set", "altitude=root", "overview of facts")
		if !strings.Contains(out, "by "+p.Name+":m\n  fact 0, fact 1, and fact 3\n") {
			t.Errorf("%s: %s", p.Name, out)
		}
		if got, _ = w.distill("--model=" + p.Name + ":m"); got.Written.Calls != 0 || f.requests != 1 {
			t.Errorf("%s: again: %+v", p.Name, got.Written)
		}
		w.run(0, "remember", "another fact of tides")
		if out, _ := w.run(0, "digest"); strings.Contains(out, "written by") {
			t.Errorf("%s: a text of what was is shown: %s", p.Name, out)
		}
	}
}

// TestDistillModelFails: whatever a model says that is no digest, the sentences stay, and the answer says why.
func TestDistillModelFails(t *testing.T) {
	w, f := judgeWorld(t)
	before := w.head()
	try := func(name, says string) {
		t.Helper()
		got, _ := w.distill("--model=ollama:m")
		if len(got.Written.Failed) != 1 || got.Written.Written != 0 || !strings.Contains(got.Written.Failed[0].Error, says) {
			t.Errorf("%s: %+v", name, got.Written)
		}
		if out, _ := w.run(0, "digest"); !strings.Contains(out, "fact") || strings.Contains(out, "written by") {
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

// TestDistillModelFlags: what would do nothing is refused.
func TestDistillModelFlags(t *testing.T) {
	w, _ := judgeWorld(t)
	for _, args := range [][]string{
		{"--calls", "3"}, {"--dry-run"}, {"-m", "x"}, {"--branch", "main"}, {"--model=ollama:m", "--at", "HEAD"},
		{"--model=ollama:m", "--calls", "0"}, {"--model=ollama:m", "--calls", "1001"}, {"--auto", "--model=ollama:m"},
	} {
		w.run(2, append([]string{"distill"}, args...)...)
	}
	w.run(1, "distill", "--model=nobody:m")
}

// TestDistillModelStopped: texts that a model wrote are kept whatever ends the run.
func TestDistillModelStopped(t *testing.T) {
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
	_, stderr := w.run(130, "distill", "--model=ollama:m")
	w.ctx, f.asked = ctx, nil
	if !strings.Contains(stderr, "1 text kept") || w.head() == before {
		t.Errorf("nothing was kept: %s", stderr)
	}
	asked := f.requests
	if got, _ := w.distill("--model=ollama:m"); got.Written.Calls == 0 || f.requests-asked != got.Written.Calls {
		t.Errorf("%+v, %d requests", got.Written, f.requests-asked)
	}
}
