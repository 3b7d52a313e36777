package vault

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/pattern"
	"github.com/mnem-project/mnem/ipld"
)

const (
	contentLine = "%% content %%"
	linksLine   = "%% links %%"
)

type note struct {
	members []ipld.Entry // of the node's change line, without its texts
	summary string
	content *string
	media   string
	updated graph.OptTime
	mark    []ipld.Entry // of the mark's change line, without its target; by is a link or a reference
	links   []link
}

type link struct {
	typ    string
	target string // the path of a note or document without its extension
	title  string
	// members come from the change line of the edge, without its type and ends; to, the end that the target is not;
	// and mark, a mark on it.
	members []ipld.Entry
	line    int
}

// own has the names of fields that are not properties.
var own = []string{
	"key", "id", "type", "summary", "content", "media", "context", "cues", "sources", "props", "created", "updated",
	"validFrom", "validTo", "state", "by", "reason", "actor", "marked",
}

// encode returns the file of a note. Unless plain is set, its texts are in the front matter.
func (n *note) encode(plain bool) []byte {
	b := []byte("---\n")
	for _, name := range []string{"key", "id", "type"} {
		b = n.field(b, name)
	}
	var rest []ipld.Entry
	props, _ := ipld.FindEntry(n.members, "props")
	for _, e := range props.Entries() {
		if slices.Contains(own, e.Key) || !frontName().MatchString(e.Key) {
			rest = append(rest, e)
		} else {
			b = appendFront(b, e.Key, e.Value)
		}
	}
	if len(rest) > 0 {
		b = appendFront(b, "props", ipld.MapValue(rest...))
	}
	for _, name := range []string{"context", "cues", "sources", "validFrom", "validTo", "created"} {
		b = n.field(b, name)
	}
	if n.updated.Given {
		b = appendFront(b, "updated", ipld.StringValue(n.updated.Time.String()))
	}
	for _, name := range []string{"state", "by", "reason", "actor"} {
		if v, ok := ipld.FindEntry(n.mark, name); ok {
			b = appendFront(b, name, v)
		}
	}
	if v, ok := ipld.FindEntry(n.mark, "time"); ok {
		b = appendFront(b, "marked", v)
	}
	if n.media != "" {
		b = appendFront(b, "media", ipld.StringValue(n.media))
	}
	if !plain && n.summary != "" {
		b = appendFront(b, "summary", ipld.StringValue(n.summary))
	}
	if !plain && n.content != nil {
		b = appendFront(b, "content", ipld.StringValue(*n.content))
	}
	b = append(b, "---\n"...)
	if plain && n.summary != "" {
		b = append(append(append(b, '\n'), n.summary...), '\n')
	}
	if plain && n.content != nil {
		b = append(append(append(b, "\n"+contentLine+"\n\n"...), *n.content...), '\n')
	}
	if len(n.links) == 0 {
		return b
	}
	b = append(b, "\n"+linksLine+"\n\n"...)
	for i := range n.links {
		b = n.links[i].append(b)
	}
	return b
}

func (n *note) field(b []byte, name string) []byte {
	if v, ok := ipld.FindEntry(n.members, name); ok {
		b = appendFront(b, name, v)
	}
	return b
}

// file returns a file that decodes to the same note.
func (n *note) file() ([]byte, error) {
	for _, plain := range []bool{true, false} {
		data := n.encode(plain)
		back, problems, err := decode(data)
		if err == nil && len(problems) == 0 && back.summary == n.summary && equalText(back.content, n.content) &&
			bytes.Equal(back.encode(plain), data) {
			return data, nil
		}
	}
	return nil, errors.New("no note can represent this memory") // a value without a form in JSON
}

func equalText(a, b *string) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }

// decode reads a note. problems has the lines that are no links, with their numbers.
func decode(data []byte) (n *note, problems []string, err error) {
	text := strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "\n")
	front, body, ok := splitFront(text)
	if !ok {
		return nil, nil, errNoFront
	}
	fields, err := parseFront(front)
	if err != nil {
		return nil, nil, err
	}
	n = new(note)
	if err := n.fields(fields); err != nil {
		return nil, nil, err
	}
	body, links, _ := cutLine(body, linksLine)
	summary, content, has := cutLine(body, contentLine)
	n.summary = cmp.Or(strings.Trim(summary, "\n"), n.summary)
	if has {
		content = strings.TrimSuffix(strings.TrimPrefix(content, "\n"), "\n")
		n.content = &content
	}
	from := strings.Count(text, "\n") - strings.Count(links, "\n") + 1
	for i, line := range strings.Split(links, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		l, err := parseLink(line)
		if err != nil {
			problems = append(problems, fmt.Sprintf("line %d", from+i))
			continue
		}
		l.line = from + i
		n.links = append(n.links, *l)
	}
	return n, problems, nil
}

// errNoFront is returned for a file that no export wrote: it has no front matter.
var errNoFront = errors.New("no front matter")

// cutLine cuts a text at the last line that says something.
func cutLine(text, line string) (before, after string, found bool) {
	at := strings.LastIndex("\n"+text, "\n"+line+"\n")
	if at < 0 {
		return text, "", false
	}
	before = text[:max(0, at-1)]
	return before, text[at+len(line)+1:], true
}

func (n *note) fields(fields []ipld.Entry) error {
	var props []ipld.Entry
	for _, f := range fields {
		switch f.Key {
		case "summary":
			n.summary = textOf(f.Value)
		case "content":
			text := textOf(f.Value)
			n.content = &text
		case "media":
			n.media = textOf(f.Value)
		case "updated":
			at, err := graph.ParseTime(textOf(f.Value))
			if err != nil {
				return fmt.Errorf("updated: %w", errFront)
			}
			n.updated = graph.At(at)
		case "state", "by", "reason", "actor":
			n.mark = append(n.mark, f)
		case "marked":
			n.mark = append(n.mark, ipld.Entry{Key: "time", Value: f.Value})
		case "props":
			props = append(props, f.Value.Entries()...)
		default:
			if slices.Contains(own, f.Key) {
				n.members = append(n.members, f)
			} else {
				props = append(props, f)
			}
		}
	}
	if len(props) > 0 {
		ipld.SortEntries(props)
		n.members = append(n.members, ipld.Entry{Key: "props", Value: ipld.MapValue(props...)})
	}
	ipld.SortEntries(n.members)
	ipld.SortEntries(n.mark)
	return nil
}

var (
	// wordType matches the edge types that a line shows unescaped.
	wordType = pattern.New(`^[^\s\[\]%]+(?: [^\s\[\]%]+)*$`)
	linkLine = pattern.New(`^[-*+] +(?:([^\[\]]+?)(?:::)? +)?\[\[([^\]|#\n]+)(?:#[^\]|\n]*)?(?:\|([^\]\n]*))?\]\](?: *%%(\{.*\})%%)? *$`)
)

// defaultType is the type of a link that names none.
const defaultType = "relates-to"

func (l *link) append(b []byte) []byte {
	members := slices.Clone(l.members)
	typ := l.typ
	if !wordType().MatchString(typ) || strings.HasSuffix(typ, ":") {
		members = append(members, ipld.Entry{Key: "type", Value: ipld.StringValue(typ)})
		typ = defaultType
	}
	b = append(append(append(append(b, "- "...), typ...), " [["...), l.target...)
	if title := safe(l.title, maxStem); title != "" {
		b = append(append(b, '|'), title...)
	}
	b = append(b, "]]"...)
	if len(members) > 0 {
		ipld.SortEntries(members)
		// A comment ends with the next %%.
		shown := strings.ReplaceAll(string(ipld.AppendJSON(nil, ipld.MapValue(members...))), "%", `\u0025`)
		b = append(append(append(b, " %%"...), shown...), "%%"...)
	}
	return append(b, '\n')
}

func parseLink(line string) (*link, error) {
	m := linkLine().FindStringSubmatch(strings.TrimRight(line, " \t"))
	if m == nil {
		return nil, errFront
	}
	l := &link{
		typ: cmp.Or(m[1], defaultType), target: strings.TrimSuffix(strings.TrimSpace(m[2]), ".md"), title: m[3],
	}
	if m[4] == "" {
		return l, nil
	}
	v, err := ipld.ParseJSON([]byte(m[4]))
	if err != nil || v.Kind() != ipld.Map {
		return nil, errFront
	}
	for _, e := range v.Entries() {
		if e.Key == "type" {
			l.typ = textOf(e.Value)
			continue
		}
		l.members = append(l.members, e)
	}
	return l, nil
}

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
