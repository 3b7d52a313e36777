package clients

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/base/pattern"
)

// Events of a session, as 'mnem hook HOST EVENT' names them.
const (
	sessionStart = "session-start"
	prompt       = "prompt"
	stop         = "stop"
	compact      = "compact"
	sessionEnd   = "session-end"
)

// hookSeconds is how long a host lets a hook run. One takes milliseconds: this is for a machine that
// swaps. Codex allows no more at the end of a session.
const hookSeconds = 3

// hookFormat writes commands into the arrays of a host's events.
type hookFormat struct {
	host   string
	flat   bool // an item of an array is a command, not a group of commands; the file says that it is of version 1
	named  bool // commands have a name, and their limit is in milliseconds
	power  bool // PowerShell runs commands on Windows
	shells bool // commands are under the name of the shell that runs them
	events []hookEvent
}

type hookEvent struct{ name, event string }

// The hooks of clients, as these document them in November 2026.
var (
	claudeHooks = hookFormat{host: "claude-code", events: []hookEvent{
		{"SessionStart", sessionStart}, {"UserPromptSubmit", prompt}, {"Stop", stop}, {"PreCompact", compact},
		{"SessionEnd", sessionEnd},
	}}
	codexHooks = hookFormat{host: "codex", events: []hookEvent{
		{"SessionStart", sessionStart}, {"UserPromptSubmit", prompt}, {"Stop", stop}, {"PreCompact", compact},
	}}
	geminiHooks = hookFormat{host: "gemini", named: true, events: []hookEvent{
		{"SessionStart", sessionStart}, {"BeforeAgent", prompt}, {"AfterAgent", stop}, {"PreCompress", compact},
		{"SessionEnd", sessionEnd},
	}}
	// Other events of Cursor are not needed: its transcripts are not read.
	cursorHooks = hookFormat{host: "cursor", flat: true, power: true, events: []hookEvent{
		{"sessionStart", sessionStart}, {"beforeSubmitPrompt", prompt}, {"preCompact", compact},
	}}
	// Copilot CLI drops what a command says to its event userPromptSubmitted.
	copilotHooks = hookFormat{host: "copilot-cli", flat: true, power: true, shells: true, events: []hookEvent{
		{"sessionStart", sessionStart}, {"agentStop", stop}, {"preCompact", compact}, {"sessionEnd", sessionEnd},
	}}
	// Cline runs a script of an event's name. It says only at this event what an agent could be told about.
	clineHooks = hookFormat{host: "cline", power: true, events: []hookEvent{{"UserPromptSubmit", prompt}}}
)

func (f hookFormat) shell(s Setup) string {
	switch {
	case !f.shells:
		return "command"
	case s.OS == "windows":
		return "powershell"
	}
	return "bash"
}

// command returns what a hook runs. Hosts give it to a shell.
func (f hookFormat) command(s Setup, event string) string {
	word := shellWord(s.Entry.Command, s.OS)
	if f.power && s.OS == "windows" {
		word = powerWord(s.Entry.Command)
	}
	return word + " hook " + f.host + " " + event
}

func (f hookFormat) fields(command string, s Setup) object {
	switch {
	case f.shells:
		return object{{"type", "command"}, {f.shell(s), command}, {"timeoutSec", hookSeconds}}
	case f.flat:
		return object{{"command", command}, {"timeout", hookSeconds}}
	case f.named:
		return object{{"name", "mnem"}, {"type", "command"}, {"command", command}, {"timeout", hookSeconds * 1000}}
	}
	return object{{"type", "command"}, {"command", command}, {"timeout", hookSeconds}}
}

// item is an item of an event's array that has a command.
func (f hookFormat) item(command string, s Setup) any {
	if f.flat {
		return f.fields(command, s)
	}
	return object{{"hooks", list{f.fields(command, s)}}}
}

// program returns the program that a command of ours runs, and the word after the host, which should be an event;
// false for another's. Ours is one word of a shell, the path of a program of our name or of the setup's, and what
// command writes after it: a command that runs it by way of another is the user's own.
func (f hookFormat) program(command string, s Setup) (program, event string, ours bool) {
	words, event := cutLast(command)
	word, ours := strings.CutSuffix(words, " hook "+f.host)
	if !ours || !eventWord(event) {
		return "", "", false
	}
	if program, ours = shellUnword(word, s.OS); !ours && f.power {
		program, ours = powerUnword(word)
	}
	if !ours {
		return "", "", false
	}
	base := program[strings.LastIndexAny(program, `/\`)+1:]
	if n := len(base) - len(".exe"); n > 0 && strings.EqualFold(base[n:], ".exe") {
		base = strings.ToLower(base[:n]) // on systems that do not tell letters apart either
	}
	return program, event, base == "mnem" || program == s.Entry.Command
}

func cutLast(s string) (before, last string) {
	i := strings.LastIndexByte(s, ' ')
	return s[:max(i, 0)], s[i+1:]
}

type hookPlace struct {
	name           string // of the host's event
	event          string // that it calls for, "" if there is no such event
	spelled        string // the event as the command spells it
	item, at       int    // of the array; of the commands of a group
	program        string
	command, group *value
	run            *value // that has the command
	matched        bool   // whether it runs for some of the events alone
}

func (f hookFormat) ours(root *value, s Setup) (out []hookPlace) {
	events := root.at("hooks")
	if events == nil || events.kind != '{' {
		return nil
	}
	add := func(p hookPlace) {
		text, _ := p.command.literal()
		var ours bool
		if p.program, p.spelled, ours = f.program(text, s); ours {
			p.event = f.eventOf(p.spelled)
			out = append(out, p)
		}
	}
	for _, e := range events.members {
		for i, item := range e.value.items() {
			if f.flat {
				add(hookPlace{
					name: e.key, item: i, command: item.value.at(f.shell(s)), run: item.value, matched: matched(item.value),
				})
				continue
			}
			group := item.value.at("hooks")
			for j, run := range group.items() {
				add(hookPlace{
					name: e.key, item: i, at: j, command: run.value.at("command"), group: group, run: run.value,
					matched: matched(item.value),
				})
			}
		}
	}
	return out
}

func (f hookFormat) set(text []byte, s Setup) ([]byte, error) {
	was := text
	if f.flat {
		root, err := parseJSONC(text)
		if err != nil {
			return nil, err
		}
		if root.at("version") == nil {
			if text, err = addJSON(text, nil, "version", 1); err != nil {
				return nil, err
			}
		}
	}
	for _, e := range f.events {
		var err error
		if text, err = f.setEvent(text, e, s); err != nil {
			return nil, err
		}
	}
	text, err := f.removeIf(text, nil, s, func(p hookPlace, first bool) bool {
		return !first || f.nameOf(p.event) != p.name
	})
	if err != nil {
		return nil, err
	}
	return text, f.onlyOurs(was, text, s)
}

// matched reports whether an item has a matcher that leaves events out.
func matched(item *value) bool {
	m := item.at("matcher")
	text, _ := m.literal()
	return m != nil && text != "" && text != "*"
}

// setEvent returns a file whose event has our command. One that is there says afterwards what it would say if it
// were written again, by the same spelling of the event, and what else it has stays; one that runs for some of the events alone is moved.
func (f hookFormat) setEvent(text []byte, e hookEvent, s Setup) ([]byte, error) {
	text, err := f.removeIf(text, nil, s, func(p hookPlace, _ bool) bool { return p.name == e.name && p.matched })
	if err != nil {
		return nil, err
	}
	spelled := e.event
	find := func(root *value) *value {
		for _, p := range f.ours(root, s) {
			if p.name == e.name && p.event == e.event {
				spelled = p.spelled
				return p.run
			}
		}
		return nil
	}
	root, err := parseJSONC(text)
	if err != nil {
		return nil, err
	}
	if find(root) != nil {
		return setFields(text, find, f.fields(f.command(s, spelled), s))
	}
	return addJSON(text, []string{"hooks", e.name}, "", f.item(f.command(s, e.event), s))
}

func (f hookFormat) nameOf(event string) string {
	for _, e := range f.events {
		if e.event == event {
			return e.name
		}
	}
	return ""
}

// removeIf returns a file without those commands of ours that are chosen; first is whether a command
// is the first of ours for its event in the array.
func (f hookFormat) removeIf(text, before []byte, s Setup, chosen func(p hookPlace, first bool) bool) ([]byte, error) {
	for {
		root, err := parseJSONC(text)
		if err != nil {
			return nil, err
		}
		var gone *hookPlace
		seen := map[string]bool{}
		for _, p := range f.ours(root, s) {
			if chosen(p, !seen[p.name+" "+p.event]) {
				gone = &p
			}
			seen[p.name+" "+p.event] = true
		}
		switch {
		case gone == nil:
			return text, nil
		case gone.group != nil && len(gone.group.members) > 1:
			text = apply(text, remove(text, gone.group, gone.at)...)
		default:
			if text, err = dropJSON(text, before, []string{"hooks", gone.name}, gone.item); err != nil {
				return nil, err
			}
		}
	}
}

func (f hookFormat) remove(text, before []byte, s Setup) ([]byte, error) {
	was := text
	text, err := f.removeIf(text, before, s, func(hookPlace, bool) bool { return true })
	if err != nil {
		return nil, err
	}
	root, err := parseJSONC(text)
	if err != nil {
		return nil, err
	}
	old, _ := parseJSONC(before) // a damaged one says nothing
	if i := root.find("version"); f.flat && i >= 0 && len(was) != len(text) && old.at("version") == nil &&
		(old != nil || root.at("hooks") == nil) {
		if text, err = dropJSON(text, before, nil, i); err != nil {
			return nil, err
		}
	}
	return text, f.onlyOurs(was, text, s)
}

// onlyOurs returns an error unless two files say the same but for commands of ours, what these leave
// empty, and the version.
func (f hookFormat) onlyOurs(a, b []byte, s Setup) error {
	one, err := plainJSON(a)
	if err != nil {
		return err
	}
	other, err := plainJSON(b)
	if err != nil {
		return fmt.Errorf("the edit would break the file: %w", err)
	}
	if f.strip(one, s); !reflect.DeepEqual(one, f.strip(other, s)) {
		return fmt.Errorf("%w: an edit would change more than our hooks", ErrDamaged)
	}
	return nil
}

// strip takes out of what a file says all that onlyOurs passes over.
func (f hookFormat) strip(all map[string]any, s Setup) map[string]any {
	events, _ := all["hooks"].(map[string]any)
	for name, v := range events {
		if items, ok := v.([]any); ok {
			if rest := f.stripItems(items, s); len(rest) > 0 {
				events[name] = rest
			} else {
				delete(events, name)
			}
		}
	}
	if events != nil && len(events) == 0 {
		delete(all, "hooks")
	}
	if f.flat {
		delete(all, "version")
	}
	return all
}

func (f hookFormat) stripItems(items []any, s Setup) (rest []any) {
	for _, item := range items {
		group, _ := item.(map[string]any)
		if command, ok := group[f.shell(s)].(string); ok && f.flat {
			if _, _, ours := f.program(command, s); ours {
				continue
			}
		}
		if runs, ok := group["hooks"].([]any); ok && !f.flat {
			in := hookFormat{host: f.host, flat: true}
			if runs = in.stripItems(runs, s); len(runs) == 0 {
				continue
			}
			group["hooks"] = runs
		}
		rest = append(rest, item)
	}
	return rest
}

// maxEvent bounds the length of a word that is taken for an event, in bytes.
const maxEvent = 64

// eventWord reports whether a word of a command can be meant as an event: a shell changes nothing in it.
func eventWord(word string) bool {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
	}
	return word != "" && len(word) <= maxEvent && !strings.ContainsFunc(word, odd)
}

// ownEvents are the events by their own names, which every host may use.
var ownEvents = []string{sessionStart, prompt, stop, compact, sessionEnd}

// eventOf returns the event that a command spells by its own name or the host's, "" if there is none.
func (f hookFormat) eventOf(spelled string) string {
	for _, e := range f.events {
		if e.name == spelled {
			return e.event
		}
	}
	if slices.Contains(ownEvents, spelled) {
		return spelled
	}
	return ""
}

// UnknownEvent is an event that a command of ours names and that does not exist.
type UnknownEvent struct {
	Name    string
	Nearest string // known event, as this program or the host spells it
}

// unknown returns an UnknownEvent with the known event nearest to it: by the fewest edits of letters and digits alone,
// then of all characters, then the first one.
func (f hookFormat) unknown(spelled string) UnknownEvent {
	names := slices.Clone(ownEvents)
	for _, e := range f.events {
		names = append(names, e.name)
	}
	return UnknownEvent{spelled, slices.MinFunc(names, func(a, b string) int {
		if d := edits(folded(spelled), folded(a)) - edits(folded(spelled), folded(b)); d != 0 {
			return d
		}
		return edits(spelled, a) - edits(spelled, b)
	})}
}

// folded is an event's name without upper case and punctuation.
func folded(name string) string {
	return strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(name))
}

// edits returns how many bytes must be added, removed or replaced to turn one text into another.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := before
			if a[i] != b[j] {
				replaced++
			}
			before = row[j+1]
			row[j+1] = min(replaced, before+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// shellWord quotes a path for a shell. Hosts run commands with sh; on Windows the shell varies, and only double quotes
// work in all of them.
func shellWord(path, system string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+@:", r)
	}
	switch {
	case strings.TrimFunc(path, plain) == "":
		return path
	case system == "windows":
		return `"` + path + `"`
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// shellUnword returns the word that a shell reads from a text. It returns false if that is not exactly one word or if
// it depends on the shell's environment. On Windows a backslash is part of a path.
func shellUnword(text, system string) (string, bool) {
	var out strings.Builder
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == '\'':
			out.WriteByte(c)
		case c == '\\' && system != "windows":
			if i++; i == len(text) {
				return "", false
			}
			if quote == '"' && !strings.ContainsRune("\"\\$`", rune(text[i])) {
				out.WriteByte(c)
			}
			out.WriteByte(text[i])
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case c == '$' || c == '`' || quote == 0 && strings.ContainsRune(" \t\r\n|&;<>()", rune(c)):
			return "", false
		default:
			out.WriteByte(c)
		}
	}
	return out.String(), quote == 0
}

func powerWord(path string) string {
	return "& '" + strings.ReplaceAll(path, "'", "''") + "'"
}

// powerUnword returns the path that a word of powerWord has, false for another text.
func powerUnword(text string) (string, bool) {
	inner, begins := strings.CutPrefix(text, "& '")
	inner, ends := strings.CutSuffix(inner, "'")
	if !begins || !ends {
		return "", false
	}
	path := strings.ReplaceAll(inner, "''", "'")
	return path, powerWord(path) == text
}

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
