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

const pluginMark = "// mnem:file "

var pluginLine = pattern.New(`^// mnem:file ([0-9a-f]{12}):`)

// pluginFile writes a module of our own that calls the program of a setup. Its first line has a hash of the
// others, by which one that the user has edited since is known, and left alone.
type pluginFile struct{}

func (pluginFile) text(s Setup) string {
	program, _ := json.Marshal(s.Entry.Command) // a string has a JSON form
	body := strings.Replace(unixLines(pluginText), "PROGRAM", string(program), 1)
	return pluginMark + rulesHash(body) + ":" +
		strings.TrimSuffix(markTail, " -->") + "\n" + body
}

// whose reports whether a text has our mark, and whether it is as it was written.
func (pluginFile) whose(text []byte) (ours, untouched bool) {
	first, body, _ := strings.Cut(unixLines(string(text)), "\n")
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
	program, _ := json.Marshal(s.Entry.Command)
	for line := range strings.Lines(unixLines(string(text))) {
		value, ok := strings.CutPrefix(strings.TrimSuffix(line, ";\n"), "const program = ")
		var was string
		if ok && value != string(program) && json.Unmarshal([]byte(value), &was) == nil {
			out.Programs = []string{was}
		}
	}
	return out, nil
}
