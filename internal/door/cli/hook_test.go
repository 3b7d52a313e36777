package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/agent/capture"
	"github.com/mnem-project/mnem/internal/agent/clients"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestHostsSpellEvents: an event is the same by the name that its host has for it.
func TestHostsSpellEvents(t *testing.T) {
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
			must.OK(t, os.WriteFile(path, []byte(`{"hooks": {"Any": [`+run+`]}}`), 0o600))
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
