package clients

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/mnem-project/mnem/internal/base/regular"
)

// Installed reports whether a client seems to be on this machine: its program, its file of the user, or something in
// the directory of these.
func (c Client) Installed(m Machine) bool {
	if m.Has != nil && slices.ContainsFunc(c.programs, m.Has) {
		return true
	}
	if path := c.Path(m, User); path != "" {
		if _, err := os.Stat(path); err == nil {
			return true
		}
	}
	dir := c.home(m)
	if dir == "" {
		return false
	}
	root, err := regular.OpenDir(dir)
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }() // only read
	f, err := root.Open(".")
	if err != nil {
		return false
	}
	names, _ := f.Readdirnames(1)
	_ = f.Close() // nothing was written
	return len(names) > 0
}

// HooksState describes the hooks in a file.
type HooksState struct {
	There    int  // commands of ours
	Outdated bool // whether SetHooks would change something
	// Programs are the programs that our commands run, other than the setup's.
	Programs []string
	// Missing are events of the client that call nothing of ours, and Others those that do and should not, or not so.
	Missing, Others []string
	// Unknown are the events that commands of ours name and that do not exist. Such a command does nothing.
	Unknown []UnknownEvent
}

// Hooks returns the state of the client's hooks in a file.
func (c Client) Hooks(path string, s Setup) (HooksState, error) {
	text, err := read(path)
	if err != nil || text == nil {
		return HooksState{}, err
	}
	return c.hooks.state(text, s)
}

func (f hookFormat) state(text []byte, s Setup) (out HooksState, err error) {
	root, err := parseJSONC(text)
	if err != nil {
		return out, err
	}
	all := f.ours(root, s)
	if out.There = len(all); out.There == 0 {
		return out, nil
	}
	seen := map[string]bool{}
	for _, p := range all {
		if p.program != s.Entry.Command && !slices.Contains(out.Programs, p.program) {
			out.Programs = append(out.Programs, p.program)
		}
		if p.event == "" {
			if u := f.unknown(p.spelled); !slices.Contains(out.Unknown, u) {
				out.Unknown = append(out.Unknown, u)
			}
			continue
		}
		if (f.nameOf(p.event) != p.name || seen[p.name]) && !slices.Contains(out.Others, p.name) {
			out.Others = append(out.Others, p.name)
		}
		seen[p.name] = true
	}
	for _, e := range f.events {
		if !seen[e.name] {
			out.Missing = append(out.Missing, e.name)
		}
	}
	next, err := f.set(text, s)
	out.Outdated = !bytes.Equal(next, text)
	return out, err
}

// Untrusted reports whether a file has hooks of ours that Codex will not run before its user has trusted them. Codex
// records trust in the user's configuration, by the position of each hook; only Codex can tell whether a trusted hook
// has changed.
func (c Client) Untrusted(m Machine, path string, s Setup) (bool, error) {
	format, ok := c.hooks.hookForm.(hookFormat)
	if !ok || c.Name != "codex" {
		return false, nil
	}
	text, err := read(path)
	if err != nil || text == nil {
		return false, err
	}
	root, err := parseJSONC(text)
	if err != nil {
		return false, err
	}
	config, err := read(c.Path(m, User))
	if err != nil {
		return false, err
	}
	all, err := parseTOML(config)
	if err != nil {
		return false, err
	}
	hooks, _ := all["hooks"].(map[string]any)
	states, _ := hooks["state"].(map[string]any)
	trusted := func(p hookPlace) bool {
		place := ":" + snake(p.name) + ":" + strconv.Itoa(p.item) + ":" + strconv.Itoa(p.at)
		for _, file := range []string{path, linked(path)} {
			state, _ := states[file+place].(map[string]any)
			if hash, _ := state["trusted_hash"].(string); hash != "" {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(format.ours(root, s), func(p hookPlace) bool { return !trusted(p) }), nil
}

// snake returns a name as Codex writes it in its states: SessionStart as session_start.
func snake(name string) string {
	var out strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}

func linked(path string) string {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	return path
}
