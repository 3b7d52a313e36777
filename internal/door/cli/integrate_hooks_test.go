package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
)

// TestIntegrateHooks writes hooks among a user's own and takes them out again to the byte.
func TestIntegrateHooks(t *testing.T) {
	effort.Alone(t)
	t.Parallel()
	own := "{\n  // mine\n  \"theme\": \"dark\",\n  \"hooks\": {\n    \"Stop\": [ { \"hooks\": [ { \"type\": \"command\", \"command\": \"say done\" } ] } ]\n  }\n}\n"
	for client, files := range map[string]struct{ user, project string }{
		"claude-code": {".claude/settings.json", ".claude/settings.json"},
		"codex":       {".codex/hooks.json", ".codex/hooks.json"},
		"gemini":      {".gemini/settings.json", ".gemini/settings.json"},
		"cursor":      {".cursor/hooks.json", ".cursor/hooks.json"},
		"copilot-cli": {".copilot/hooks/mnem.json", ""},
	} {
		for _, project := range []bool{false, true} {
			if project && files.project == "" {
				continue
			}
			for _, before := range []string{"", own} {
				w := newWorld(t)
				w.init()
				args, file := []string{client}, filepath.Join(w.Home, filepath.FromSlash(files.user))
				if project {
					args, file = append(args, "--project"), filepath.Join(w.Dir, filepath.FromSlash(files.project))
				}
				if before != "" {
					if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				checkHooks(t, w, client, args, file, before)
			}
		}
	}
}

func checkHooks(t *testing.T, w *world, client string, args []string, file, before string) {
	t.Helper()
	read := func() string {
		t.Helper()
		data, err := os.ReadFile(file)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return string(data)
	}
	hooks := func(flags ...string) (changed bool) {
		t.Helper()
		var got struct{ Hooks *struct{ Changed bool } }
		out, _ := w.run(0, slices.Concat([]string{"integrate", "--json"}, args, flags)...)
		if err := json.Unmarshal([]byte(out), &got); err != nil || got.Hooks == nil {
			t.Fatalf("%s: %s, %v", client, out, err)
		}
		return got.Hooks.Changed
	}
	w.run(0, append([]string{"integrate", "--dry-run"}, args...)...)
	if read() != before {
		t.Errorf("%s: a dry run wrote %s", client, read())
	}
	if !hooks() || hooks() {
		t.Errorf("%s: not changed once", client)
	}
	text := read()
	for _, event := range []string{"session-start", "prompt", "compact"} {
		if client == "copilot-cli" && event == "prompt" {
			continue // it would drop what is said
		}
		want := "/opt/bin/mnem hook " + client + " " + event + "\""
		if strings.Count(text, want) != 1 {
			t.Errorf("%s: no %q in %s", client, want, text)
		}
	}
	if before != "" && !strings.Contains(text, "say done") {
		t.Errorf("%s: the user's own is gone: %s", client, text)
	}
	w.Executable = "/opt/new/mnem"
	if out, _ := w.run(0, "integrate", "--list"); !strings.Contains(out, "outdated") {
		t.Errorf("%s: %s", client, out)
	}
	if !hooks() || strings.Contains(read(), "/opt/bin") {
		t.Errorf("%s: the program is the old one: %s", client, read())
	}
	if !hooks("--remove") || read() != before || hooks("--remove") {
		t.Errorf("%s: %q, want %q", client, read(), before)
	}
	w.run(0, append([]string{"integrate", "--without", "hooks"}, args...)...)
	if strings.Contains(read(), " hook ") {
		t.Errorf("%s: hooks were not wanted: %s", client, read())
	}
}

// TestIntegrateDamagedHooks leaves both files alone where one cannot be edited.
func TestIntegrateDamagedHooks(t *testing.T) {
	w := newWorld(t)
	w.init()
	file := filepath.Join(w.Home, ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(`{"hooks": [`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs := w.run(1, "integrate", "claude-code"); !strings.Contains(errs, "settings.json") {
		t.Errorf("the error does not name the file: %s", errs)
	}
	if _, err := os.Stat(filepath.Join(w.Home, ".claude.json")); err == nil {
		t.Error("half of it was written")
	}
	if out, _ := w.run(0, "doctor"); !strings.Contains(out, "settings.json cannot be read") {
		t.Errorf("doctor: %s", out)
	}
}

// TestHookOfAnEmptyMemory tells an agent of the tools before there is anything to ask for.
func TestHookOfAnEmptyMemory(t *testing.T) {
	h := newHostProgram(t)
	if out := h.hook("session-start", ""); !strings.Contains(out, "with the tool remember") {
		t.Errorf("%q", out)
	}
	if out := h.hook("prompt", "where do we deploy from?"); out != "" {
		t.Errorf("%q", out)
	}
}
