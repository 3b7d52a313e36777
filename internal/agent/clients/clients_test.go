package clients

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

var mnem = ServerCommand{Command: "/opt/bin/mnem", Args: []string{"mcp", "--repo", "/w/p"}}

const section, name = "mcpServers", "mnem"

func jsonFields() object { return object{{"command", mnem.Command}, {"args", mnem.Args}} }

func TestSetJSON(t *testing.T) {
	entry := func(in string) string {
		return "{\n" + in + "  \"command\": \"/opt/bin/mnem\",\n" + in + "  \"args\": [\"mcp\", \"--repo\", \"/w/p\"]\n" +
			in + "}"
	}
	for name, c := range map[string]struct{ text, want string }{
		"no file": {"", "{\n  \"mcpServers\": {\n    \"mnem\": " + entry("    ") + "\n  }\n}\n"},
		"one line": {`{"a": 1}`,
			`{"a": 1, "mcpServers": {"mnem": {"command": "/opt/bin/mnem", "args": ["mcp", "--repo", "/w/p"]}}}`},
		"beside another": {"{\n  \"mcpServers\": {\n    \"x\": {} // mine\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    \"x\": {}, // mine\n    \"mnem\": " + entry("    ") + "\n  }\n}\n"},
		"trailing comma": {"{\n  \"mcpServers\": {\n    \"x\": {},\n  },\n}\n",
			"{\n  \"mcpServers\": {\n    \"x\": {},\n    \"mnem\": " + entry("    ") + ",\n  },\n}\n"},
		"stale": {`{"mcpServers": {"mnem": {"command": "old", "env": {"A": "b"}}}}`,
			`{"mcpServers": {"mnem": {"command": "/opt/bin/mnem", "env": {"A": "b"}, "args": ["mcp", "--repo", "/w/p"]}}}`},
		"comment only": {"// mine", "// mine\n{\n  \"mcpServers\": {\n    \"mnem\": " + entry("    ") + "\n  }\n}\n"},
	} {
		got, err := setJSON([]byte(c.text), section, "mnem", jsonFields())
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, c.want)
			continue
		}
		again, err := setJSON(got, section, "mnem", jsonFields())
		if err != nil || string(again) != string(got) {
			t.Errorf("%s: not the same the second time: %v\n%s", name, err, again)
		}
	}
}

func TestDamagedFilesAreRefused(t *testing.T) {
	for _, text := range []string{
		"{", `{"a" 1}`, `{"a": 1} x`, `{"a": 1,, "b": 2}`, `{"a": tru}`, `{"a": "x}`, "{\"a\": \"\n\"}", `{"a": 01}`,
		`/* {}`, `{"a": 1 "b": 2}`, "\xff{}", `{"a": 1, "a": 2}`, `[1]`, `"x"`, `{"mcpServers": []}`,
		`{"mcpServers": {"mnem": 1}}`, strings.Repeat("[", 1000), strings.Repeat("[", 8<<20), "/*/ \" */" + strings.Repeat("[", 8<<20),
		`{"a": [1 2]}`, `{"a": nul`, `{,}`,
	} {
		if got, err := setJSON([]byte(text), section, name, jsonFields()); !errors.Is(err, ErrDamaged) {
			t.Errorf("%q: %v, %q", text, err, got)
		}
	}
	for _, text := range []string{
		"[a", "a = ", "a = 1\na = 2\n", "\xff", "mcp_servers = 1\n[mcp_servers.x]\n",
		"mcp_servers = { mnem = { command = \"x\" } }\n", "mcp_servers.mnem.command = \"x\"\n", "mcp_servers = {}\n",
		"a = 1\n\"mcp_servers\" = {x = {command = \"x\"}}\n[b]\nc = 1\n",
	} {
		if got, err := setTOML([]byte(text), "mcp_servers", name, jsonFields()); !errors.Is(err, ErrDamaged) {
			t.Errorf("%q: %v, %q", text, err, got)
		}
	}
}

// randomJSON writes an object as people write them: comments, blanks, trailing commas.
type randomJSON struct {
	*rand.Rand
	eol string
}

func (r randomJSON) gap(line bool) string {
	out := ""
	for range r.IntN(3) {
		out += []string{" ", "\t", r.eol, "/* { , */", "// \"x\": {" + r.eol}[r.IntN(5)]
	}
	if line {
		out += r.eol
	}
	return out
}

func (r randomJSON) value(depth int, section bool) string {
	if !section && (depth > 3 || r.IntN(3) > 0) {
		return []string{"1", "-2.5e3", "true", "null", `"a \" // b"`, `"é"`, "[1, [2], {\"c\": 3}]", `""`}[r.IntN(8)]
	}
	multi := r.IntN(2) == 0
	var b strings.Builder
	b.WriteString("{" + r.gap(multi))
	n := r.IntN(5)
	at := -1
	if depth == 0 && n > 0 && r.IntN(3) > 0 {
		at = r.IntN(n)
	}
	for i := range n {
		key, in := fmt.Sprintf("k%d", i), false
		if i == at {
			key, in = "mcpServers", true
		}
		fmt.Fprintf(&b, "%q%s:%s%s%s", key, r.gap(false), r.gap(false), r.value(depth+1, in), r.gap(false))
		if i < n-1 || r.IntN(4) == 0 {
			b.WriteString("," + r.gap(multi))
		}
	}
	return b.String() + r.gap(multi) + "}"
}

// TestSetAndRemoveRestore: taking the entry away gives the very bytes there were before it.
func TestSetAndRemoveRestore(t *testing.T) {
	for seed := range effort.Pick(uint64(1000), 4000, 40_000) {
		r := randomJSON{rand.New(rand.NewPCG(seed, 7)), []string{"\n", "\r\n"}[seed%2]}
		text := r.gap(false) + r.value(0, true) + r.gap(false)
		set := must.Get(setJSON([]byte(text), section, name, jsonFields()))(t, "seed ", seed, ": ", text)
		root := must.Get(parseJSONC(set))(t, "seed ", seed, ": ", set)
		got := root.plain().(map[string]any)[section].(map[string]any)[name]
		want := map[string]any{"command": mnem.Command, "args": decoded(mnem.Args)}
		must.Same(t, got, want, "seed ", seed, ": the entry")
		back, err := removeJSON(set, []byte(text), section, name)
		must.OK(t, err, "seed ", seed, " before set ", set, " after ", back)
		must.Equal(t, string(back), text, "seed ", seed, " before set ", set, " after ", back)
	}
}

func TestTOML(t *testing.T) {
	block := "[mcp_servers.mnem]\ncommand = \"/opt/bin/mnem\"\nargs = [\"mcp\", \"--repo\", \"/w/p\"]\n"
	for name, c := range map[string]struct{ text, want string }{
		"no file":        {"", block},
		"after a table":  {"model = \"x\" # mine\n[a]\nb = 1\n", "model = \"x\" # mine\n[a]\nb = 1\n\n" + block},
		"no end of line": {"a = 1", "a = 1\n" + block},
		"text with headers": {"a = \"\"\"\n[mcp_servers.mnem]\n\"\"\"\nb = [\n  \"[x]\", # ]\n]\n",
			"a = \"\"\"\n[mcp_servers.mnem]\n\"\"\"\nb = [\n  \"[x]\", # ]\n]\n\n" + block},
		"stale": {"[mcp_servers.mnem]\ncommand = 'old'\nstartup_timeout_sec = 9\n\n# next\n[z]\n",
			"[mcp_servers.mnem]\nargs = [\"mcp\", \"--repo\", \"/w/p\"]\ncommand = \"/opt/bin/mnem\"\n" +
				"startup_timeout_sec = 9\n\n# next\n[z]\n"},
		"quoted": {"[ \"mcp_servers\" . 'mnem' ]\n[mcp_servers.mnem.env]\nA = \"b\"\n",
			"[ \"mcp_servers\" . 'mnem' ]\ncommand = \"/opt/bin/mnem\"\nargs = [\"mcp\", \"--repo\", \"/w/p\"]\n" +
				"[mcp_servers.mnem.env]\nA = \"b\"\n"},
	} {
		got, err := setTOML([]byte(c.text), "mcp_servers", "mnem", jsonFields())
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, c.want)
			continue
		}
		if again, err := setTOML(got, "mcp_servers", "mnem", jsonFields()); err != nil || string(again) != string(got) {
			t.Errorf("%s: not the same the second time: %v\n%s", name, err, again)
		}
		back, err := removeTOML(got, "mcp_servers", "mnem")
		if err != nil || name != "stale" && name != "quoted" && string(back) != c.text {
			t.Errorf("%s: %v: it was %q and is %q", name, err, c.text, back)
		}
	}
	text := "[mcp_servers.mnem]\ncommand = \"x\"\n# about b\n[mcp_servers.b]\ncommand = \"y\"\n[mcp_servers.mnem.env]\nA = \"b\"\n"
	back, err := removeTOML([]byte(text), "mcp_servers", "mnem")
	if want := "# about b\n[mcp_servers.b]\ncommand = \"y\"\n"; err != nil || strings.TrimSpace(string(back)) != strings.TrimSpace(want) {
		t.Errorf("%v: %q", err, back)
	}
}

func TestWriteKeepsLinksModesAndBackups(t *testing.T) {
	dir := t.TempDir()
	c, _ := Find("cursor")
	path := c.Path(Machine{Home: dir}, User)
	change, err := c.Set(path, name, mnem, nil)
	must.Require(t, err == nil && change.Changed(), "%v", err)
	if backup, err := change.Write(t.Context()); err != nil || backup != "" {
		t.Fatal(backup, err)
	}
	if e, ok, err := c.Get(path, name); err != nil || !ok || !reflect.DeepEqual(e, mnem) {
		t.Errorf("%v %t %v", e, ok, err)
	}
	if change, err := c.Set(path, name, mnem, nil); err != nil || change.Changed() {
		t.Errorf("the second time: %v", err)
	}
	if change, err = c.Remove(path, Setup{Name: name}); err != nil {
		t.Fatal(err)
	}
	must.OK(t, must.Err(change.Write(t.Context())))
	_, err = os.Stat(path)
	must.Fail(t, err, fs.ErrNotExist)

	real := filepath.Join(dir, "dotfiles.json")
	must.OK(t, os.WriteFile(real, []byte("{\"a\": 1}\n"), 0o640))
	if err := os.Symlink(real, path); err != nil {
		t.Skip("no symbolic links here")
	}
	if change, err = c.Set(path, name, mnem, nil); err != nil {
		t.Fatal(err)
	}
	other := *change
	backup := must.Get(change.Write(t.Context()))(t)
	must.Equal(t, backup, real+Backup)
	if old, err := os.ReadFile(backup); err != nil || string(old) != "{\"a\": 1}\n" {
		t.Errorf("%q, %v", old, err)
	}
	info, err := os.Lstat(path)
	must.True(t, err == nil && info.Mode()&fs.ModeSymlink != 0, "the link is gone: %v, %v", info, err)
	if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info, err)
	}
	// The file changed after the other edit of it was computed: that is made upon what is there now.
	if backup, err := other.Write(t.Context()); err != nil || backup != "" || other.Changed() {
		t.Errorf("an edit that another made in between: %q, %v, %q", backup, err, other.New)
	}
}

func TestPaths(t *testing.T) {
	m := Machine{OS: "linux", Home: "/h", Config: "/c", XDG: "/x", Project: "/p"}
	var got []string
	for _, c := range All() {
		got = append(got, filepath.ToSlash(c.Path(m, User)+" "+c.Path(m, Project)))
	}
	want := []string{
		"/h/.claude.json /p/.mcp.json", "/c/Claude/claude_desktop_config.json ",
		"/h/.cursor/mcp.json /p/.cursor/mcp.json", "/c/Code/User/mcp.json /p/.vscode/mcp.json",
		"/h/.codex/config.toml /p/.codex/config.toml", "/h/.gemini/settings.json /p/.gemini/settings.json",
		"/x/opencode/opencode.json /p/opencode.json",
		"/h/.continue/mcpServers/mnem.json /p/.continue/mcpServers/mnem.json",
		"/x/zed/settings.json /p/.zed/settings.json", "/h/.copilot/mcp-config.json ",
		"/c/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json ",
	}
	must.Same(t, got, want)
	m.OS, m.Codex = "windows", "/codex"
	zed, _ := Find("zed")
	codex, _ := Find("codex")
	must.Equal(t, filepath.ToSlash(zed.Path(m, User)), "/c/Zed/settings.json")
	must.Equal(t, filepath.ToSlash(codex.Path(m, User)), "/codex/config.toml")
}

func FuzzParseJSONC(f *testing.F) {
	f.Add([]byte(`{"a": [1, 2], /* c */ "mcpServers": {},} // d`))
	f.Fuzz(func(t *testing.T, text []byte) {
		set, err := setJSON(text, section, name, jsonFields())
		if err != nil {
			return
		}
		if _, err := removeJSON(set, text, section, name); err != nil {
			t.Errorf("%q is not taken out of %q: %v", text, set, err)
		}
	})
}

func FuzzTOML(f *testing.F) {
	f.Add([]byte("a = 1\n[mcp_servers.x]\nb = '''\n[y]'''\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		set, err := setTOML(text, "mcp_servers", name, jsonFields())
		if err != nil {
			return
		}
		if _, err := removeTOML(set, "mcp_servers", name); err != nil {
			t.Errorf("%q is not taken out of %q: %v", text, set, err)
		}
	})
}
