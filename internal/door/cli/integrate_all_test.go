package cli

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// TestIntegrateAll writes for the clients that are there, says what became of each, and takes it back.
func TestIntegrateAll(t *testing.T) {
	w := newWorld(t)
	w.init()
	w.LookPath = func(program string) (string, error) {
		if program == "codex" {
			return "/usr/bin/codex", nil
		}
		return "", errors.New("none")
	}
	writeFile(t, filepath.Join(w.Home, ".claude", "x"), "")
	writeFile(t, filepath.Join(w.Home, ".cursor", "mcp.json"), "{} // mine")
	before := filesOf(t, w.Home)
	states := func(code int, args ...string) string {
		t.Helper()
		var got struct {
			Clients []struct {
				Client, State, Error string
				Files                []string
			}
		}
		out, _ := w.run(code, append(args, "--all", "--json")...)
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		var all []string
		for _, c := range got.Clients {
			if (c.State == "written" || c.State == "taken") != (len(c.Files) > 0) || (c.State == "failed") != (c.Error != "") {
				t.Errorf("%+v", c)
			}
			all = append(all, c.Client+"="+c.State)
		}
		return strings.Join(all, " ")
	}
	check := func(got, want string) {
		t.Helper()
		for _, w := range strings.Fields(want) {
			if !strings.Contains(" "+got+" ", " "+w+" ") {
				t.Errorf("%s, want %s", got, w)
			}
		}
	}
	there := "claude-code=%s cursor=%s codex=%s vscode=not-installed gemini=not-installed zed=not-installed"
	as := func(state string) string { return strings.ReplaceAll(there, "%s", state) }
	out, _ := w.run(0, "integrate", "--all", "--dry-run")
	if !strings.Contains(out, "would be written") || !strings.Contains(out, "+ ") {
		t.Errorf("%s", out)
	}
	check(states(0, "integrate", "--dry-run"), as("written"))
	sameTree(t, "a dry run", before, filesOf(t, w.Home))
	check(states(0, "integrate"), as("written"))
	check(states(0, "integrate"), as("unchanged"))
	out, _ = w.run(0, "integrate", "--all")
	if strings.Count(out, "there already") != 3 || strings.Count(out, "not installed") != 8 {
		t.Errorf("%s", out)
	}
	check(states(0, "integrate", "--remove"), "claude-code=taken cursor=taken codex=taken zed=unchanged")
	check(states(0, "integrate", "--remove"), "claude-code=unchanged")
	after := filesOf(t, w.Home)
	delete(after, filepath.Join(w.Home, ".codex")) // the user's own directory stays
	sameTree(t, "all", before, after)
	if out, _ := w.run(0, "integrate", "--remove", "--all"); strings.Count(out, "nothing there") != 11 {
		t.Errorf("%s", out)
	}
	out, errs := w.run(0, "integrate", "--all")
	if !strings.Contains(errs, "open /hooks in it") ||
		!strings.Contains(out, filepath.Join(w.Home, ".codex", "hooks.json")) {
		t.Errorf("%s%s", out, errs)
	}

	writeFile(t, filepath.Join(w.Home, ".cursor", "mcp.json"), "{")
	check(states(1, "integrate"), "claude-code=unchanged cursor=failed codex=unchanged")
	if out, _ := w.run(1, "integrate", "--all"); !strings.Contains(out, "the file is damaged") ||
		!strings.Contains(out, "→ the file was left alone") {
		t.Errorf("%s", out)
	}
	check(states(0, "integrate", "--project"), "claude-desktop=none claude-code=written")
	for _, args := range [][]string{
		{"integrate", "--all", "cursor"}, {"integrate", "--all", "--print"}, {"integrate", "--all", "--list"},
		{"integrate", "--remove", "cursor", "--all"}, {"integrate", "--remove"},
		{"integrate", "--remove", "cursor", "--print"}, {"integrate", "--remove", "cursor", "--force"},
	} {
		w.run(2, args...)
	}
	w.run(0, "init", "-G", "--author", "Ada")
	w.run(2, "integrate", "--all", "--project", "-G")
}

// TestIntegrateAllWithoutRepository integrates what needs none, and says what the others need.
func TestIntegrateAllWithoutRepository(t *testing.T) {
	w := newWorld(t)
	w.LookPath = func(string) (string, error) { return "/x", nil }
	w.run(0, "integrate", "--all")
	for _, config := range []string{filepath.Join(w.Home, ".config"), w.Config} {
		writeFile(t, filepath.Join(config, "Claude", "x"), "")
	}
	out, _ := w.run(3, "integrate", "--all")
	for _, want := range []string{"claude-code  ", "claude-desktop  failed", "there already", "no repository in", "mnem init"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
}

// TestDoctorHooks says of hooks what integrate would write otherwise, and that Codex does not run those that its user
// does not trust.
func TestDoctorHooks(t *testing.T) {
	w := newWorld(t)
	w.init()
	path := filepath.Join(w.Home, ".codex", "hooks.json")
	find := func(want string, there bool) {
		t.Helper()
		if out, _ := w.run(1, "doctor"); strings.Contains(out, want) != there {
			t.Errorf("%q there: %t, want %t: %s", want, !there, there, out)
		}
	}
	w.run(0, "integrate", "codex")
	find("hooks.json do not run yet: Codex asks its user first", true)
	find("→ open /hooks in Codex and trust them", true)
	config := filepath.Join(w.Home, ".codex", "config.toml")
	text := filesOf(t, w.Home)[config]
	for _, event := range []string{"session_start", "user_prompt_submit", "stop", "pre_compact"} {
		text += "[hooks.state." + jsonText(path+":"+event+":0:0") + "]\ntrusted_hash = \"sha256:00\"\n"
	}
	writeFile(t, config, text)
	find("do not run yet", false)
	hooks := filesOf(t, w.Home)[path]
	writeFile(t, path, strings.ReplaceAll(hooks, "/opt/bin/mnem", "'/old tools/mnem'"))
	find("are out of date: they run /old tools/mnem, not this program", true)
	writeFile(t, path, strings.ReplaceAll(hooks, `"PreCompact"`, `"Notification"`))
	find("are out of date: there is none for PreCompact; there should be none for Notification", true)
	writeFile(t, path, strings.ReplaceAll(hooks, `"timeout": 3`, `"timeout": 30`))
	find("hooks.json are out of date\n", true)
	w.run(0, "integrate", "codex")
	find("out of date", false)
	if filesOf(t, w.Home)[path] != hooks {
		t.Errorf("%s", filesOf(t, w.Home)[path])
	}
}

// TestDoctorUnknownEvents: doctor names events that no hook has in the commands of a settings file that were written
// by hand, with the nearest known one, and has nothing against the host's own names. Integrating mends the commands.
func TestDoctorUnknownEvents(t *testing.T) {
	w := newWorld(t)
	w.init()
	w.Home = t.TempDir()
	path := filepath.Join(w.Home, ".claude", "settings.json")
	file := func(program, stop string) {
		t.Helper()
		events := [][2]string{
			{"SessionStart", "session-start"}, {"UserPromptSubmit", "UserPromptSubmit"}, {"Stop", stop}, {"PreCompact", "compact"},
			{"SessionEnd", "SessionEnd"},
		}
		var all []string
		for _, e := range events {
			all = append(all, jsonText(e[0])+`: [{"hooks": [{"type": "command", "command": `+
				jsonText(program+" hook claude-code "+e[1])+`, "timeout": 3}]}]`)
		}
		writeFile(t, path, `{"hooks": {`+strings.Join(all, ", ")+"}}\n")
	}
	doctor := func() string {
		t.Helper()
		out, _ := w.run(0, "doctor")
		return out
	}
	file("/opt/bin/mnem", "Stop")
	if out := doctor(); strings.Contains(out, "settings.json") {
		t.Errorf("the host's own names: %s", out)
	}
	for unknown, near := range map[string]string{
		"Stopp": "Stop", "stopp": "stop", "STOP": "Stop", "Session_Start": "SessionStart", "precompact": "PreCompact",
		"sessionend": "session-end", "SESSIONEND": "SessionEnd", "session.end": "session-end", "SubagentStop": "Stop",
	} {
		file("/opt/bin/mnem", unknown)
		out := doctor()
		want := "are out of date: claude-code has no event \"" + unknown + "\", the nearest is " + near + "; there is none for Stop\n"
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
	file("mnem", "Stopp")
	if out := doctor(); !strings.Contains(out, `has no event "Stopp", the nearest is Stop`) {
		t.Error(out)
	}
	for _, own := range []string{"$x", "Stop;", "'Stopp", "St\u00f6p", strings.Repeat("x", 65)} {
		file("/opt/bin/mnem", own)
		if out := doctor(); strings.Contains(out, "has no event") || !strings.Contains(out, "there is none for Stop\n") {
			t.Errorf("%q is no word of ours: %s", own, out)
		}
	}
	file("/opt/bin/mnem", "Stopp")
	w.run(0, "integrate", "claude-code")
	got := filesOf(t, w.Home)[path]
	if strings.Contains(got, "Stopp") || strings.Count(got, "claude-code stop") != 1 ||
		!strings.Contains(got, "claude-code UserPromptSubmit") {
		t.Error(got)
	}
	if out, _ := w.run(1, "doctor"); strings.Contains(out, "out of date") { // there is no program /opt/bin/mnem
		t.Error(out)
	}
}

func jsonText(s string) string {
	out, _ := json.Marshal(s)
	return string(out)
}
