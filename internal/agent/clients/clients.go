// Package clients edits the configuration files of MCP clients. It adds and removes an entry that starts a server,
// hooks that call a program, and rules that tell agents how to use the memory. It leaves everything else unchanged,
// byte for byte, comments included. docs/reference/clients.md lists the files.
//
// Files are JSON, with or without comments and trailing commas; Codex's are TOML, and OpenCode runs a module that this
// package writes. Rules are Markdown between two comments. The first comment has a hash of the written text; a text that
// the user has edited since is left alone.
//
// The result of an edit is parsed before it is written: unless it has the old content and the entry, nothing is
// written. A file that cannot be parsed is left alone. Writing replaces the file in one step, based on its latest
// content, and keeps the old file next to it, under its name and Backup.
package clients

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
)

// Name is the name of the entry that starts the server.
const Name = "mnem"

// Level is whose configuration a file is.
type Level string

const (
	User    Level = "user"
	Project Level = "project"
)

// Machine is where files are: directories, "" if the system names none.
type Machine struct {
	OS      string // as runtime.GOOS has it
	Home    string
	Config  string // %AppData%, ~/Library/Application Support, or XDG_CONFIG_HOME or ~/.config
	XDG     string // XDG_CONFIG_HOME or ~/.config on every system: Zed's
	Claude  string // CLAUDE_CONFIG_DIR, "" for .claude in Home
	Codex   string // CODEX_HOME, "" for .codex in Home
	Project string // root of the project
	// Has reports whether there is a program of a name, nil for none.
	Has func(program string) bool
}

// Setup says what to write into files.
type Setup struct {
	Name  string        // of the entry
	Entry ServerCommand // whose program hooks run too
	OS    string        // as runtime.GOOS has it: whose shells run hooks
}

// Client is one MCP client.
type Client struct {
	Name  string
	Title string
	// Here is whether it starts servers in the directory of the project, or says which folders it has open when
	// they ask, so that one entry does for all projects.
	Here bool
	// Folder is replaced by the client with the directory of the project; "" for none.
	Folder string
	entryFormat
	path  func(Machine, Level) string
	hooks *hooksFile           // nil if none are written
	rules *rulesFile           // the same
	home  func(Machine) string // the directory of the user's files, "" if the system names none
	// programs are the names of what is started, the first that is there.
	programs []string
}

type hooksFile struct {
	hookForm
	path func(Machine, Level) string
}

// hookForm writes what calls the program of a setup at a client's events.
type hookForm interface {
	set(text []byte, s Setup) ([]byte, error)
	// remove is given the file before the first edit too, nil for none.
	remove(text, before []byte, s Setup) ([]byte, error)
	// state says what a text has of ours; nil is no file.
	state(text []byte, s Setup) (HooksState, error)
}

// All returns the clients in the order of their names in lists.
func All() []Client {
	claude := func(m Machine) string { return cmp.Or(m.Claude, join(m.Home, ".claude")) }
	codex := func(m Machine) string { return cmp.Or(m.Codex, join(m.Home, ".codex")) }
	cursor := func(m Machine) string { return join(m.Home, ".cursor") }
	gemini := func(m Machine) string { return join(m.Home, ".gemini") }
	openCode := func(m Machine) string { return join(m.XDG, "opencode") } // on every system
	copilot := func(m Machine) string { return join(m.Home, ".copilot") }
	continues := func(m Machine) string { return join(m.Home, ".continue") }
	return []Client{
		{Name: "claude-code", Title: "Claude Code", Here: true,
			entryFormat: entryFormat{section: "mcpServers", typed: true},
			path: func(m Machine, l Level) string {
				if l == Project {
					return join(m.Project, ".mcp.json")
				}
				return join(m.Home, ".claude.json")
			},
			home: claude, programs: []string{"claude"},
			hooks: &hooksFile{claudeHooks, files(claude, "settings.json", ".claude/settings.json")},
			rules: &rulesFile{front: skillFront, path: files(claude, "skills/mnem/SKILL.md", ".claude/skills/mnem/SKILL.md")}},
		{Name: "claude-desktop", Title: "Claude Desktop", entryFormat: entryFormat{section: "mcpServers"},
			home: claudeDesktop, path: files(claudeDesktop, "claude_desktop_config.json", "")},
		{Name: "cursor", Title: "Cursor", Here: true, Folder: "${workspaceFolder}",
			entryFormat: entryFormat{section: "mcpServers"},
			programs:    []string{"cursor", "cursor-agent"}, home: cursor, path: files(cursor, "mcp.json", ".cursor/mcp.json"),
			hooks: &hooksFile{cursorHooks, files(cursor, "hooks.json", ".cursor/hooks.json")},
			// Cursor keeps a user's own rules where only its settings reach.
			rules: &rulesFile{front: cursorFront, path: files(cursor, "", ".cursor/rules/mnem.mdc")}},
		{Name: "vscode", Title: "VS Code", Here: true, Folder: "${workspaceFolder}",
			entryFormat: entryFormat{section: "servers", typed: true},
			programs:    []string{"code"}, home: code, path: files(code, "User/mcp.json", ".vscode/mcp.json"),
			rules: &rulesFile{front: codeFront, above: home, path: files(home,
				".copilot/instructions/mnem.instructions.md", ".github/instructions/mnem.instructions.md")}},
		{Name: "codex", Title: "Codex", Here: true, entryFormat: entryFormat{section: "mcp_servers", toml: true},
			programs: []string{"codex"}, home: codex, path: files(codex, "config.toml", ".codex/config.toml"),
			hooks: &hooksFile{codexHooks, files(codex, "hooks.json", ".codex/hooks.json")},
			rules: &rulesFile{path: files(codex, "AGENTS.md", "AGENTS.md")}},
		{Name: "gemini", Title: "Gemini CLI", Here: true, entryFormat: entryFormat{section: "mcpServers"},
			programs: []string{"gemini"}, home: gemini, path: files(gemini, "settings.json", ".gemini/settings.json"),
			hooks: &hooksFile{geminiHooks, files(gemini, "settings.json", ".gemini/settings.json")},
			rules: &rulesFile{path: files(gemini, "GEMINI.md", "GEMINI.md")}},
		{Name: "opencode", Title: "OpenCode", Here: true, entryFormat: entryFormat{section: "mcp", local: true},
			programs: []string{"opencode"}, home: openCode, path: files(openCode, "opencode.json", "opencode.json"),
			hooks: &hooksFile{pluginFile{}, files(openCode, "plugins/mnem.js", ".opencode/plugins/mnem.js")},
			rules: &rulesFile{path: files(openCode, "AGENTS.md", "AGENTS.md")}},
		{Name: "continue", Title: "Continue", Here: true, entryFormat: entryFormat{section: "mcpServers"},
			programs: []string{"cn"}, home: continues,
			path:  files(continues, "mcpServers/mnem.json", ".continue/mcpServers/mnem.json"),
			rules: &rulesFile{front: continueFront, path: files(continues, "rules/mnem.md", ".continue/rules/mnem.md")}},
		{Name: "zed", Title: "Zed", Here: true, entryFormat: entryFormat{section: "context_servers"},
			programs: []string{"zed", "zeditor"}, home: zed, path: files(zed, "settings.json", ".zed/settings.json"),
			rules: &rulesFile{path: files(zed, "AGENTS.md", "AGENTS.md")}},
		{Name: "copilot-cli", Title: "Copilot CLI", Here: true,
			entryFormat: entryFormat{section: "mcpServers", typed: true, tools: true},
			programs:    []string{"copilot"}, home: copilot, path: files(copilot, "mcp-config.json", ""),
			hooks: &hooksFile{copilotHooks, files(copilot, "hooks/mnem.json", "")},
			rules: &rulesFile{path: files(copilot, "copilot-instructions.md", "")}},
		// Cline starts servers in a directory of its own.
		{Name: "cline", Title: "Cline", entryFormat: entryFormat{section: "mcpServers", typed: true},
			home: cline, path: files(cline, "settings/cline_mcp_settings.json", ""),
			hooks: &hooksFile{pluginFile{script: true}, clineScript},
			rules: &rulesFile{above: home, path: files(home, "Documents/Cline/Rules/mnem.md", "")}},
	}
}

// files returns where a file is: of the user, under a directory, and of the project, under its root; "" for none.
func files(home func(Machine) string, user, project string) func(Machine, Level) string {
	return func(m Machine, l Level) string {
		dir, name := home(m), user
		if l == Project {
			dir, name = m.Project, project
		}
		if name == "" {
			return ""
		}
		return join(dir, filepath.FromSlash(name))
	}
}

func claudeDesktop(m Machine) string { return join(m.Config, "Claude") }

func home(m Machine) string { return m.Home }

func cline(m Machine) string {
	return join(m.Config, "Code", "User", "globalStorage", "saoudrizwan.claude-dev")
}

// clineScript returns the script that Cline runs when a user says something, of the user alone.
func clineScript(m Machine, l Level) string {
	name := "Documents/Cline/Hooks/" + clineHooks.events[0].name
	if m.OS == "windows" {
		name += ".ps1"
	}
	return files(home, name, "")(m, l)
}

func code(m Machine) string { return join(m.Config, "Code") }

func zed(m Machine) string {
	if m.OS == "windows" {
		return join(m.Config, "Zed")
	}
	return join(m.XDG, "zed")
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

// Root returns the directory of a level that the client's files are in, and that stays whatever is taken away.
func (c Client) Root(m Machine, l Level) string {
	if l == Project {
		return m.Project
	}
	return c.home(m)
}

// RulesRoot is Root for the file of rules.
func (c Client) RulesRoot(m Machine, l Level) string {
	if l == User && c.rules != nil && c.rules.above != nil {
		return c.rules.above(m)
	}
	return c.Root(m, l)
}

// Path returns the file of a level, "" if the client has none on this machine.
func (c Client) Path(m Machine, l Level) string { return c.path(m, l) }

// Changed reports whether there is anything to write.
func (c *FileEdit) Changed() bool {
	return (c.Old == nil) != (c.New == nil) || !bytes.Equal(c.Old, c.New)
}

// Set returns the edit that makes an entry of a name start a server. It writes nothing. If there is
// an entry of that name may is asked, unless it is nil: its error ends the edit, also when that is
// written. Errors wrap ErrDamaged if the file cannot be edited.
func (c Client) Set(path, name string, e ServerCommand, may func(old ServerCommand) error) (*FileEdit, error) {
	s := Setup{Name: name, Entry: e}
	return c.edit(path, s, func(text []byte) ([]byte, error) {
		if old, ok, err := c.entry(text, name); err == nil && ok && may != nil {
			if err := may(old); err != nil {
				return nil, err
			}
		}
		return c.set(text, s)
	})
}

// Remove returns the edit that takes the entry of a setup's name away. A file that Set made, so that there is
// no Backup of it, and that has nothing else goes too.
func (c Client) Remove(path string, s Setup) (*FileEdit, error) {
	return c.without(path, s, func(text, before []byte) ([]byte, error) { return c.remove(text, before, s) })
}

// HooksPath returns the file of a level that hooks go into, "" if the client has none that are written.
func (c Client) HooksPath(m Machine, l Level) string {
	if c.hooks == nil {
		return ""
	}
	return c.hooks.path(m, l)
}

// SetHooks returns the edit that makes the client call the program of a setup at its events, as Set does.
func (c Client) SetHooks(path string, s Setup) (*FileEdit, error) {
	out, err := c.edit(path, s, func(text []byte) ([]byte, error) { return c.hooks.set(text, s) })
	if f, ok := c.hooks.hookForm.(pluginFile); ok && f.script && out != nil {
		out.mode = 0o700
	}
	return out, err
}

// RemoveHooks returns the edit that takes away what SetHooks wrote, as Remove does.
func (c Client) RemoveHooks(path string, s Setup) (*FileEdit, error) {
	return c.without(path, s, func(text, before []byte) ([]byte, error) {
		return c.hooks.remove(text, before, s)
	})
}

// without returns an edit that takes something away.
func (c Client) without(path string, s Setup, remove func(text, before []byte) ([]byte, error)) (*FileEdit, error) {
	return c.edit(path, s, func(text []byte) ([]byte, error) {
		before, err := read(linked(path) + Backup)
		if err != nil {
			return nil, err
		}
		out, err := remove(text, before)
		if err != nil || bytes.Equal(out, text) {
			return out, err
		}
		if before == nil && c.bare(out) {
			return nil, nil // the file was made for what is taken away
		}
		if root, err := parseJSONC(before); err == nil && root == nil && bytes.HasPrefix(out, before) &&
			string(bytes.TrimSpace(out[len(before):])) == "{}" {
			return before, nil // the object was made for it, below blanks and comments
		}
		return out, nil
	})
}

func (c Client) bare(text []byte) bool {
	rest := strings.Join(strings.Fields(string(text)), "")
	// OpenCode puts the address of its schema into a file that has none.
	return rest == "" || rest == "{}" || c.local && rest == `{"$schema":"https://opencode.ai/config.json"}`
}

// ours reports whether a file has something of ours, so that it is none from before.
func (c Client) ours(text []byte, s Setup) bool {
	if _, ok, err := c.entry(text, Name); err == nil && ok {
		return true
	}
	if c.hooks == nil {
		return false
	}
	state, err := c.hooks.state(text, s)
	return err == nil && state.There > 0
}

func (c Client) edit(path string, s Setup, change func([]byte) ([]byte, error)) (*FileEdit, error) {
	text, err := read(path)
	if err != nil {
		return nil, err
	}
	ours := func(text []byte) bool { return c.ours(text, s) }
	out := &FileEdit{Path: path, Old: text, ours: ours, make: func(old []byte) ([]byte, error) {
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
func (c Client) Get(path, name string) (ServerCommand, bool, error) {
	text, err := read(path)
	if err != nil {
		return ServerCommand{}, false, err
	}
	e, ok, err := c.entry(text, name)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return e, ok, err
}

// HooksText returns the hooks as a file of their own would have them.
func (c Client) HooksText(s Setup) (string, error) {
	out, err := c.hooks.set(nil, s)
	return string(out), err
}

// Text returns the entry as a file of its own would have it.
func (c Client) Text(name string, e ServerCommand) (string, error) {
	out, err := c.set(nil, Setup{Name: name, Entry: e})
	return string(out), err
}

// ServerCommand starts a server.
type ServerCommand struct {
	Command string
	Args    []string
}

// entryFormat writes the entry that starts the server, under a section and a name.
type entryFormat struct {
	section string
	typed   bool // whether entries have the type stdio
	tools   bool // whether entries list the tools that an agent may use: all
	toml    bool
	local   bool // whether entries have the type local, and program and arguments in one list
}

func (f entryFormat) fields(e ServerCommand) object {
	if f.local {
		return object{{"type", "local"}, {"command", append([]string{e.Command}, e.Args...)}}
	}
	fields := object{{"command", e.Command}, {"args", append([]string{}, e.Args...)}}
	if f.typed {
		fields = append(object{{"type", "stdio"}}, fields...)
	}
	if f.tools {
		fields = append(fields, object{{"tools", []string{"*"}}}...)
	}
	return fields
}

func (f entryFormat) set(text []byte, s Setup) ([]byte, error) {
	if f.toml {
		return setTOML(text, f.section, s.Name, f.fields(s.Entry))
	}
	return setJSON(text, f.section, s.Name, f.fields(s.Entry))
}

func (f entryFormat) remove(text, before []byte, s Setup) ([]byte, error) {
	if f.toml {
		return removeTOML(text, f.section, s.Name)
	}
	return removeJSON(text, before, f.section, s.Name)
}

// entry returns the entry of a name in a text, nil for no file.
func (f entryFormat) entry(text []byte, name string) (e ServerCommand, ok bool, err error) {
	var all map[string]any
	if f.toml {
		all, err = parseTOML(text)
	} else {
		all, err = plainJSON(text)
	}
	if err != nil {
		return e, false, err
	}
	sec, _ := all[f.section].(map[string]any)
	got, ok := sec[name].(map[string]any)
	args, _ := got["args"].([]any)
	e.Command, _ = got["command"].(string)
	if list, _ := got["command"].([]any); f.local && len(list) > 0 {
		e.Command, _ = list[0].(string)
		args = list[1:]
	}
	for _, a := range args {
		s, _ := a.(string)
		e.Args = append(e.Args, s)
	}
	return e, ok, nil
}

// setJSON returns a file with an entry under section and name. What else the entry has stays.
func setJSON(text []byte, section, name string, fields object) ([]byte, error) {
	return editJSON(text, section, name, fields, func(root *value) ([]byte, error) {
		if root.at(section, name) == nil {
			return addJSON(text, []string{section}, name, fields)
		}
		return setFields(text, func(root *value) *value { return root.at(section, name) }, fields)
	})
}

// removeJSON returns a file without the entry under section and name, and without the section if it
// had nothing else, unless before has it: the file before the first edit, nil for none.
func removeJSON(text, before []byte, section, name string) ([]byte, error) {
	return editJSON(text, section, name, nil, func(root *value) ([]byte, error) {
		i := root.at(section).find(name)
		if i < 0 {
			return text, nil
		}
		return dropJSON(text, before, []string{section}, i)
	})
}

// editJSON returns a file as change makes it, which may change the fields of one entry alone.
func editJSON(
	text []byte, section, name string, fields object, change func(root *value) ([]byte, error),
) ([]byte, error) {
	before, err := plainJSON(text)
	if err != nil {
		return nil, err
	}
	root, err := parseJSONC(text)
	if err != nil {
		return nil, err
	}
	out, err := change(root)
	if err != nil || bytes.Equal(out, text) {
		return out, err
	}
	after, err := plainJSON(out)
	if err != nil {
		return nil, fmt.Errorf("the edit would break the file: %w", err)
	}
	return out, onlyEntry(before, after, section, name, fields)
}
