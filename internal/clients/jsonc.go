package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// ErrDamaged is wrapped by the error for a file that does not read as what it should be.
var ErrDamaged = errors.New("the file is damaged")

// maxDepth bounds how deep values may nest.
const maxDepth = 200

// value is a value of JSON with comments, and where it is in the text.
type value struct {
	start, end int
	kind       byte // first byte: { [ " or that of a number or word
	members    []member
	items      []*value
	last       int // where another member may begin: after the last value, comma and comment
	comma      int // of the trailing comma, -1 for none
}

// member is one member of an object.
type member struct {
	key   string
	start int  // of the key
	prev  int  // end of what comes before the key: a comma, a bracket or a comment
	line  bool // whether that is a comment that its line ends
	comma int  // of the comma after it, -1 for none
	value *value
}

// member returns the member of a name, nil for none.
func (v *value) member(name string) *member {
	if v == nil {
		return nil
	}
	for i := range v.members {
		if v.members[i].key == name {
			return &v.members[i]
		}
	}
	return nil
}

// scanner reads JSON with comments and trailing commas.
type scanner struct {
	text []byte
	at   int
	mark int  // end of the last token or comment
	line bool // whether that was a comment that its line ends
}

// parseJSONC reads a whole file. Nothing but blanks and comments is an empty object, which has no
// place in the text: its end is 0 and its start behind it.
func parseJSONC(text []byte) (*value, error) {
	if !utf8.Valid(text) {
		return nil, fmt.Errorf("%w: not UTF-8", ErrDamaged)
	}
	s := &scanner{text: text}
	if bytes.HasPrefix(text, []byte("\xef\xbb\xbf")) {
		s.at = 3
	}
	if err := s.blank(); err != nil {
		return nil, err
	}
	if s.at == len(text) {
		return nil, nil
	}
	v, err := s.value(0)
	if err == nil {
		err = s.blank()
	}
	if err == nil && s.at < len(text) {
		err = s.fail("text after the value")
	}
	return v, err
}

// token notes that one ends here.
func (s *scanner) token() { s.mark, s.line = s.at, false }

func (s *scanner) fail(what string) error {
	line := 1 + bytes.Count(s.text[:s.at], []byte("\n"))
	return fmt.Errorf("%w: line %d: %s", ErrDamaged, line, what)
}

// blank passes over blanks and comments.
func (s *scanner) blank() error {
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			s.at++
			continue
		case c != '/' || s.at+1 == len(s.text):
			return nil
		}
		end, skip := -1, 0
		switch s.text[s.at+1] {
		case '/':
			if end = bytes.IndexAny(s.text[s.at:], "\r\n"); end < 0 {
				end = len(s.text) - s.at
			}
		case '*':
			end, skip = bytes.Index(s.text[s.at+2:], []byte("*/")), 4
		}
		if end < 0 {
			return s.fail("a comment does not end")
		}
		s.line = s.text[s.at+1] == '/'
		s.at += end + skip
		s.mark = s.at
	}
	return nil
}

func (s *scanner) value(depth int) (*value, error) {
	if s.at == len(s.text) {
		return nil, s.fail("the file ends where a value is missing")
	}
	if depth > maxDepth {
		return nil, s.fail("nested too deep")
	}
	v := &value{start: s.at, kind: s.text[s.at], comma: -1}
	var err error
	switch v.kind {
	case '{', '[':
		err = s.list(v, depth)
	case '"':
		_, err = s.str()
	default:
		err = s.word()
	}
	v.end = s.at
	s.token()
	return v, err
}

// list reads an object or array.
func (s *scanner) list(v *value, depth int) error {
	closing := v.kind + 2 // } follows { by two, and ] [
	s.at++
	s.token()
	for fresh := true; ; fresh = false {
		if err := s.blank(); err != nil {
			return err
		}
		v.last = s.mark
		if s.at == len(s.text) {
			return s.fail("the file ends inside " + string(v.kind))
		}
		if s.text[s.at] == closing {
			s.at++
			return nil
		}
		if !fresh && v.comma < 0 {
			return s.fail("a comma is missing")
		}
		if err := s.element(v, depth); err != nil {
			return err
		}
	}
}

// element reads one member or item, and the comma after it.
func (s *scanner) element(v *value, depth int) error {
	m := member{start: s.at, prev: s.mark, line: s.line, comma: -1}
	var err error
	if v.kind == '{' {
		if m.key, err = s.str(); err == nil {
			err = s.blank()
		}
		if err == nil && (s.at == len(s.text) || s.text[s.at] != ':') {
			err = s.fail("a colon is missing")
		}
		if err != nil {
			return err
		}
		s.at++
		if err := s.blank(); err != nil {
			return err
		}
		if v.member(m.key) != nil {
			return s.fail(fmt.Sprintf("%q is there twice", m.key))
		}
	}
	if m.value, err = s.value(depth + 1); err != nil {
		return err
	}
	if err := s.blank(); err != nil {
		return err
	}
	v.comma = -1
	if s.at < len(s.text) && s.text[s.at] == ',' {
		m.comma, v.comma = s.at, s.at
		s.at++
		s.token()
	}
	if v.kind == '{' {
		v.members = append(v.members, m)
	} else {
		v.items = append(v.items, m.value)
	}
	return nil
}

func (s *scanner) str() (string, error) {
	if s.at == len(s.text) || s.text[s.at] != '"' {
		return "", s.fail("a string is missing")
	}
	for end := s.at + 1; end < len(s.text); end++ {
		switch s.text[end] {
		case '\\':
			end++
		case '"':
			var out string
			if err := json.Unmarshal(s.text[s.at:end+1], &out); err != nil {
				return "", s.fail("a string is not well formed")
			}
			s.at = end + 1
			return out, nil
		}
	}
	return "", s.fail("a string does not end")
}

// word reads a number, true, false or null.
func (s *scanner) word() error {
	end := s.at
	for end < len(s.text) && !bytes.ContainsRune([]byte(" \t\r\n,:{}[]\"/"), rune(s.text[end])) {
		end++
	}
	if end == s.at || !json.Valid(s.text[s.at:end]) {
		return s.fail("a value is not well formed")
	}
	s.at = end
	return nil
}

// plain returns what a value says, without comments and layout, for comparison.
func (v *value) plain(text []byte) any {
	switch v.kind {
	case '{':
		out := make(map[string]any, len(v.members))
		for _, m := range v.members {
			out[m.key] = m.value.plain(text)
		}
		return out
	case '[':
		out := make([]any, len(v.items))
		for i, item := range v.items {
			out[i] = item.plain(text)
		}
		return out
	case '"':
		var s string
		_ = json.Unmarshal(text[v.start:v.end], &s) // it was read before
		return s
	}
	return json.Number(text[v.start:v.end])
}
