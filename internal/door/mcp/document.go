package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// member is one name of a JSON object with its value. Objects keep their order: the same answer is
// the same bytes.
type member struct {
	name  string
	value json.RawMessage
}

// members reads an object. What it returns are parts of data.
func members(data json.RawMessage) ([]member, error) {
	list, ok := parts(data, '{')
	if !ok {
		return nil, fmt.Errorf("answer is not a JSON object: %.40q", data)
	}
	out := make([]member, len(list)/2)
	for i := range out {
		out[i] = member{wordOf(list[2*i]), list[2*i+1]}
	}
	return out, nil
}

// entries reads a list, of which null is an empty one. What it returns are parts of data.
func entries(data json.RawMessage) ([]json.RawMessage, error) {
	list, ok := parts(data, '[')
	if !ok && string(bytes.Trim(data, jsonSpace)) != "null" {
		return nil, fmt.Errorf("not a JSON list: %.40q", data)
	}
	return list, nil
}

const jsonSpace = " \t\r\n"

// parts returns the entries of a list, or the names and values of an object by turns; open is how it must begin.
// An answer is taken apart several times: a decoder would copy it each time, and take longer than the answer.
func parts(data json.RawMessage, open byte) (list []json.RawMessage, ok bool) {
	data = bytes.Trim(data, jsonSpace)
	if len(data) == 0 || data[0] != open || !json.Valid(data) {
		return nil, false
	}
	for at := 1; at < len(data)-1; {
		if strings.IndexByte(jsonSpace+",:", data[at]) >= 0 {
			at++
			continue
		}
		end := at + valueLen(data[at:])
		list = append(list, data[at:end:end])
		at = end
	}
	return list, true
}

// valueLen returns how long the value is that valid JSON begins with.
func valueLen(data []byte) int {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			for i++; data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		default: // of a number or a word
			if depth > 0 || i+1 < len(data) && strings.IndexByte(jsonSpace+",]}", data[i+1]) < 0 {
				continue
			}
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(data)
}

// object writes an object.
func object(list []member) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quoted(m.name))
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// find returns the value of a name, nil for none.
func find(list []member, name string) json.RawMessage {
	for _, m := range list {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// textOf returns the value of a name that is a string, "" for any other.
func textOf(list []member, name string) string {
	return wordOf(find(list, name))
}

// wordOf reads a string, "" for any other value.
func wordOf(v json.RawMessage) (s string) {
	if n := len(v) - 1; n > 0 && v[0] == '"' && bytes.IndexByte(v, '\\') < 0 && utf8.Valid(v) {
		return string(v[1:n])
	}
	_ = json.Unmarshal(v, &s)
	return s
}

// field is one member that a tool's answer has, of those that the operation's answer has.
type field struct {
	name string
	typ  string // in JSON Schema; "" for any
	// items are the names that the entries of a list keep, nil for all of them. A field with items
	// or list is read page by page.
	items []string
	list  bool
}

func (f field) paged() bool { return f.list || f.items != nil }

// outputSchema returns the JSON Schema of a tool's answer. It says what kinds of things are there,
// in few words, since every client reads it before the first call.
func outputSchema(fields []field) json.RawMessage {
	var b bytes.Buffer
	b.WriteString(`{"type":"object","properties":{`)
	for i, f := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		switch {
		case f.paged():
			fmt.Fprintf(&b, `%s:{"type":"array"}`, quoted(f.name))
		case f.typ == "":
			fmt.Fprintf(&b, `%s:{}`, quoted(f.name))
		default:
			fmt.Fprintf(&b, `%s:{"type":%s}`, quoted(f.name), quoted(f.typ))
		}
	}
	b.WriteString(`}}`)
	return b.Bytes()
}

// piece is what a page holds whole or not at all.
type piece struct {
	list  string // that it belongs to
	value json.RawMessage
	at    int // the position after it
}

// document is an answer before it is cut into pages.
type document struct {
	head   []member // on every page
	lists  []string // all there are, in their order
	pieces []piece  // in order, from the position that was asked for
	commit string   // that a cursor names, "" where pages are not of one commit
	more   bool     // whether there is more behind the last piece
	ours   bool     // whether all words in it are of the program, none of a memory
	// render makes the text of a page, nil where the text is its JSON form.
	render func(p *page) string
	// chunked tells that the head holds a part of one text, and next where the next one begins, 0 for
	// nowhere.
	chunked bool
	next    int
}

// trim leaves of an object what fields name, and nothing that is null or says nothing.
func trim(list []member, names []string) []member {
	return slices.DeleteFunc(slices.Clone(list), func(m member) bool {
		return names != nil && !slices.Contains(names, m.name) || vacant(m.value)
	})
}

// vacant reports whether a value need not be said.
func vacant(v json.RawMessage) bool {
	switch string(v) {
	case "null", "[]", "{}":
		return true
	}
	return false
}

// read makes a document of an operation's answer: what fields name, in the order of the answer. With
// nil fields it is all of it, and every list of objects has pages.
func read(answer json.RawMessage, fields []field) (*document, error) {
	list, err := members(answer)
	if err != nil {
		return nil, err
	}
	doc := &document{commit: textOf(list, "commit")}
	for _, m := range list {
		f := field{name: m.name, list: bytes.HasPrefix(m.value, []byte("[{"))}
		if fields != nil {
			i := slices.IndexFunc(fields, func(f field) bool { return f.name == m.name })
			if i < 0 {
				continue
			}
			f = fields[i]
		}
		if !f.paged() {
			if f.typ == "object" && f.name != "props" { // in properties a null is a value
				if list, err := members(m.value); err == nil {
					m.value = object(trim(list, nil))
				}
			}
			if !vacant(m.value) {
				doc.head = append(doc.head, m)
			}
			continue
		}
		if err := doc.addList(f, m.value); err != nil {
			return nil, err
		}
	}
	return doc, nil
}

func (d *document) addList(f field, value json.RawMessage) error {
	list, err := entries(value)
	if err != nil {
		return fmt.Errorf("read %s of the answer: %w", f.name, err)
	}
	d.lists = append(d.lists, f.name)
	for _, e := range list {
		if err := d.add(f, e); err != nil {
			return err
		}
	}
	return nil
}

// add appends an entry of a list.
func (d *document) add(f field, entry json.RawMessage) error {
	if bytes.HasPrefix(entry, []byte("{")) {
		list, err := members(entry)
		if err != nil {
			return err
		}
		entry = object(trim(list, f.items))
	}
	d.pieces = append(d.pieces, piece{f.name, entry, len(d.pieces) + 1})
	return nil
}

// stream makes a document of an answer of one JSON object a line.
func stream(answer []byte, f field) (*document, error) {
	doc := &document{lists: []string{f.name}}
	for line := range bytes.Lines(answer) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if err := doc.add(f, slices.Clone(line)); err != nil {
			return nil, err
		}
	}
	return doc, nil
}

// from leaves out what was on pages before.
func (d *document) from(position int) {
	d.pieces = slices.DeleteFunc(d.pieces, func(p piece) bool { return p.at <= position })
}
