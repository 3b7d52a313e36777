package cli

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/memory/remember"
	"github.com/mnem-project/mnem/internal/verb/peers"
)

func (w *world) cues(code int, args ...string) (got remember.CuesWritten, stderr string) {
	w.t.Helper()
	out, stderr := w.run(code, append([]string{"embed", "cues", "--json"}, args...)...)
	if code == 0 {
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			w.t.Fatal(err)
		}
	}
	return got, stderr
}

// TestCuesWithServers lets a chat model write cues, by each provider.
func TestCuesWithServers(t *testing.T) {
	for _, p := range settings.Rewrite.Providers {
		w, f := judgeWorld(t)
		f.said = "1. anything known\n2. something\nfact\n"
		got, _ := w.cues(0, "--model="+p.Name+":m", "--limit", "3", "-m", "by a model")
		if got.Commits != 1 || got.Memories != 3 || got.Cues != 6 || got.Remaining != 1 || got.Branch != "main" ||
			got.Commit.String() != w.head() || f.requests != 3 {
			t.Errorf("%s: %+v, %d requests", p.Name, got, f.requests)
		}
		messages, _ := f.body["messages"].([]any)
		if len(messages) != 2 || !strings.HasPrefix(messages[1].(map[string]any)["content"].(string), "fact ") {
			t.Errorf("%s was asked %v", p.Name, f.body)
		}
		w.env["MNEM_REWRITE_MODEL"] = p.Name + ":m"
		if got, _ = w.cues(0, "--model"); got.Memories != 1 || f.requests != 4 {
			t.Errorf("%s: the rest: %+v", p.Name, got)
		}
		if got, _ = w.cues(0, "--model"); got.Commits != 0 || f.requests != 4 || got.Commit.String() != w.head() {
			t.Errorf("%s: again: %+v", p.Name, got)
		}
		if out, _ := w.run(0, "log", "--json", "-n", "2"); !strings.Contains(out, `"message":"write cues of 1 memories"`) ||
			!strings.Contains(out, `"message":"by a model"`) {
			t.Errorf("%s: %s", p.Name, out)
		}
		if out, _ := w.run(0, "recall", "something", "--json"); !strings.Contains(out, "fact") {
			t.Errorf("%s: cues find nothing: %s", p.Name, out)
		}
	}
}

// TestCuesFail names the memory, and keeps what was done.
func TestCuesFail(t *testing.T) {
	w, f := judgeWorld(t)
	f.status = http.StatusBadRequest
	before := w.head()
	_, stderr := w.cues(1, "--model=ollama:m")
	if !strings.Contains(stderr, "cues of memory ") || !strings.Contains(stderr, "rewrite with ollama:m") || w.head() != before {
		t.Errorf("%s", stderr)
	}
	f.status, f.said = 0, "\n"
	got, _ := w.cues(0, "--model=ollama:m")
	if got.Skipped != 4 || got.Commits != 0 {
		t.Errorf("%+v", got)
	}
}

// TestCuesHeld has the process that runs the command ask the model while another one holds the repository.
func TestCuesHeld(t *testing.T) {
	w, f := judgeWorld(t)
	f.said = "anything known"
	holder := *w.App
	holder.Getenv = func(string) string { return "" } // it has no model to ask
	err := Live(&holder, func(*peers.Holder) {
		got, _ := w.cues(0, "--model=ollama:m")
		if got.Memories != 4 || got.Commits != 1 || f.requests != 4 {
			t.Errorf("%+v, %d requests", got, f.requests)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}
