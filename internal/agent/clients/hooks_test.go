package clients

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// hookFormats returns the formats of all clients.
func hookFormats() map[string]hookFormat {
	out := map[string]hookFormat{}
	for _, c := range All() {
		if c.hooks == nil {
			continue
		}
		if f, ok := c.hooks.hookForm.(hookFormat); ok {
			out[c.Name] = f
		}
	}
	return out
}

// ownHooks writes an array of a user's own hooks of a host.
func (r randomJSON) ownHooks(f hookFormat) string {
	item := `{"matcher": "x", "hooks": [{"type": "command", "command": "mine"}]}`
	if f.flat {
		item = fmt.Sprintf(`{%q: "mine", "timeout": 9}`, f.shell(Setup{}))
	}
	multi := r.IntN(2) == 0
	text := "[" + r.gap(multi)
	for i, n := 0, r.IntN(3); i < n; i++ {
		text += item + r.gap(false)
		if i < n-1 || r.IntN(4) == 0 {
			text += "," + r.gap(multi)
		}
	}
	return text + r.gap(multi) + "]"
}

// TestHooksRestore: what set writes among a user's own hooks, remove takes out again to the byte.
func TestHooksRestore(t *testing.T) {
	s := Setup{Name: name, Entry: mnem}
	for host, f := range hookFormats() {
		must.True(t, f.host == host, "the hooks of %s call for %s", host, f.host)
		for seed := range effort.Pick(uint64(150), 600, 4000) {
			r := randomJSON{rand.New(rand.NewPCG(seed, 9)), []string{"\n", "\r\n"}[seed%2]}
			version := ""
			if r.IntN(2) == 0 {
				version = `"version": 1,` + r.gap(false)
			}
			text := fmt.Sprintf(`{%s%s"a": 1,%s"hooks": {%s%q: %s,%s"Other": %s%s}%s}`, r.gap(true), version, r.gap(true),
				r.gap(true), f.events[2].name, r.ownHooks(f), r.gap(true), r.ownHooks(f), r.gap(true), r.gap(true))
			text = []string{text, text, text, "{" + r.gap(true) + "}", "{\"hooks\":" + r.gap(false) + "{}}"}[seed%5]
			set := must.Get(f.set([]byte(text), s))(t, host, ", seed ", seed, ": ", text)
			again, err := f.set(set, s)
			if err != nil || string(again) != string(set) {
				t.Fatalf("%s, seed %d: not the same the second time: %v\n%s", host, seed, err, again)
			}
			root, err := parseJSONC(set)
			if err != nil || len(f.ours(root, s)) != len(f.events) || f.flat && root.at("version") == nil {
				t.Fatalf("%s, seed %d: %v\n%s", host, seed, err, set)
			}
			back, err := f.remove(set, []byte(text), s)
			if err != nil || string(back) != text {
				t.Fatalf("%s, seed %d: %v\nbefore %q\nset    %q\nafter  %q", host, seed, err, text, set, back)
			}
		}
	}
}

// TestHooksUpdated rewrites commands of ours that are out of date, and leaves a user's alone.
func TestHooksUpdated(t *testing.T) {
	s := Setup{Name: name, Entry: mnem}
	mine := `{"type": "command", "command": "mine", "timeout": 1}`
	for host, f := range hookFormats() {
		first := f.events[0]
		for what, change := range map[string]func(fields object, command string) string{
			"timeout": func(fields object, _ string) string {
				return setField(fields, f.fields("", s)[len(f.fields("", s))-1].name, 77)
			},
			"no timeout": func(fields object, _ string) string {
				return encode(object(fields).plain(f.fields("", s)[len(f.fields("", s))-1].name))
			},
			"program": func(fields object, c string) string { return setField(fields, f.shell(s), "/old/mnem hook "+c) },
			"extension": func(fields object, c string) string {
				return setField(fields, f.shell(s), "'/my tools/Mnem.EXE' hook "+c)
			},
			"name": func(fields object, _ string) string { return setField(fields, "name", "x") },
		} {
			run := change(f.fields(f.command(s, first.event), s), host+" "+first.event)
			for _, matcher := range []string{"", `"matcher": "startup", `, `"matcher": "*", `} {
				text := fmt.Sprintf(`{"hooks": {%q: [{%s"hooks": [%s, %s]}]}}`, first.name, matcher, run, mine)
				if f.flat {
					text = fmt.Sprintf(`{"hooks": {%q: [%s, {"command": "mine"}]}}`, first.name, run)
				}
				set := must.Get(f.set([]byte(text), s))(t, host, ", ", what)
				root := must.Get(parseJSONC(set))(t)
				all := f.ours(root, s)
				must.True(t, len(all) == len(f.events), "%s, %s: %d commands: %s", host, what, len(all), set)
				for _, p := range all {
					for _, field := range f.fields(f.command(s, p.event), s) {
						if got := p.run.at(field.name); got == nil || encode(got.plain()) != encode(decoded(field.value)) {
							t.Errorf("%s, %s: %s is not as it would be written: %s", host, what, field.name, set)
						}
					}
					must.True(t, !p.matched, "%s, %s: still matched: %s", host, what, set)
				}
				if strings.Count(string(set), `"mine"`) != 1 || strings.Contains(matcher, "startup") && !f.flat &&
					!strings.Contains(string(set), matcher) {
					t.Errorf("%s, %s: the user's own is changed: %s", host, what, set)
				}
			}
		}
	}
}

// plain returns fields without one, as an object for JSON.
func (o object) plain(without string) map[string]any {
	out := map[string]any{}
	for _, f := range o {
		if f.name != without {
			out[f.name] = f.value
		}
	}
	return out
}

func setField(fields object, name string, to any) string {
	out := fields.plain("")
	out[name] = to
	return encode(out)
}

// TestHooksAreOurs by the program and what it is called with, however the path is written, and no other's are.
func TestHooksAreOurs(t *testing.T) {
	f := codexHooks
	for _, c := range []struct {
		program, system string
	}{
		{"/opt/bin/mnem", "linux"}, {"/my tools/mnem", "linux"}, {"/it's here/mnem", "linux"}, {"/a\"b$c`d/mnem", "darwin"},
		{`C:\Program Files\mnem\mnem.exe`, "windows"}, {`C:\tools\MNEM.EXE`, "windows"}, {"/opt/mnem-1.2 beta", "linux"},
		{`D:\x\memory.exe`, "windows"}, {"mnem", "linux"}, {"/é/mnem", "linux"},
	} {
		s := Setup{Name: name, Entry: ServerCommand{Command: c.program}, OS: c.system}
		if program, event, ours := f.program(f.command(s, stop), s); !ours || program != c.program || event != stop {
			t.Errorf("%s: %q, %q, %t", f.command(s, stop), program, event, ours)
		}
		text := must.Get(f.set(nil, s))(t)
		client, _ := Find("codex")
		must.True(t, client.ours(text, s), "%s: not known as ours", c.program)
		if back, err := f.remove(text, nil, s); err != nil || len(strings.Join(strings.Fields(string(back)), "")) > 2 {
			t.Errorf("%s: %v, %q", c.program, err, back)
		}
	}
	s := Setup{Entry: ServerCommand{Command: "/opt/bin/mnem"}}
	for _, command := range []string{
		"", "mnem", "mnem hook codex", "mnem hook gemini stop", "/opt/mnemosyne hook codex stop",
		"env X=1 /opt/bin/mnem hook codex stop",
		"/opt/my dir/mnem hook codex stop", "sleep 1; mnem hook codex stop", "$HOME/mnem hook codex stop",
		"'mnem hook codex stop",
		"(mnem hook codex stop", "mnem hook codex stop;", `mnem\`, "echo mnem hook codex stop", "mnem hook codex stop >log",
	} {
		if _, _, ours := f.program(command, s); ours {
			t.Errorf("%q is taken for ours", command)
		}
	}
}

// TestHooksOfPowerShell are known by what it runs as a program.
func TestHooksOfPowerShell(t *testing.T) {
	for _, program := range []string{`C:\Program Files\mnem.exe`, `C:\it's\mnem.exe`, `D:\''\x.exe`, `C:\mnem.exe`} {
		s := Setup{Name: name, Entry: ServerCommand{Command: program}, OS: "windows"}
		command := cursorHooks.command(s, stop)
		got, _, ours := cursorHooks.program(command, s)
		must.True(t, ours && got == program && strings.HasPrefix(command, "& '"), "%s: %q, %t", command, got, ours)
		if _, _, ours := codexHooks.program(codexHooks.command(s, stop), s); !ours {
			t.Errorf("%s is not known where it is no word of PowerShell", program)
		}
	}
	for _, command := range []string{
		"& hook cursor stop", "& ' hook cursor stop", "& 'a'; 'mnem' hook cursor stop", "& $x hook cursor stop",
	} {
		if _, _, ours := cursorHooks.program(command, Setup{Entry: ServerCommand{Command: "x"}, OS: "windows"}); ours {
			t.Errorf("%q is taken for ours", command)
		}
	}
}

// TestHooksState tells what is not as it would be written.
func TestHooksState(t *testing.T) {
	client, _ := Find("codex")
	s := Setup{Name: name, Entry: mnem}
	dir := t.TempDir()
	m := Machine{OS: "linux", Home: dir}
	path := client.HooksPath(m, User)
	state := func() HooksState {
		t.Helper()
		got := must.Get(client.Hooks(path, s))(t)
		return got
	}
	if got := state(); got.There != 0 || got.Outdated {
		t.Errorf("no file: %+v", got)
	}
	change, err := client.SetHooks(path, s)
	makeChange(t, "", change, err)
	if got := state(); got.There != 4 || got.Outdated || got.Programs != nil || got.Missing != nil || got.Others != nil {
		t.Errorf("%+v", got)
	}
	text := fileText(t, path)
	writeFile(t, path, strings.ReplaceAll(text, "/opt/bin/mnem", "/old/mnem"))
	if got := state(); !got.Outdated || len(got.Programs) != 1 || got.Programs[0] != "/old/mnem" {
		t.Errorf("another program: %+v", got)
	}
	writeFile(t, path, strings.ReplaceAll(text, `"Stop"`, `"SubagentStop"`))
	if got := state(); !got.Outdated || len(got.Missing) != 1 || got.Missing[0] != "Stop" || len(got.Others) != 1 ||
		got.Others[0] != "SubagentStop" {
		t.Errorf("other events: %+v", got)
	}
	writeFile(t, path, text)
	untrusted := func(config string, want bool) {
		t.Helper()
		writeFile(t, client.Path(m, User), config)
		if got, err := client.Untrusted(m, path, s); err != nil || got != want {
			t.Errorf("%q: %t, %v", config, got, err)
		}
	}
	trust := func(events ...string) (out string) {
		for _, e := range events {
			out += fmt.Sprintf("[hooks.state.%q]\ntrusted_hash = \"sha256:00\"\n", path+":"+e+":0:0")
		}
		return out
	}
	untrusted("", true)
	untrusted(trust("session_start", "user_prompt_submit", "stop"), true)
	untrusted(trust("session_start", "user_prompt_submit", "stop", "pre_compact"), false)
	untrusted("[hooks]\nstate = 1\n", true)
	writeFile(t, client.Path(m, User), "[hooks")
	if _, err := client.Untrusted(m, path, s); err == nil {
		t.Error("a damaged configuration is no error")
	}
}

// TestInstalled finds clients by their program, their file, or what is in their directory.
func TestInstalled(t *testing.T) {
	dir := t.TempDir()
	m := Machine{OS: "linux", Home: dir, Config: filepath.Join(dir, ".config"), XDG: filepath.Join(dir, ".config")}
	found := func() string {
		var names []string
		for _, c := range All() {
			if c.Installed(m) {
				names = append(names, c.Name)
			}
		}
		return strings.Join(names, " ")
	}
	must.Equal(t, found(), "", "nothing is there")
	if err := os.MkdirAll(filepath.Join(dir, ".gemini"), 0o700); err != nil { // as one that is taken back leaves it
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, ".claude.json"), "{}")
	writeFile(t, filepath.Join(dir, ".config", "Code", "x"), "")
	m.Has = func(program string) bool { return program == "cursor-agent" || program == "zeditor" }
	must.Equal(t, found(), "claude-code cursor vscode zed")
	if (Client{home: func(Machine) string { return "" }, path: func(Machine, Level) string { return "" }}).Installed(m) {
		t.Error("found in no directory")
	}
}

// TestBackupGoes: the backup goes with what is ours, so that a file that integrate makes where the
// user has removed one goes too.
func TestBackupGoes(t *testing.T) {
	client, _ := Find("gemini")
	path := filepath.Join(t.TempDir(), "settings.json")
	write := func(c *FileEdit, err error) {
		t.Helper()
		if err == nil {
			_, err = c.Write(context.Background())
		}
		must.OK(t, err)
	}
	there := func(name string, want bool) {
		t.Helper()
		if _, err := os.Stat(name); (err == nil) != want {
			t.Fatalf("%s: %v, want it there: %v", name, err, want)
		}
	}
	must.OK(t, os.WriteFile(path, []byte(`{"a": 1}`), 0o600))
	s := Setup{Name: Name, Entry: mnem}
	write(client.Set(path, Name, mnem, nil))
	write(client.SetHooks(path, s))
	write(client.Remove(path, s))
	there(path+Backup, true) // the hooks are still ours
	write(client.RemoveHooks(path, s))
	there(path+Backup, false)
	must.OK(t, os.Remove(path))
	write(client.Set(path, Name, mnem, nil))
	write(client.Remove(path, s))
	there(path, false)
}
