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

type field struct {
	name  string
	value any // a string, number or truth, strings, an object or a list
}

// object is written with a line for each member, and a list with a line for each item.
type (
	object []field
	list   []any
)

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

// addJSON returns a file with one more value in the object or array that a path of names leads to,
// which is made if it is missing: as the member of a name, or with "" as the last item.
func addJSON(text []byte, path []string, name string, v any) ([]byte, error) {
	root, err := parseJSONC(text)
	if err != nil {
		return nil, err
	}
	n := 0
	for n < len(path) && root.at(path[:n+1]...) != nil {
		n++
	}
	for i := len(path) - 1; i >= n; i-- { // what is missing on the way
		if name == "" {
			v = list{v}
		} else {
			v = object{{name, v}}
		}
		name = path[i]
	}
	if root == nil {
		out := slices.Clone(text)
		eol := eolOf(text)
		if n := len(text); n > 0 && text[n-1] != '\n' {
			out = append(out, eol...)
		}
		return append(out, render(object{{name, v}}, "", eol, "  ")+eol...), nil
	}
	in, kind := root.at(path[:n]...), byte('{')
	if name == "" {
		kind = '['
	}
	if in.kind != kind {
		return nil, fmt.Errorf("%w: %s has another kind", ErrDamaged, strings.Join(append([]string{"the root"},
			path[:n]...), "."))
	}
	return apply(text, insert(text, in, name, v, step(text, root))...), nil
}

// dropJSON returns a file without a member of the object, or item of the array, that a path of names
// leads to, and without what this leaves empty on the way, unless before has that too: the file as it
// was before the first edit, nil for none.
func dropJSON(text, before []byte, path []string, i int) ([]byte, error) {
	root, err := parseJSONC(text)
	if err != nil {
		return nil, err
	}
	v := root.at(path...)
	old, _ := parseJSONC(before) // a damaged one says nothing
	was := old.at(path...)
	if len(v.members) == 1 && was != nil && was.kind == v.kind && len(was.members) == 0 {
		inner := before[was.start+1 : was.end-1]
		if bytes.Equal(solid(around(text, v)), solid(inner)) {
			return apply(text, edit{v.start + 1, v.end - 1, string(inner)}), nil
		}
	}
	if len(v.members) > 1 || len(path) == 0 || was != nil || len(solid(around(text, v))) > 0 {
		return apply(text, remove(text, v, i)...), nil
	}
	last := len(path) - 1
	return dropJSON(text, before, path[:last], root.at(path[:last]...).find(path[last]))
}

// setFields returns a file in which the object that find finds has some members. What else it has stays.
func setFields(text []byte, find func(root *value) *value, fields object) ([]byte, error) {
	for _, f := range fields { // one by one: each moves what comes after
		root, err := parseJSONC(text)
		if err != nil {
			return nil, err
		}
		in := find(root)
		if in == nil || in.kind != '{' {
			return nil, fmt.Errorf("%w: what would have the member %s is no object", ErrDamaged, f.name)
		}
		i := in.find(f.name)
		switch {
		case i < 0:
			text = apply(text, insert(text, in, f.name, f.value, step(text, root))...)
		case !reflect.DeepEqual(in.members[i].value.plain(), decoded(f.value)):
			old := in.members[i].value
			text = apply(text, edit{old.start, old.end, render(f.value, "", "", "")})
		}
	}
	return text, nil
}

// around returns what is directly in an object or array of one member, but for that.
func around(text []byte, v *value) []byte {
	m := v.members[0]
	return slices.Concat(text[v.start+1:m.start], text[m.value.end:v.end-1])
}

// solid returns a text without blanks and commas: comments are left.
func solid(text []byte) []byte {
	return bytes.Join(bytes.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n,", r) }), nil)
}

// insert returns the edits that add a member of a name to an object, or with "" an item to an array.
// unit is by how much more the members of what is written are indented.
func insert(text []byte, v *value, name string, add any, unit string) []edit {
	inner := text[v.start:v.end]
	eol := eolOf(text)
	multi := bytes.ContainsRune(inner, '\n')
	outer := indentOf(text, v.start)
	in := outer + unit
	if len(v.members) > 0 {
		in = indentOf(text, v.members[0].start)
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
	if name != "" {
		before += encode(name) + ": "
	}
	return append(edits, edit{v.last, v.last, before + render(add, in, eol, unit) + after})
}

// remove returns the edits that take a member out of an object, or an item out of an array.
func remove(text []byte, v *value, i int) []edit {
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

// render writes a value whose lines are indented by more than indent; in one line without eol.
func render(v any, indent, eol, unit string) string {
	var items []string
	brackets := "[]"
	in := indent + unit
	if eol == "" {
		in = ""
	}
	switch v := v.(type) {
	case object:
		brackets = "{}"
		for _, f := range v {
			items = append(items, encode(f.name)+": "+render(f.value, in, eol, unit))
		}
	case list:
		for _, item := range v {
			items = append(items, render(item, in, eol, unit))
		}
	case []string:
		for _, s := range v {
			items = append(items, encode(s))
		}
		return "[" + strings.Join(items, ", ") + "]"
	default:
		return encode(v)
	}
	if eol == "" {
		return brackets[:1] + strings.Join(items, ", ") + brackets[1:]
	}
	return brackets[:1] + eol + in + strings.Join(items, ","+eol+in) + eol + indent + brackets[1:]
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

func eolOf(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// encode returns a scalar as JSON, and strings as an array in one line, with a blank after commas.
func encode(v any) string {
	if list, ok := v.([]string); ok {
		return render(list, "", "", "")
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // scalars always have a JSON form
	return strings.TrimSuffix(b.String(), "\n")
}

// decoded returns a value as plain has it.
func decoded(v any) any {
	switch v := v.(type) {
	case []string:
		out := make([]any, len(v))
		for i, s := range v {
			out[i] = s
		}
		return out
	case int:
		return json.Number(encode(v))
	case bool:
		return json.Number(encode(v)) // as place has the words
	}
	return v
}

// plainJSON returns what a file says; an empty object for no file.
func plainJSON(text []byte) (map[string]any, error) {
	root, err := parseJSONC(text)
	if err != nil || root == nil {
		return map[string]any{}, err
	}
	all, ok := root.plain().(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%w: it is no object", ErrDamaged)
	}
	return all, nil
}

// onlyEntry returns an error unless after says what before does, which it changes, but for the fields
// of an entry, or none of it if fields is nil.
func onlyEntry(before, after map[string]any, section, name string, fields object) error {
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
