package clients

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Level is whose configuration a file is.
type Level string

const (
	User    Level = "user"
	Project Level = "project"
)

// Machine is where files are: directories, "" where the system names none.
type Machine struct {
	OS      string // as runtime.GOOS has it
	Home    string
	Config  string // %AppData%, ~/Library/Application Support, or XDG_CONFIG_HOME or ~/.config
	XDG     string // XDG_CONFIG_HOME or ~/.config on every system: Zed's
	Codex   string // CODEX_HOME, "" for .codex in Home
	Project string // root of the project
}

// Client is one MCP client.
type Client struct {
	Name  string
	Title string
	// Here is whether it starts servers in the directory of the project, so that they need not be
	// told which it is.
	Here bool
	// Folder is what the client replaces by the directory of the project, "" for nothing.
	Folder  string
	section string
	typed   bool // whether entries say that they are of the type stdio
	toml    bool
	path    func(Machine, Level) string
}

// All returns the clients in the order of their names in lists.
func All() []Client {
	home := func(names ...string) func(Machine, Level) string {
		return func(m Machine, l Level) string {
			if l == Project {
				return join(m.Project, names...)
			}
			return join(m.Home, names...)
		}
	}
	config := func(project string, names ...string) func(Machine, Level) string {
		return func(m Machine, l Level) string {
			switch {
			case l == User:
				return join(m.Config, names...)
			case project != "":
				return join(m.Project, filepath.FromSlash(project))
			}
			return ""
		}
	}
	return []Client{
		{Name: "claude-code", Title: "Claude Code", Here: true, section: "mcpServers", typed: true,
			path: func(m Machine, l Level) string {
				if l == Project {
					return join(m.Project, ".mcp.json")
				}
				return join(m.Home, ".claude.json")
			}},
		{Name: "claude-desktop", Title: "Claude Desktop", section: "mcpServers",
			path: config("", "Claude", "claude_desktop_config.json")},
		{Name: "cursor", Title: "Cursor", Folder: "${workspaceFolder}", section: "mcpServers",
			path: home(".cursor", "mcp.json")},
		{Name: "vscode", Title: "VS Code", Folder: "${workspaceFolder}", section: "servers", typed: true,
			path: config(".vscode/mcp.json", "Code", "User", "mcp.json")},
		{Name: "codex", Title: "Codex", Here: true, section: "mcp_servers", toml: true,
			path: func(m Machine, l Level) string {
				if l == User && m.Codex != "" {
					return join(m.Codex, "config.toml")
				}
				return home(".codex", "config.toml")(m, l)
			}},
		{Name: "gemini", Title: "Gemini CLI", Here: true, section: "mcpServers",
			path: home(".gemini", "settings.json")},
		{Name: "zed", Title: "Zed", section: "context_servers", path: zed},
	}
}

func zed(m Machine, l Level) string {
	switch {
	case l == Project:
		return join(m.Project, ".zed", "settings.json")
	case m.OS == "windows":
		return join(m.Config, "Zed", "settings.json")
	}
	return join(m.XDG, "zed", "settings.json")
}

func join(dir string, names ...string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, names...)...)
}

// Find returns a client by name.
func Find(name string) (Client, bool) {
	for _, c := range All() {
		if c.Name == name {
			return c, true
		}
	}
	return Client{}, false
}

// Path returns the file of a level, "" where the client has none on this machine.
func (c Client) Path(m Machine, l Level) string { return c.path(m, l) }

func (c Client) fields(e Entry) []field {
	fields := []field{{"command", e.Command}, {"args", append([]string{}, e.Args...)}}
	if c.typed {
		fields = append([]field{{"type", "stdio"}}, fields...)
	}
	return fields
}

// Changed reports whether there is anything to write.
func (c *Change) Changed() bool {
	return (c.Old == nil) != (c.New == nil) || !bytes.Equal(c.Old, c.New)
}

// Set returns the edit that makes an entry of a name start a server. It writes nothing. Where there is
// an entry of that name may is asked, unless it is nil: its error ends the edit, also when that is
// written. Errors wrap ErrDamaged where the file cannot be edited.
func (c Client) Set(path, name string, e Entry, may func(old Entry) error) (*Change, error) {
	return c.edit(path, func(text []byte) ([]byte, error) {
		if old, ok, err := c.entry(text, name); err == nil && ok && may != nil {
			if err := may(old); err != nil {
				return nil, err
			}
		}
		if c.toml {
			return setTOML(text, c.section, name, c.fields(e))
		}
		return setJSON(text, c.section, name, c.fields(e))
	})
}

// Remove returns the edit that takes the entry of a name away. A file that Set made, so that there is
// no Backup of it, and that has nothing else goes too.
func (c Client) Remove(path, name string) (*Change, error) {
	return c.edit(path, func(text []byte) (out []byte, err error) {
		if c.toml {
			out, err = removeTOML(text, c.section, name)
		} else {
			out, err = removeJSON(text, c.section, name)
		}
		if err != nil || bytes.Equal(out, text) {
			return out, err
		}
		target := path
		if to, err := filepath.EvalSymlinks(path); err == nil {
			target = to
		}
		rest := strings.Join(strings.Fields(string(out)), "")
		_, kept := os.Lstat(target + Backup)
		if (rest == "" || rest == "{}" && !c.toml) && kept != nil {
			return nil, nil // Set made the file
		}
		return out, nil
	})
}

func (c Client) edit(path string, change func([]byte) ([]byte, error)) (*Change, error) {
	text, err := read(path)
	if err != nil {
		return nil, err
	}
	out := &Change{Path: path, Old: text, make: func(old []byte) ([]byte, error) {
		next, err := change(old)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if old == nil && len(next) == 0 {
			next = nil
		}
		return next, nil
	}}
	out.New, err = out.make(text)
	return out, err
}

// Get returns the entry of a name in a file, and whether there is one.
func (c Client) Get(path, name string) (Entry, bool, error) {
	text, err := read(path)
	if err != nil {
		return Entry{}, false, err
	}
	e, ok, err := c.entry(text, name)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return e, ok, err
}

// entry returns the entry of a name in a text, nil for no file.
func (c Client) entry(text []byte, name string) (Entry, bool, error) {
	if text == nil {
		return Entry{}, false, nil
	}
	var all map[string]any
	var err error
	if c.toml {
		all, err = parseTOML(text)
	} else {
		var root *value
		if root, err = parseJSONC(text); root != nil {
			all, _ = root.plain().(map[string]any)
		}
	}
	if err != nil {
		return Entry{}, false, err
	}
	sec, _ := all[c.section].(map[string]any)
	got, ok := sec[name].(map[string]any)
	e := Entry{}
	e.Command, _ = got["command"].(string)
	args, _ := got["args"].([]any)
	for _, a := range args {
		s, _ := a.(string)
		e.Args = append(e.Args, s)
	}
	return e, ok, nil
}

// Text returns the entry as a file of its own would have it.
func (c Client) Text(name string, e Entry) (string, error) {
	if c.toml {
		out, err := setTOML(nil, c.section, name, c.fields(e))
		return string(out), err
	}
	out, err := setJSON(nil, c.section, name, c.fields(e))
	return string(out), err
}
