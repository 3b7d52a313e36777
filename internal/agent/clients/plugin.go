package clients

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/internal/base/pattern"
)

// pluginText calls hooks for OpenCode, which knows no commands but modules.
//
//go:embed plugin.js
var pluginText string

var pluginLine = pattern.New(`^(?://|#) mnem:file ([0-9a-f]{12}):`)

// pluginFile writes a file of our own that calls the program of a setup: a module for OpenCode, a script for Cline. Its
// first line, below that with the shell of a script, has a hash of the others, by which one that the user has edited
// since is known, and left alone.
type pluginFile struct{ script bool }

// shebang is how the script of a hook begins where a shell runs it.
const shebang = "#!/bin/sh\n"

// parts returns what stands above the mark, the sign of a comment, and the rest of the file.
func (f pluginFile) parts(s Setup) (above, sign, body string) {
	if !f.script {
		program, _ := json.Marshal(s.Entry.Command) // a string has a JSON form
		return "", "//", strings.Replace(unixLines(pluginText), "PROGRAM", string(program), 1)
	}
	command := clineHooks.command(s, prompt) + "\n"
	if s.OS == "windows" {
		return "", "#", command
	}
	return shebang, "#", "exec " + command
}

func (f pluginFile) text(s Setup) string {
	above, sign, body := f.parts(s)
	return above + sign + " mnem:file " + rulesHash(body) + ":" + strings.TrimSuffix(markTail, " -->") + "\n" + body
}

// whose reports whether a text has our mark, and whether it is as it was written.
func (f pluginFile) whose(text []byte) (ours, untouched bool) {
	first, body, _ := strings.Cut(strings.TrimPrefix(unixLines(string(text)), shebang), "\n")
	m := pluginLine().FindStringSubmatch(first)
	return m != nil, m != nil && m[1] == rulesHash(body)
}

func (f pluginFile) set(text []byte, s Setup) ([]byte, error) {
	ours, untouched := f.whose(text)
	switch {
	case ours && !untouched:
		return text, nil
	case !ours && len(bytes.TrimSpace(text)) > 0:
		return nil, fmt.Errorf("%w: it is not of mnem; move it, or leave the hooks out", ErrDamaged)
	case unixLines(string(text)) == f.text(s):
		return text, nil
	}
	return []byte(f.text(s)), nil
}

func (f pluginFile) remove(text, before []byte, _ Setup) ([]byte, error) {
	if _, untouched := f.whose(text); !untouched {
		return text, nil
	}
	return before, nil
}

func (f pluginFile) state(text []byte, s Setup) (out HooksState, err error) {
	ours, untouched := f.whose(text)
	if !ours {
		return out, nil
	}
	out.There = 1
	if out.Outdated = untouched && unixLines(string(text)) != f.text(s); !out.Outdated {
		return out, nil
	}
	for line := range strings.Lines(unixLines(string(text))) {
		if was, ok := f.program(strings.TrimSuffix(line, "\n"), s); ok && was != s.Entry.Command {
			out.Programs = []string{was}
		}
	}
	return out, nil
}

// program returns the program that a line of a file runs, false if it runs none.
func (f pluginFile) program(line string, s Setup) (was string, ok bool) {
	if f.script {
		was, _, ok = clineHooks.program(strings.TrimPrefix(line, "exec "), s)
		return was, ok
	}
	value, ok := strings.CutPrefix(strings.TrimSuffix(line, ";"), "const program = ")
	return was, ok && json.Unmarshal([]byte(value), &was) == nil
}
