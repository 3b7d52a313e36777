package clients

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

func parseTOML(text []byte) (map[string]any, error) {
	if !utf8.Valid(text) {
		return nil, fmt.Errorf("%w: not UTF-8", ErrDamaged)
	}
	out := map[string]any{}
	if _, err := toml.NewDecoder(bytes.NewReader(text)).Decode(&out); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return out, nil
}

// setTOML returns a file with the table [section.name]. An old one keeps what else it has.
func setTOML(text []byte, section, name string, fields object) ([]byte, error) {
	all, err := parseTOML(text)
	if err != nil {
		return nil, err
	}
	eol := eolOf(text)
	sec, _ := all[section].(map[string]any)
	old, _ := sec[name].(map[string]any)
	out := text
	switch at, end, found := table(text, section, name); {
	case found:
		out, err = setKeys(text, at, end, old, fields, eol)
	case inline(text, section):
		err = fmt.Errorf("%w: %s is not a table of its own", ErrDamaged, section)
	case old != nil:
		err = fmt.Errorf("%w: %s.%s is not a table of its own", ErrDamaged, section, name)
	default:
		var b strings.Builder
		if len(text) > 0 {
			b.WriteString(eol)
		}
		fmt.Fprintf(&b, "[%s.%s]%s", section, name, eol)
		for _, f := range fields {
			fmt.Fprintf(&b, "%s = %s%s", f.name, encode(f.value), eol)
		}
		out = append(slices.Clone(text), b.String()...)
	}
	if err != nil {
		return nil, err
	}
	return out, checkTOML(all, out, section, name, fields)
}

// setKeys sets the keys of a table whose body is text[at:end].
func setKeys(text []byte, at, end int, old map[string]any, fields object, eol string) ([]byte, error) {
	var edits []edit
	for _, f := range fields {
		line := f.name + " = " + encode(f.value)
		start, stop, found := keyLine(text, at, end, f.name)
		switch {
		case reflect.DeepEqual(old[f.name], decoded(f.value)):
		case found:
			edits = append(edits, edit{start, stop, line})
		case old[f.name] != nil:
			return nil, fmt.Errorf("%w: %s is written in a way that is not edited", ErrDamaged, f.name)
		default:
			if at == len(text) && !bytes.HasSuffix(text, []byte("\n")) {
				line = eol + line
			}
			edits = append(edits, edit{at, at, line + eol})
		}
	}
	return apply(text, edits...), nil
}

// removeTOML returns a file without the table [section.name] and the tables in it.
func removeTOML(text []byte, section, name string) ([]byte, error) {
	all, err := parseTOML(text)
	if err != nil {
		return nil, err
	}
	sec, _ := all[section].(map[string]any)
	if sec[name] == nil {
		return text, nil
	}
	var edits []edit
	eol := eolOf(text)
	for _, h := range headers(text) {
		if len(h.path) < 2 || h.path[0] != section || h.path[1] != name {
			continue
		}
		start, end := h.start, h.bodyEnd
		// An empty line before it goes too, and so does the end of the line before if nothing follows.
		if before := text[:start]; end == len(text) || bytes.HasSuffix(before, []byte(eol+eol)) {
			start -= len(before) - len(bytes.TrimSuffix(before, []byte(eol)))
		}
		if n := len(edits); n > 0 {
			start = max(start, edits[n-1].end)
		}
		edits = append(edits, edit{start, end, ""})
	}
	out := apply(text, edits...)
	return out, checkTOML(all, out, section, name, nil)
}

type header struct {
	path    []string
	start   int // of its line
	body    int // after its line
	bodyEnd int // after the last line of the table that is neither blank nor a comment
}

func headers(text []byte) []header {
	var out []header
	end := 0
	for at := 0; at < len(text); {
		stop := statement(text, at)
		line := bytes.TrimSpace(text[at:stop])
		switch {
		case len(line) == 0 || line[0] == '#':
		case line[0] == '[':
			if len(out) > 0 {
				out[len(out)-1].bodyEnd = end
			}
			out = append(out, header{path: headerPath(string(line)), start: at, body: stop})
			end = stop
		default:
			end = stop
		}
		at = stop
	}
	if len(out) > 0 {
		out[len(out)-1].bodyEnd = end
	}
	return out
}

// table finds the body of a table.
func table(text []byte, section, name string) (body, end int, found bool) {
	for _, h := range headers(text) {
		if slices.Equal(h.path, []string{section, name}) {
			return h.body, h.bodyEnd, true
		}
	}
	return 0, 0, false
}

// inline reports whether a section is a value in one place, [section] aside: no table can be added to
// such a one, though not every reader minds.
func inline(text []byte, section string) bool {
	end := len(text)
	if all := headers(text); len(all) > 0 {
		end = all[0].start
	}
	_, _, found := keyLine(text, 0, end, section)
	return found
}

// keyLine finds the statement that sets a bare key between two places, without the end of the line
// and comments after a value in one line.
func keyLine(text []byte, at, end int, key string) (start, stop int, found bool) {
	for at < end {
		next := statement(text, at)
		k, _, ok := bytes.Cut(text[at:next], []byte("="))
		if ok && string(bytes.Trim(k, " \t\"'")) == key {
			return at, len(bytes.TrimRight(text[:next], "\r\n")), true
		}
		at = next
	}
	return 0, 0, false
}

// statement returns the end of the statement that begins at a place: a line, or more of them where a
// string or array goes on.
func statement(text []byte, at int) int {
	depth := 0
	for at < len(text) {
		switch c := text[at]; c {
		case '#':
			if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
				at += n
				continue
			}
			return len(text)
		case '"', '\'':
			at = stringEnd(text, at)
			continue
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '\n':
			if depth <= 0 {
				return at + 1
			}
		}
		at++
	}
	return at
}

// stringEnd returns where the string that begins at a place ends.
func stringEnd(text []byte, at int) int {
	q := text[at : at+1]
	if long := bytes.Repeat(q, 3); bytes.HasPrefix(text[at:], long) {
		q = long
	}
	for i := at + len(q); i < len(text); i++ {
		switch {
		case text[i] == '\\' && q[0] == '"':
			i++
		case bytes.HasPrefix(text[i:], q):
			for i += len(q); len(q) == 3 && i < len(text) && text[i] == q[0]; i++ {
				continue // quotes before the last three belong to the text
			}
			return i
		}
	}
	return len(text)
}

// headerPath returns the names in a header.
func headerPath(line string) []string {
	line = strings.TrimPrefix(strings.TrimPrefix(line, "["), "[")
	var out []string
	name := ""
	for at := 0; at < len(line) && line[at] != ']'; at++ {
		switch c := line[at]; c {
		case '.':
			out, name = append(out, name), ""
		case ' ', '\t':
		case '"', '\'':
			end := stringEnd([]byte(line), at)
			name, at = line[at+1:max(at+1, end-1)], end-1
		default:
			name += string(c)
		}
	}
	return append(out, name)
}

// checkTOML returns an error unless out says what was said before, but for the fields of an entry.
func checkTOML(before map[string]any, out []byte, section, name string, fields object) error {
	after, err := parseTOML(out)
	if err != nil {
		return fmt.Errorf("the edit would break the file: %w", err)
	}
	return onlyEntry(before, after, section, name, fields)
}
