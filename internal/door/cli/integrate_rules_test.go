package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/agent/integrate"
	"github.com/mnem-project/mnem/internal/testkit/effort"
)

// filesOf returns the files under a directory and what they have, directories too.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			out[path] = "directory"
			return err
		}
		data, err := os.ReadFile(path)
		out[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func sameTree(t *testing.T, name string, before, after map[string]string) {
	t.Helper()
	for path, text := range after {
		if was, ok := before[path]; !ok {
			t.Errorf("%s: %s is left", name, path)
		} else if was != text {
			t.Errorf("%s: %s is %q, want %q", name, path, text, was)
		}
	}
	for path := range before {
		if _, ok := after[path]; !ok {
			t.Errorf("%s: %s is gone", name, path)
		}
	}
}

// ownFiles hold a user's own text in the files that are written for projects.
var ownFiles = map[string]string{
	"AGENTS.md": "# Mine\r\n\r\nuse tabs", "GEMINI.md": "\xef\xbb\xbf# Mine\n", ".mcp.json": "{\n}\n",
	".claude/settings.json": "{\"hooks\": {\"Stop\": []}} // mine", ".codex/hooks.json": "{}",
	".cursor/mcp.json": "// mine\n{}", ".codex/config.toml": "model = \"x\"",
	".gemini/settings.json": "\xef\xbb\xbf{\r\n\t\"theme\": \"dark\"\r\n}",
	".vscode/mcp.json":      "{\"servers\": {},}", ".zed/settings.json": "{/* mine */}", ".claude/skills/own/SKILL.md": "mine",
	".cursor/rules/own.mdc": "mine",
}

// TestUnintegrateLeavesNoTrace: every client's files are as before, with and without a user's own.
func TestUnintegrateLeavesNoTrace(t *testing.T) {
	effort.Alone(t)
	for _, client := range integrate.Names() {
		if slices.Contains([]string{"claude-desktop", "copilot-cli", "cline"}, client) {
			continue // has no files of a project
		}
		for _, own := range []bool{false, true} {
			w := newWorld(t)
			w.init()
			for name, text := range ownFiles {
				if own {
					writeFile(t, filepath.Join(w.Dir, filepath.FromSlash(name)), text)
				}
			}
			before := filesOf(t, w.Dir)
			for range 2 {
				w.run(0, "integrate", client, "--project")
			}
			if now := filesOf(t, w.Dir); len(now) == len(before) {
				t.Errorf("%s: nothing was written", client)
			}
			w.run(0, "integrate", "--remove", client, "--project")
			sameTree(t, client, before, filesOf(t, w.Dir))
		}
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestIntegrateRules tells what becomes of rules, and leaves alone those that the user has edited.
func TestIntegrateRules(t *testing.T) {
	w := newWorld(t)
	w.init()
	skill := filepath.Join(w.Home, ".claude", "skills", "mnem", "SKILL.md")
	if out, _ := w.run(0, "integrate", "claude-code"); !strings.Contains(out, "is told when to use it, by "+skill) {
		t.Errorf("%s", out)
	}
	text, err := os.ReadFile(skill)
	if err != nil || !strings.HasPrefix(string(text), "---\nname: mnem\ndescription: ") {
		t.Errorf("%v: %s", err, text)
	}
	writeFile(t, skill, string(text)+"\nAsk in French.\n")
	if out, _ := w.run(0, "integrate", "--list"); !strings.Contains(out, "edited") {
		t.Errorf("%s", out)
	}
	if out, _ := w.run(1, "doctor"); !strings.Contains(out, "SKILL.md were edited") {
		t.Errorf("%s", out)
	}
	if _, errs := w.run(0, "integrate", "claude-code"); !strings.Contains(errs, "SKILL.md was edited, and is left alone") {
		t.Errorf("%s", errs)
	}
	var got struct {
		Rules *struct {
			Path, Kept string
			Changed    bool
		}
	}
	out, _ := w.run(0, "integrate", "--remove", "claude-code", "--json")
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Rules == nil || got.Rules.Changed ||
		got.Rules.Kept != "edited" || got.Rules.Path != skill {
		t.Errorf("%s", out)
	}
	if now, err := os.ReadFile(skill); err != nil || !strings.Contains(string(now), "French") {
		t.Errorf("%v: %s", err, now)
	}
	w.run(0, "integrate", "gemini", "--without", "rules")
	if _, err := os.Stat(filepath.Join(w.Home, ".gemini", "GEMINI.md")); err == nil {
		t.Error("rules were not wanted")
	}
	if _, errs := w.run(0, "integrate", "cursor"); !strings.Contains(errs, "--project writes one") {
		t.Errorf("%s", errs)
	}
	writeFile(t, filepath.Join(w.Home, ".codex", "AGENTS.override.md"), "mine")
	if _, errs := w.run(0, "integrate", "codex"); !strings.Contains(errs, "reads "+filepath.Join(w.Home, ".codex",
		"AGENTS.override.md")+" in place of") {
		t.Errorf("%s", errs)
	}
	if out, _ := w.run(0, "integrate", "codex", "--print"); !strings.Contains(out, "<!-- mnem:begin ") {
		t.Errorf("%s", out)
	}
}

// TestIntegrateAllOrNone takes back what was written where a later file cannot be.
func TestIntegrateAllOrNone(t *testing.T) {
	w := newWorld(t)
	w.init()
	writeFile(t, filepath.Join(w.Dir, ".codex", "config.toml"), "model = \"x\"")
	if err := os.Mkdir(filepath.Join(w.Dir, ".AGENTS.md.mnem-new"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(w.Dir, ".AGENTS.md.mnem-new", "x"), "in the way")
	before := filesOf(t, w.Dir)
	w.run(1, "integrate", "codex", "--project")
	sameTree(t, "codex", before, filesOf(t, w.Dir))
	writeFile(t, filepath.Join(w.Dir, "AGENTS.md"), "caf\xe9")
	before = filesOf(t, w.Dir)
	if _, errs := w.run(1, "integrate", "codex", "--project"); !strings.Contains(errs, "AGENTS.md: the file is damaged") {
		t.Errorf("%s", errs)
	}
	sameTree(t, "codex", before, filesOf(t, w.Dir))
}
