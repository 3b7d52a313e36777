package chats

import (
	_ "embed"
	"encoding/json"
	"strings"
	"sync"

	"github.com/mnem-project/mnem/internal/base/pattern"
)

// Kinds of records and parts of records that are left out, as answers count them. A record left out as a whole is
// counted by the type name in its format, or by one of these.
const (
	Damaged    = "damaged"
	Duplicate  = "duplicate"
	Incomplete = "incomplete last line"
	Empty      = "empty"

	thought    = "thought"
	toolResult = "tool result"
	subagent   = "subagent"
	image      = "image"
	file       = "file"
	audio      = "audio"
	reminder   = "reminder"
	command    = "command"
	compaction = "compaction"
)

// The beginnings of the kinds of what no table has: a newer version of its program wrote it.
const (
	unknown      = "unknown "
	unknownField = "unknown field "
)

//go:embed formats.txt
var formatsFile string

// tables are the tables of formats.txt by their names, which are read when the first is asked for.
var tables = sync.OnceValue(func() (t struct {
	kinds  map[string]kinds
	fields map[string]shape
}) {
	t.kinds, t.fields = make(map[string]kinds), make(map[string]shape)
	for table := range strings.SplitSeq(strings.TrimSpace(formatsFile), "\n\n") {
		head, lines, _ := strings.Cut(table, "\n")
		if name, ok := strings.CutPrefix(head, "kinds "); ok {
			t.kinds[name] = parseKinds(lines)
		} else if name, ok := strings.CutPrefix(head, "fields "); ok {
			t.fields[name] = parseShape(lines, t.fields)
		}
	}
	return t
})

func kindsOf(table string) kinds { return tables().kinds[table] }

func fieldsOf(table string) shape { return tables().fields[table] }

// kinds are the record types, or parts of records, of a format that are left out, and as what each is counted.
type kinds map[string]string

func parseKinds(lines string) kinds {
	k := make(kinds)
	for line := range strings.SplitSeq(lines, "\n") {
		kind, names, _ := strings.Cut(line, ": ")
		for name := range strings.SplitSeq(names, ", ") {
			if k[name] = kind; kind == "=" {
				k[name] = name
			}
		}
	}
	return k
}

// skip counts a record or part that is left out. A kind that is in no table is reported with its position.
func (k kinds) skip(h Handler, name, at string) {
	if kind, known := k[name]; known {
		h.Skipped(kind, "")
		return
	}
	h.Skipped(unknown+label(name), at)
}

// shape lists the members of a record in the supported versions of its program. A member that holds objects, or lists
// of them, has its own shape.
type shape map[string]shape

// anyName matches every member of an object whose names are ids.
const anyName = "*"

func parseShape(lines string, others map[string]shape) shape {
	open := []shape{{}} // the innermost is the last
	for line := range strings.SplitSeq(lines, "\n") {
		members := strings.TrimLeft(line, "\t")
		open = open[:1+len(line)-len(members)]
		s := open[len(open)-1]
		if name, table, ok := strings.Cut(members, " = "); ok {
			s[name] = others[table]
			continue
		}
		if name, inner, ok := strings.Cut(members, ":"); ok {
			s[name] = make(shape)
			s, members = s[name], inner
			open = append(open, s)
		}
		for name := range strings.FieldsSeq(members) {
			s[name] = nil
		}
	}
	return open[0]
}

// tell counts the members of a record that the shape does not have.
func (s shape) tell(h Handler, record []byte) {
	var object map[string]json.RawMessage
	var list []json.RawMessage
	if s == nil || json.Unmarshal(record, &object) != nil && json.Unmarshal(record, &list) != nil {
		return
	}
	for _, item := range list {
		s.tell(h, item)
	}
	for _, name := range sortedKeys(object) {
		of, known := s[name]
		if !known {
			of, known = s[anyName]
		}
		if !known {
			h.Skipped(unknownField+label(name), "")
		}
		of.tell(h, object[name])
	}
}

// anywhere are the elements that programs put between the words of a user.
var anywhere = pattern.New(`(?s)<(?:system-reminder|ide_selection|ide_opened_file|environment_context|` +
	`user_instructions|local-command-caveat|hook_context|mnem-memory|session_context)>.*?` +
	`</(?:system-reminder|ide_selection|ide_opened_file|environment_context|user_instructions|` +
	`local-command-caveat|hook_context|mnem-memory|session_context)>`)

// beginnings are texts that programs say in the name of a user.
var beginnings = []struct{ text, kind string }{
	{"<command-", command},
	{"<local-command", command},
	{"<bash-", "shell command"},
	{"Caveat: The messages below", command},
	{"[Request interrupted by user", "aborted"},
	{"This session is being continued from a previous conversation", compaction},
}

// Spoken returns a user's text without the parts that programs added, "" for the output of a command.
func Spoken(text string) string { return spoken(text, func(string) {}) }

// spoken is Spoken, and names the kind of each thing that it takes out.
func spoken(text string, left func(kind string)) string {
	text = anywhere().ReplaceAllStringFunc(text, func(found string) string {
		name, _, _ := strings.Cut(found[1:], ">")
		left(kindsOf("contexts")[name])
		return ""
	})
	for text = strings.TrimSpace(text); ; text = strings.TrimSpace(text) {
		// Instructions of a directory have a line above them.
		if strings.HasPrefix(text, "# AGENTS.md instructions") {
			if _, rest, ok := strings.Cut(text, "<INSTRUCTIONS>"); ok {
				text = "<INSTRUCTIONS>" + rest
			}
		}
		name, after := element(text)
		if after == 0 {
			break
		}
		left(kindsOf("contexts")[name])
		text = text[after:]
	}
	for _, b := range beginnings {
		if strings.HasPrefix(text, b.text) {
			left(b.kind)
			return ""
		}
	}
	return text
}

// element returns the name of the context element that a text begins with, and where it ends, 0 for none.
func element(text string) (name string, after int) {
	head, ok := strings.CutPrefix(text[:min(len(text), 200)], "<")
	if !ok {
		return "", 0
	}
	name, _, ok = strings.Cut(head, ">")
	if _, known := kindsOf("contexts")[name]; !ok || !known {
		return "", 0
	}
	end := "</" + name + ">"
	if at := strings.Index(text, end); at >= 0 {
		return name, at + len(end)
	}
	return "", 0
}
