package mcp

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/internal/verb/operation"
)

// Answers are taken as they are and cut into pages; bytes are made of a page. Objects keep their order: the same
// answer is the same bytes.
type (
	value  = operation.Value
	member = operation.Member
)

// object returns an object.
func object(list []member) value { return value{Kind: '{', Members: list} }

// truth is the value true.
var truth = value{Text: "true"}

// written writes a value on one line, cleaned.
func written(v value) json.RawMessage { return cleaned(v.Append(nil)) }

// find returns the value of a name, the zero value for none.
func find(list []member, name string) value {
	v := object(list)
	return v.Find(name)
}

// textOf returns the value of a name that is a string, "" for any other.
func textOf(list []member, name string) string { return find(list, name).Word() }

// field is one member that a tool's answer has, of those that the operation's answer has.
type field struct {
	name string
	typ  string // "object" for one whose empty members are left out
	// items are the names that the entries of a list keep, nil for all of them. A field with items
	// or list is read page by page.
	items []string
	list  bool
}

func (f field) paged() bool { return f.list || f.items != nil }

// piece is on a page whole or not at all.
type piece struct {
	list  string // that it belongs to
	value value
	at    int // the position after it
}

// document is an answer before it is cut into pages.
type document struct {
	head   []member // on every page
	lists  []string // all there are, in their order
	pieces []piece  // in order, from the position that was asked for
	commit string   // that a cursor names, "" if pages are not of one commit
	more   bool     // whether there is more behind the last piece
	ours   bool     // whether all words in it come from the program, none from a memory
	// render makes the text of a page, nil if the text is its JSON form.
	render func(p *page) string
	// chunked tells that the head holds a part of one text, and next where the next one begins, 0 for
	// nowhere.
	chunked bool
	next    int
}

// trim leaves of an object what fields name, and nothing that is null or says nothing.
func trim(list []member, names []string) []member {
	return slices.DeleteFunc(slices.Clone(list), func(m member) bool {
		return names != nil && !slices.Contains(names, m.Name) || vacant(m.Value)
	})
}

// vacant reports whether a value need not be said.
func vacant(v value) bool {
	switch v.Kind {
	case '{':
		return len(v.Members) == 0
	case '[':
		return len(v.Items) == 0
	}
	return v.Kind == 0 && v.Text == "null"
}

// read makes a document of an operation's answer: what fields name, in the order of the answer. With
// nil fields it is all of it, and every list of objects has pages.
func read(answer value, fields []field) (*document, error) {
	if answer.Kind != '{' {
		return nil, fmt.Errorf("answer is not a JSON object: %.40q", written(answer))
	}
	doc := &document{commit: textOf(answer.Members, "commit")}
	for _, m := range answer.Members {
		f := field{name: m.Name, list: len(m.Value.Items) > 0 && m.Value.Items[0].Kind == '{'}
		if fields != nil {
			i := slices.IndexFunc(fields, func(f field) bool { return f.name == m.Name })
			if i < 0 {
				continue
			}
			f = fields[i]
		}
		if f.paged() {
			doc.lists = append(doc.lists, f.name)
			for _, entry := range m.Value.Items {
				doc.add(f, entry)
			}
			continue
		}
		if f.typ == "object" && f.name != "props" && m.Value.Kind == '{' { // in properties a null is a value
			m.Value = object(trim(m.Value.Members, nil))
		}
		if !vacant(m.Value) {
			doc.head = append(doc.head, m)
		}
	}
	return doc, nil
}

// add appends an entry of a list.
func (d *document) add(f field, entry value) {
	if entry.Kind == '{' {
		entry = object(trim(entry.Members, f.items))
	}
	d.pieces = append(d.pieces, piece{f.name, entry, len(d.pieces) + 1})
}

// stream makes a document of any number of answers.
func stream(answers []value, f field) *document {
	doc := &document{lists: []string{f.name}}
	for _, answer := range answers {
		doc.add(f, answer)
	}
	return doc
}

// from leaves out what was on pages before.
func (d *document) from(position int) {
	d.pieces = slices.DeleteFunc(d.pieces, func(p piece) bool { return p.at <= position })
}
