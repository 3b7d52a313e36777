package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// host is a program that runs an agent, and calls hooks.
type hostProgram struct {
	*world
	transcript string
	session    string
	turns      int
}

func newHostProgram(t *testing.T) *hostProgram {
	w := newWorld(t)
	w.init()
	must.OK(t, os.MkdirAll(w.Home, 0o700))
	return &hostProgram{world: w, transcript: filepath.Join(w.Home, "s1.jsonl"), session: "s1"}
}

// say adds a turn to the transcript.
func (h *hostProgram) say(text string) {
	h.t.Helper()
	h.turns++
	f, err := os.OpenFile(h.transcript, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintf(f, `{"type":"user","uuid":"u%d","sessionId":"s1","message":{"content":%q}}`+"\n", h.turns, text)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

// hook calls a hook, which must end well and say nothing on the error stream.
func (h *hostProgram) hook(event, prompt string) string {
	h.t.Helper()
	in, err := json.Marshal(map[string]any{
		"session_id": h.session, "transcript_path": h.transcript, "cwd": h.Dir, "prompt": prompt, "hook_event_name": event,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	h.Stdin = strings.NewReader(string(in))
	defer func() { h.Stdin = strings.NewReader("") }()
	out, errs := h.run(0, "hook", "claude-code", event)
	if errs != "" {
		h.t.Errorf("hook %s says %q", event, errs)
	}
	return out
}

// told returns what the agent is given.
func (h *hostProgram) told(event, prompt string) string {
	h.t.Helper()
	out := h.hook(event, prompt)
	if out == "" {
		return ""
	}
	var got struct {
		Output struct {
			Event string `json:"hookEventName"`
			Text  string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	want := map[string]string{"prompt": "UserPromptSubmit", "session-start": "SessionStart"}[event]
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Output.Event != want {
		h.t.Fatalf("%q, %v", out, err)
	}
	return got.Output.Text
}
