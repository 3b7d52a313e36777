package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// ErrDamaged is wrapped by the error for a file that does not read as what it should be.
var ErrDamaged = errors.New("the file is damaged")

// maxDepth bounds how deep values may nest: the library's parser calls itself for each level.
const maxDepth = 200

// value is a value of JSON with comments, and where it is in the text.
type value struct {
	start, end int
	kind       byte     // first byte: { [ " or that of a number or word
	members    []member // of an object or an array
	last       int      // where another member may begin: after the last value, comma and comment
	comma      int      // of the trailing comma, -1 for none
	said       any      // without comments and layout, for comparison; nil for an object or array
}

type member struct {
	key   string // "" of an item
	start int    // of the key, or of the item
	prev  int    // end of what comes before that: a comma, a bracket or a comment
	line  bool   // whether that is a comment that its line ends
	comma int    // of the comma after it, -1 for none
	value *value
}

// find returns the index of the member of a name in an object, -1 for none.
func (v *value) find(name string) int {
	if v == nil || v.kind != '{' {
		return -1
	}
	return slices.IndexFunc(v.members, func(m member) bool { return m.key == name })
}

// at returns the value that a path of names leads to, nil for none.
func (v *value) at(path ...string) *value {
	for _, name := range path {
		i := v.find(name)
		if i < 0 {
			return nil
		}
		v = v.members[i].value
	}
	return v
}

// parseJSONC reads a whole file. It is nil if there is nothing but blanks and comments.
func parseJSONC(text []byte) (*value, error) {
	if !utf8.Valid(text) {
		return nil, fmt.Errorf("%w: not UTF-8", ErrDamaged)
	}
	if tooDeep(text) {
		return nil, fmt.Errorf("%w: nested too deep", ErrDamaged)
	}
	// A mark of the byte order is no blank to the parser, and a comment wants the end of its line.
	blanked := append(bytes.Clone(text), '\n')
	if bytes.HasPrefix(text, []byte("\xef\xbb\xbf")) {
		copy(blanked, "   ")
	}
	root, err := hujson.Parse(blanked)
	if err != nil {
		more, moreErr := hujson.Parse(append(bytes.Clone(blanked), '0'))
		if moreErr == nil && more.StartOffset == len(blanked) {
			return nil, nil
		}
		return nil, fmt.Errorf("%w: %s", ErrDamaged, strings.TrimPrefix(err.Error(), "hujson: "))
	}
	return place(blanked, &root)
}

func place(text []byte, from *hujson.Value) (*value, error) {
	v := &value{start: from.StartOffset, end: from.EndOffset, kind: text[from.StartOffset], comma: -1}
	switch in := from.Value.(type) {
	case *hujson.Object:
		v.last, _ = behind(v.start+1, in.AfterExtra)
		for i := range in.Members {
			from := &in.Members[i]
			key := from.Name.Value.(hujson.Literal).String()
			if v.find(key) >= 0 {
				line := 1 + bytes.Count(text[:from.Name.StartOffset], []byte("\n"))
				return nil, fmt.Errorf("%w: line %d: %q is there twice", ErrDamaged, line, key)
			}
			if err := v.placeMember(text, key, &from.Name, &from.Value, in.AfterExtra); err != nil {
				return nil, err
			}
		}
	case *hujson.Array:
		v.last, _ = behind(v.start+1, in.AfterExtra)
		for i := range in.Elements {
			from := &in.Elements[i]
			if err := v.placeMember(text, "", from, from, in.AfterExtra); err != nil {
				return nil, err
			}
		}
	case hujson.Literal:
		v.said = json.Number(in)
		if in.Kind() == '"' {
			v.said = in.String()
		}
	}
	return v, nil
}

// placeMember adds the next member, which begins with first, its name or the value itself. after
// comes between the last member and the closing bracket.
func (v *value) placeMember(text []byte, key string, first, from *hujson.Value, after hujson.Extra) (err error) {
	m := member{key: key, start: first.StartOffset, comma: -1}
	m.prev, m.line = behind(m.start-len(first.BeforeExtra), first.BeforeExtra)
	if m.value, err = place(text, from); err != nil {
		return err
	}
	at := m.value.end + len(from.AfterExtra)
	if v.comma = -1; text[at] == ',' {
		m.comma, v.comma = at, at
		at++
	} else {
		at = m.value.end
	}
	v.last, _ = behind(at, after)
	v.members = append(v.members, m)
	return nil
}

// behind returns where the last comment of some blanks and comments ends, or where these begin, at
// a place; line tells whether that is a comment that its line ends.
func behind(at int, extra hujson.Extra) (end int, line bool) {
	end = at
	for rest := []byte(extra); ; {
		rest = bytes.TrimLeft(rest, " \t\r\n")
		if len(rest) == 0 {
			return end, line
		}
		n := bytes.Index(rest, []byte("*/")) + 2
		if line = rest[1] == '/'; line {
			n = len(rest)
			if i := bytes.IndexByte(rest, '\n'); i >= 0 {
				n = i
			}
			n = len(bytes.TrimRight(rest[:n], "\r"))
		}
		end = at + len(extra) - len(rest) + n
		rest = rest[n:]
	}
}

// tooDeep reports whether brackets nest deeper than maxDepth.
func tooDeep(text []byte) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		switch {
		case text[i] == '[' || text[i] == '{':
			if depth++; depth > maxDepth {
				return true
			}
		case text[i] == ']' || text[i] == '}':
			depth--
		case text[i] == '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case bytes.HasPrefix(rest, []byte("//")):
			i += max(0, bytes.IndexByte(rest, '\n'))
		case bytes.HasPrefix(rest, []byte("/*")):
			i += 2 + max(0, bytes.Index(rest[2:], []byte("*/")))
		}
	}
	return false
}

// plain returns what a value says, without comments and layout, for comparison.
func (v *value) plain() any {
	switch v.kind {
	case '{':
		out := make(map[string]any, len(v.members))
		for _, m := range v.members {
			out[m.key] = m.value.plain()
		}
		return out
	case '[':
		out := make([]any, len(v.members))
		for i, m := range v.members {
			out[i] = m.value.plain()
		}
		return out
	}
	return v.said
}

// items returns what is in an array, nothing for another value.
func (v *value) items() []member {
	if v == nil || v.kind != '[' {
		return nil
	}
	return v.members
}

func (v *value) literal() (string, bool) {
	if v == nil || v.kind != '"' {
		return "", false
	}
	s, ok := v.said.(string)
	return s, ok
}
