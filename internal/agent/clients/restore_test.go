package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// ownConfigs are configurations of users in the forms that editors leave them in.
func ownConfigs(c Client, path string) map[string]string {
	text := "{\n  // mine\n  \"a\": [1, 2], \"hooks\": {\"Stop\": []},\n  \"mcpServers\": {\"x\": {}},\n}"
	switch {
	case strings.HasSuffix(path, ".toml"):
		text = "# mine\nmodel = \"x\"\n\n[mcp_servers.other]\ncommand = \"y\" # mine\n\n[z]\na = [\n  1,\n]"
	case strings.HasSuffix(path, ".js") || strings.HasSuffix(path, "UserPromptSubmit"):
		return nil // ours alone
	case strings.HasSuffix(path, ".md"):
		text = "# Mine\n\n- use tabs\n- no `mnem` in prose"
	case c.rules != nil && c.rules.front != "" && !strings.HasSuffix(path, ".json"):
		return nil // ours alone
	}
	crlf := strings.ReplaceAll(text, "\n", "\r\n")
	return map[string]string{
		"no last break": text, "plain": text + "\n", "blank lines": "\n" + text + "\n\n\n", "crlf": crlf + "\r\n",
		"crlf, no last break": crlf, "mark": byteOrderMark + text + "\n", "mark, crlf": byteOrderMark + crlf + "\r\n",
		"empty": "", "mark alone": byteOrderMark,
	}
}

// TestEveryFileIsRestored: what integrate writes into any file of any client, integrate --remove takes out to the byte,
// through links and whatever the mode, and leaves no other file.
func TestEveryFileIsRestored(t *testing.T) {
	s := Setup{Name: Name, Entry: mnem, OS: "linux"}
	n := 0
	for _, c := range All() {
		for _, l := range []Level{User, Project} {
			for _, how := range []string{"file", "link", "read-only"} {
				dir := t.TempDir()
				m := Machine{
					OS: "linux", Home: filepath.Join(dir, "h"), Config: filepath.Join(dir, "c"), XDG: filepath.Join(dir, "x"),
					Project: filepath.Join(dir, "p"),
				}
				paths := []string{c.Path(m, l), c.HooksPath(m, l), c.RulesPath(m, l)}
				for name := range ownConfigs(c, paths[0]) {
					if how != "file" && name != "crlf, no last break" && name != "empty" {
						continue // each form of a file once is enough
					}
					owns := map[string]string{}
					for _, path := range paths {
						if text, ok := ownConfigs(c, path)[name]; ok && path != "" {
							owns[path] = text
						}
					}
					what := c.Name + " " + string(l) + " " + how + " " + name
					if restored(t, what, how, c, s, c.Root(m, l), paths, owns) {
						n++
					}
				}
			}
		}
	}
	must.True(t, n >= 150, "%d cases", n)
}

// restored integrates into files of a user's own and takes that back, and reports whether there was a file.
func restored(
	t *testing.T, what, how string, c Client, s Setup, root string, paths []string, owns map[string]string,
) bool {
	t.Helper()
	mode := os.FileMode(0o600)
	for path, text := range owns {
		at := path
		if how == "link" {
			at = path + ".real"
			must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
			if err := os.Symlink(filepath.Base(at), path); err != nil && !os.IsExist(err) {
				t.Skip("no symbolic links here")
			}
		}
		if err := os.Chmod(at, 0o600); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		writeFile(t, at, text)
		if how == "read-only" {
			mode = 0o444
			must.OK(t, os.Chmod(at, mode))
		}
	}
	edits := []struct {
		path        string
		set, remove func(string) (*FileEdit, error)
	}{
		{paths[0], func(p string) (*FileEdit, error) { return c.Set(p, Name, mnem, nil) },
			func(p string) (*FileEdit, error) { return c.Remove(p, s) }},
		{paths[1], func(p string) (*FileEdit, error) { return c.SetHooks(p, s) },
			func(p string) (*FileEdit, error) { return c.RemoveHooks(p, s) }},
		{paths[2], c.SetRules, c.RemoveRules},
	}
	for _, e := range edits {
		if e.path != "" {
			change, err := e.set(e.path)
			must.OK(t, err, what)
			makeChange(t, root, change, err)
		}
	}
	for _, e := range edits {
		if e.path != "" {
			change, err := e.remove(e.path)
			must.OK(t, err, what)
			makeChange(t, root, change, err)
		}
	}
	for _, e := range edits {
		text, mine := owns[e.path]
		if _, err := os.Lstat(e.path + Backup); err == nil {
			t.Errorf("%s: the backup of %s is left", what, e.path)
		}
		if !mine {
			if _, err := os.Lstat(e.path); err == nil && e.path != "" {
				t.Errorf("%s: %s is left", what, e.path)
			}
			continue
		}
		info, err := os.Stat(e.path)
		if err != nil || info.Mode().Perm() != mode || fileText(t, e.path) != text {
			t.Errorf("%s: %s: %q, want %q, %v", what, e.path, fileText(t, e.path), text, err)
		}
		if link, err := os.Lstat(e.path); err != nil || (link.Mode()&os.ModeSymlink != 0) != (how == "link") {
			t.Errorf("%s: %s is another kind of file: %v", what, e.path, err)
		}
	}
	return len(owns) > 0
}
