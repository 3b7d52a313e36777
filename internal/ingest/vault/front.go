package vault

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/internal/base/pattern"
	"github.com/mnem-project/mnem/ipld"
)

// errFront is returned for front matter in a form that Read does not know.
var errFront = errors.New("unknown form of front matter")

var (
	frontName  = pattern.New(`^[\p{L}\p{N}_](?:[\p{L}\p{N}_. -]{0,98}[\p{L}\p{N}_.-])?$`)
	frontInt   = pattern.New(`^-?(?:0|[1-9][0-9]{0,17})$`)
	frontFloat = pattern.New(`^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$`)
)

// appendFront adds a field of front matter. Its value is JSON.
func appendFront(b []byte, name string, v ipld.Value) []byte {
	b = append(append(b, name...), ": "...)
	return append(ipld.AppendJSON(b, v), '\n')
}

// splitFront returns the lines between two lines --- at the beginning of a note, and what follows them.
func splitFront(text string) (front, rest string, ok bool) {
	body, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return "", text, false
	}
	if rest, ok = strings.CutPrefix(body, "---\n"); ok {
		return "", rest, true
	}
	front, rest, ok = strings.Cut(body, "\n---\n")
	if !ok {
		front, ok = strings.CutSuffix(body, "\n---")
		rest = ""
	}
	return front, rest, ok
}

// parseFront reads the fields of front matter, as appendFront and editors of notes write them.
func parseFront(text string) ([]ipld.Entry, error) {
	var out []ipld.Entry
	lines := strings.Split(text, "\n")
	seen := make(map[string]bool)
	for i := 0; i < len(lines); {
		line := lines[i]
		at := i
		i++
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		name = strings.Trim(name, `"`)
		if !ok || !frontName().MatchString(name) || seen[name] {
			return nil, fmt.Errorf("line %d: %w", at+2, errFront)
		}
		seen[name] = true
		from := i
		for i < len(lines) && (strings.HasPrefix(lines[i], " ") || lines[i] == "-" || strings.HasPrefix(lines[i], "- ") ||
			lines[i] == "") {
			i++
		}
		v, err := frontValue(strings.TrimSpace(value), lines[from:i])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", at+2, err)
		}
		out = append(out, ipld.Entry{Key: name, Value: v})
	}
	return out, nil
}

// frontValue reads a value on the line of its name, and the lines below that belong to it.
func frontValue(value string, below []string) (v ipld.Value, err error) {
	for len(below) > 0 && strings.TrimSpace(below[len(below)-1]) == "" {
		below = below[:len(below)-1]
	}
	switch {
	case value == "|" || value == "|-" || value == "|+":
		return ipld.StringValue(block(below, value)), nil
	case value == "" && len(below) > 0:
		var items []ipld.Value
		for _, line := range below {
			item, is := strings.CutPrefix(strings.TrimSpace(line), "-")
			if !is {
				return v, errFront
			}
			one, err := scalar(strings.TrimSpace(item))
			if err != nil {
				return v, err
			}
			items = append(items, one)
		}
		return ipld.ListValue(items...), nil
	case len(below) > 0:
		return v, errFront
	}
	return scalar(value)
}

// block returns the text of a literal block: its lines without the indent of the first.
func block(lines []string, style string) string {
	if len(lines) == 0 {
		return ""
	}
	indent := len(lines[0]) - len(strings.TrimLeft(lines[0], " "))
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(line[min(indent, len(line)):])
		b.WriteByte('\n')
	}
	if style == "|-" {
		return strings.TrimRight(b.String(), "\n")
	}
	return b.String()
}

// scalar reads JSON, a text in quotes, a list in brackets, or a bare word.
func scalar(s string) (v ipld.Value, err error) {
	switch {
	case s == "" || s == "~":
		return ipld.Value{}, nil
	case s == "null" || s == "true" || s == "false" || s[0] == '"' || s[0] == '{',
		frontInt().MatchString(s), frontFloat().MatchString(s):
		return ipld.ParseJSON([]byte(s))
	case s[0] == '\'':
		if len(s) < 2 || s[len(s)-1] != '\'' {
			return v, errFront
		}
		return ipld.StringValue(strings.ReplaceAll(s[1:len(s)-1], "''", "'")), nil
	case s[0] == '[' && !strings.HasPrefix(s, "[["):
		if v, err = ipld.ParseJSON([]byte(s)); err == nil {
			return v, nil
		}
		inner, is := strings.CutSuffix(s[1:], "]")
		if !is {
			return v, errFront
		}
		var items []ipld.Value
		for item := range strings.SplitSeq(inner, ",") {
			item = strings.TrimSpace(item)
			if strings.HasPrefix(item, "[") && !strings.HasPrefix(item, "[[") {
				return v, errFront // lists in lists are JSON
			}
			one, err := scalar(item)
			if err != nil {
				return v, err
			}
			items = append(items, one)
		}
		return ipld.ListValue(items...), nil
	case strings.ContainsRune("&*!|>%@`", rune(s[0])):
		return v, errFront // forms of YAML that no editor of notes writes
	}
	return ipld.StringValue(s), nil
}

// textOf returns a value as a text, "" for none.
func textOf(v ipld.Value) string {
	switch v.Kind() {
	case ipld.String:
		return v.Text()
	case ipld.Int:
		return strconv.FormatInt(v.Int(), 10)
	}
	return ""
}
