package clients

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

func openCodePlugin(t *testing.T) (c Client, root, path string) {
	t.Helper()
	c, _ = Find("opencode")
	m := Machine{OS: "linux", Home: t.TempDir(), XDG: filepath.Join(t.TempDir(), "x")}
	return c, c.Root(m, User), c.HooksPath(m, User)
}

// TestPlugin: a module is written once, names the program whatever its path has, and is written again if it runs
// another one.
func TestPlugin(t *testing.T) {
	c, root, path := openCodePlugin(t)
	set := func(program string) bool {
		t.Helper()
		change, err := c.SetHooks(path, Setup{Entry: ServerCommand{Command: program}})
		return makeChange(t, root, change, err)
	}
	state := func(program string, want HooksState) {
		t.Helper()
		got, err := c.Hooks(path, Setup{Entry: ServerCommand{Command: program}})
		must.True(t, err == nil && reflect.DeepEqual(got, want), "%+v, %v, want %+v", got, err, want)
	}
	odd := `C:\a "b"\` + "\u2028" + `$PROGRAM\mnem.exe`
	state(odd, HooksState{})
	must.True(t, set(odd) && !set(odd), "not written once")
	state(odd, HooksState{There: 1})
	must.Contain(t, fileText(t, path), `const program = "C:\\a \"b\"\\\u2028$PROGRAM\\mnem.exe";`)
	state("/b/mnem", HooksState{There: 1, Outdated: true, Programs: []string{odd}})
	writeFile(t, path, strings.ReplaceAll(fileText(t, path), "\n", "\r\n")) // as version control may leave it
	must.True(t, !set(odd), "line ends alone are written anew")
	must.True(t, set("/b/mnem"), "not written anew")
	state("/b/mnem", HooksState{There: 1})
	change, err := c.RemoveHooks(path, Setup{})
	must.True(t, makeChange(t, root, change, err), "not taken away")
}

// TestPluginOfTheUser is left alone: one that was edited, and another's of the same name.
func TestPluginOfTheUser(t *testing.T) {
	c, root, path := openCodePlugin(t)
	s := Setup{Entry: ServerCommand{Command: "/a/mnem"}}
	edited := strings.Replace(pluginFile{}.text(s), "3000", "9000", 1)
	writeFile(t, path, edited)
	change, err := c.SetHooks(path, s)
	must.True(t, !makeChange(t, root, change, err), "what was edited is written anew")
	if got, err := c.Hooks(path, s); err != nil || got.There != 1 || got.Outdated {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{edited, "export default 1\n", "x" + edited} {
		writeFile(t, path, text)
		change, err := c.RemoveHooks(path, s)
		must.True(t, !makeChange(t, root, change, err) && fileText(t, path) == text, "taken away: %q", text)
	}
	if _, err := c.SetHooks(path, s); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), path) {
		t.Errorf("another's module: %v", err)
	}
}

// TestClineScript: a script is written once, can be run, and runs the program whatever its path has; on Windows it is
// one of PowerShell.
func TestClineScript(t *testing.T) {
	c, _ := Find("cline")
	m := Machine{OS: "linux", Home: t.TempDir()}
	path := c.HooksPath(m, User)
	if want := filepath.Join(m.Home, "Documents", "Cline", "Hooks", "UserPromptSubmit"); path != want {
		t.Errorf("%s, want %s", path, want)
	}
	odd := "/it's $HOME/mnem"
	for range 2 {
		change, err := c.SetHooks(path, Setup{Entry: ServerCommand{Command: odd}})
		makeChange(t, m.Home, change, err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	text := fileText(t, path)
	if !strings.HasPrefix(text, "#!/bin/sh\n# mnem:file ") ||
		!strings.HasSuffix(text, "\nexec '/it'\\''s $HOME/mnem' hook cline prompt\n") {
		t.Error(text)
	}
	s := Setup{Entry: ServerCommand{Command: "/b/mnem"}}
	want := HooksState{There: 1, Outdated: true, Programs: []string{odd}}
	if got, err := c.Hooks(path, s); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	change, err := c.SetHooks(path, s)
	makeChange(t, m.Home, change, err)
	if got, err := c.Hooks(path, s); err != nil || got.There != 1 || got.Outdated {
		t.Errorf("%+v, %v", got, err)
	}
	change, err = c.RemoveHooks(path, Setup{})
	must.True(t, makeChange(t, m.Home, change, err), "not taken away")
	writeFile(t, path, "#!/bin/sh\necho '{}'\n") // the user's own
	_, err = c.SetHooks(path, s)
	must.Fail(t, err, ErrDamaged)
	m.OS = "windows"
	if path := c.HooksPath(m, User); !strings.HasSuffix(path, "UserPromptSubmit.ps1") || c.HooksPath(m, Project) != "" {
		t.Error(path)
	}
	power := pluginFile{script: true}.text(Setup{Entry: ServerCommand{Command: `C:\my tools\mnem.exe`}, OS: "windows"})
	if !strings.HasPrefix(power, "# mnem:file ") || !strings.HasSuffix(power, "\n& 'C:\\my tools\\mnem.exe' hook cline prompt\n") {
		t.Error(power)
	}
}
