package clients

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Entry is what starts a server.
type Entry struct {
	Command string
	Args    []string
}

// field is one member of an entry.
type field struct {
	name  string
	value any // a string or strings
}

// edit is one replacement in a text.
type edit struct {
	start, end int
	text       string
}

// apply makes replacements, which do not overlap. What is left of a file is never nil.
func apply(text []byte, edits ...edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	})
	out := []byte{}
	at := 0
	for _, e := range edits {
		out = append(append(out, text[at:e.start]...), e.text...)
		at = e.end
	}
	return append(out, text[at:]...)
}

// setJSON returns a file with an entry under section and name. What else the entry has stays.
func setJSON(text []byte, section, name string, fields []field) ([]byte, error) {
	root, err := parseJSONC(text)
	if err != nil {
		return nil, err
	}
	out := text
	switch sec := root.member(section); {
	case root == nil:
		out = slices.Clone(text)
		if n := len(text); n > 0 && text[n-1] != '\n' {
			out = append(out, eolOf(text)...)
		}
		out = append(out, block(section, name, fields, eolOf(text))...)
	case root.kind != '{' || sec != nil && sec.value.kind != '{':
		return nil, fmt.Errorf("%w: %s is no object", ErrDamaged, section)
	case sec == nil:
		out = apply(text, insert(text, root, section, func(in string, eol string) string {
			return object([]string{quote(name) + ": " + entry(fields, in+step(text, root), eol)}, in, eol,
				step(text, root))
		})...)
	default:
		out, err = setEntry(text, sec.value, name, fields, step(text, root))
	}
	if err != nil {
		return nil, err
	}
	return out, checkJSON(text, out, section, name, fields)
}

// setEntry sets an entry of the section.
func setEntry(text []byte, sec *value, name string, fields []field, unit string) ([]byte, error) {
	old := sec.member(name)
	if old == nil {
		return apply(text, insert(text, sec, name, func(in string, eol string) string {
			return object(lines(fields), in, eol, unit)
		})...), nil
	}
	if old.value.kind != '{' {
		return nil, fmt.Errorf("%w: %s is no object", ErrDamaged, name)
	}
	for _, f := range fields { // one by one: each moves what comes after
		data := encode(f.value)
		if m := old.value.member(f.name); m == nil {
			text = apply(text, insert(text, old.value, f.name, func(string, string) string { return data })...)
		} else if !reflect.DeepEqual(m.value.plain(), decoded(f.value)) {
			text = apply(text, edit{m.value.start, m.value.end, data})
		} else {
			continue
		}
		root, err := parseJSONC(text)
		if err != nil {
			return nil, err
		}
		for _, m := range root.members {
			if m.value.start == sec.start {
				old = m.value.member(name)
			}
		}
	}
	return text, nil
}

// removeJSON returns a file without the entry under section and name, and without the section if it
// had nothing else.
func removeJSON(text []byte, section, name string) ([]byte, error) {
	root, err := parseJSONC(text)
	if err != nil {
		return nil, err
	}
	sec := root.member(section)
	if sec == nil || sec.value.kind != '{' || sec.value.member(name) == nil {
		return text, nil
	}
	from, gone := sec.value, name
	if len(from.members) == 1 && bare(text, from) {
		from, gone = root, section
	}
	out := apply(text, remove(text, from, gone)...)
	return out, checkJSON(text, out, section, name, nil)
}

// bare reports whether there is no comment directly in an object of one member.
func bare(text []byte, v *value) bool {
	m := v.members[0]
	around := slices.Concat(text[v.start+1:m.start], text[m.value.end:v.end-1])
	return len(bytes.Trim(around, " \t\r\n,")) == 0
}

// insert returns the edits that add a member to an object.
func insert(text []byte, v *value, name string, write func(indent, eol string) string) []edit {
	inner := text[v.start:v.end]
	eol := eolOf(text)
	multi := bytes.ContainsRune(inner, '\n')
	unit := "  "
	outer := indentOf(text, v.start)
	in := outer + unit
	if len(v.members) > 0 {
		in = indentOf(text, v.members[0].start)
	} else if strings.HasPrefix(outer, "\t") {
		in = outer + "\t"
	}
	var edits []edit
	before, after := eol+in, ""
	switch {
	case len(v.members) == 0 && !multi:
		after = eol + outer
	case len(v.members) > 0 && !multi:
		before = " "
		in, eol = "", ""
	}
	if n := len(v.members); n > 0 {
		if v.comma >= 0 {
			after = ","
		} else {
			end := v.members[n-1].value.end
			edits = append(edits, edit{end, end, ","})
		}
	}
	return append(edits, edit{v.last, v.last, before + quote(name) + ": " + write(in, eol) + after})
}

// remove returns the edits that take a member out of an object.
func remove(text []byte, v *value, name string) []edit {
	i := slices.IndexFunc(v.members, func(m member) bool { return m.key == name })
	m := v.members[i]
	start := m.prev
	rest := bytes.TrimLeft(text[max(m.value.end, m.comma+1):], " \t")
	if m.line && !bytes.HasPrefix(rest, []byte("\n")) && !bytes.HasPrefix(rest, []byte("\r")) {
		start = m.start // what follows must not become part of a comment
	}
	if m.comma >= 0 {
		return []edit{{start, m.value.end, ""}, {m.comma, m.comma + 1, ""}}
	}
	end := m.value.end
	if len(v.members) == 1 && start == v.start+1 {
		end = v.end - 1 // nothing is left but blanks
	}
	edits := []edit{{start, end, ""}}
	if i > 0 {
		comma := v.members[i-1].comma
		if comma+1 == start {
			return []edit{{comma, end, ""}}
		}
		edits = append(edits, edit{comma, comma + 1, ""})
	}
	return edits
}

// block is the whole text of a new file.
func block(section, name string, fields []field, eol string) string {
	return object([]string{quote(section) + ": " + object([]string{
		quote(name) + ": " + entry(fields, "    ", eol)}, "  ", eol, "  ")}, "", eol, "  ") + eol
}

func entry(fields []field, indent, eol string) string {
	return object(lines(fields), indent, eol, "  ")
}

func lines(fields []field) []string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = quote(f.name) + ": " + encode(f.value)
	}
	return out
}

// object writes an object whose lines are indented by more than indent; in one line without eol.
func object(members []string, indent, eol, unit string) string {
	if eol == "" {
		return "{" + strings.Join(members, ", ") + "}"
	}
	sep := "," + eol + indent + unit
	return "{" + eol + indent + unit + strings.Join(members, sep) + eol + indent + "}"
}

// step is by how much the members of a file's root are indented.
func step(text []byte, root *value) string {
	if len(root.members) > 0 {
		if in := indentOf(text, root.members[0].start); in != "" {
			return in
		}
	}
	return "  "
}

// indentOf returns the blanks that the line of a position begins with.
func indentOf(text []byte, at int) string {
	line := text[bytes.LastIndexByte(text[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// eolOf returns how lines of a file end.
func eolOf(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

func quote(s string) string { return encode(s) }

// encode returns JSON in one line, with a blank after commas.
func encode(v any) string {
	if list, ok := v.([]string); ok {
		out := make([]string, len(list))
		for i, s := range list {
			out[i] = encode(s)
		}
		return "[" + strings.Join(out, ", ") + "]"
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // strings always have a JSON form
	return strings.TrimSuffix(b.String(), "\n")
}

// decoded returns a field as plain has it.
func decoded(v any) any {
	list, ok := v.([]string)
	if !ok {
		return v
	}
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// checkJSON returns an error unless out says what text says, but for the fields of an entry, or where
// there are none for the entry and an empty section.
func checkJSON(text, out []byte, section, name string, fields []field) error {
	said := func(text []byte) (map[string]any, error) {
		root, err := parseJSONC(text)
		if err != nil || root == nil {
			return map[string]any{}, err
		}
		all, _ := root.plain().(map[string]any)
		return all, nil
	}
	before, err := said(text)
	if err != nil {
		return err
	}
	after, err := said(out)
	if err != nil {
		return fmt.Errorf("the edit would break the file: %w", err)
	}
	return onlyEntry(before, after, section, name, fields)
}

// onlyEntry returns an error unless after says what before does, which it changes, but for the fields
// of an entry, or none of it where fields is nil.
func onlyEntry(before, after map[string]any, section, name string, fields []field) error {
	sec, _ := before[section].(map[string]any)
	if sec == nil {
		sec = map[string]any{}
	}
	before[section] = sec
	if fields == nil {
		delete(sec, name)
	} else {
		e, _ := sec[name].(map[string]any)
		if e == nil {
			e = map[string]any{}
		}
		sec[name] = e
		for _, f := range fields {
			e[f.name] = decoded(f.value)
		}
	}
	if _, there := after[section]; !there && len(sec) == 0 {
		delete(before, section)
	}
	if !reflect.DeepEqual(before, after) {
		return fmt.Errorf("%w: an edit would change more than the entry", ErrDamaged)
	}
	return nil
}
