package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/agent/capture"
	"github.com/mnem-project/mnem/internal/agent/clients"
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
	must.OK(h.t, err)
}

// hook calls a hook, which must end well and say nothing on the error stream.
func (h *hostProgram) hook(event, prompt string) string {
	h.t.Helper()
	in, err := json.Marshal(map[string]any{
		"session_id": h.session, "transcript_path": h.transcript, "cwd": h.Dir, "prompt": prompt, "hook_event_name": event,
	})
	must.OK(h.t, err)
	h.Stdin = strings.NewReader(string(in))
	defer func() { h.Stdin = strings.NewReader("") }()
	out, errs := h.run(0, "hook", "claude-code", event)
	must.Equal(h.t, errs, "", "hook ", event)
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

// TestHostsSpellEvents: an event is the same by the name that its host has for it.
func TestHostsSpellEvents(t *testing.T) {
	h := newHostProgram(t)
	h.say("The build takes four minutes on the new machine")
	h.hook("Stop", "")
	h.run(0, "capture")
	if out, _ := h.run(0, "ls", "--all", "--json"); !strings.Contains(out, "four minutes") {
		t.Errorf("nothing was noted: %s", out)
	}
	for host, name := range map[string]string{
		"claude-code": "StopNow", "codex": "BeforeAgent", "gemini": "UserPromptSubmit", "cursor": "SessionStart", "opencode": "Stop",
		"copilot-cli": "userPromptSubmitted", "cline": "TaskStart",
	} {
		if _, ok := capture.EventOf(host, name); ok {
			t.Errorf("%s has no event %s", host, name)
		}
	}
	seen := 0
	for _, client := range clients.All() {
		if !slices.Contains([]string{"claude-code", "codex", "gemini", "cursor", "copilot-cli"}, client.Name) {
			continue // a client without hooks, or with a module
		}
		text, err := client.HooksText(clients.Setup{Entry: clients.ServerCommand{Command: "/opt/bin/mnem"}})
		var file struct {
			Hooks map[string]json.RawMessage
		}
		if err == nil {
			err = json.Unmarshal([]byte(text), &file)
		}
		must.OK(t, err, client.Name)
		for name, runs := range file.Hooks {
			_, command, _ := strings.Cut(string(runs), " hook ")
			host, rest, _ := strings.Cut(command, " ")
			own, _, _ := strings.Cut(rest, `"`)
			if event, ok := capture.EventOf(host, name); !ok || string(event) != own {
				t.Errorf("%s calls %q at %s, which is %q, %t here", host, own, name, event, ok)
			}
			seen++
		}
	}
	must.True(t, seen >= 19, "only %d events", seen)
}

// TestDoctorKnowsEvents: hooks do not know an event that doctor calls unknown, and know the one that it calls nearest.
func TestDoctorKnowsEvents(t *testing.T) {
	words := append(capture.Events(), "Stop", "SessionStart", "sessionStart", "UserPromptSubmit", "BeforeAgent", "AfterAgent",
		"PreCompact", "PreCompress", "preCompact", "SessionEnd", "sessionEnd", "beforeSubmitPrompt", "stopp", "Prompt", "x")
	for _, host := range []string{"claude-code", "codex", "gemini", "cursor"} {
		client, ok := clients.Find(host)
		must.Require(t, ok, "%v", host)
		path := filepath.Join(t.TempDir(), "hooks.json")
		for _, word := range words {
			run := `{"type": "command", "command": "mnem hook ` + host + " " + word + `"}`
			if host != "cursor" {
				run = `{"hooks": [` + run + `]}`
			}
			writeFile(t, path, `{"hooks": {"Any": [`+run+`]}}`)
			state, err := client.Hooks(path, clients.Setup{Name: clients.Name, Entry: clients.ServerCommand{Command: "mnem"}})
			must.OK(t, err, host, " ", word, ": ", state)
			must.Equal(t, state.There, 1, host, " ", word, ": ", state)
			_, known := capture.EventOf(host, word)
			must.Equal(t, known, len(state.Unknown) == 0, host, " ", word, ": ", state, ", known")
			for _, u := range state.Unknown {
				if _, near := capture.EventOf(host, u.Nearest); u.Name != word || !near {
					t.Errorf("%s %s: %+v", host, word, u)
				}
			}
		}
	}
}
