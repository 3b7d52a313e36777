package vault

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/pattern"
	"github.com/mnem-project/mnem/ipld"
)

const (
	contentLine = "%% content %%"
	linksLine   = "%% links %%"
)

// note is one file of a memory.
type note struct {
	members []ipld.Entry // of the node's change line, without its texts
	summary string
	content *string
	media   string
	updated graph.OptTime
	mark    []ipld.Entry // of the mark's change line, without its target; by is a link or a reference
	links   []link
}

// link is one edge of a note.
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

// front has the fields of the change line that are written first, and those written last.
var (
	first  = []string{"key", "id", "type"}
	marked = map[string]string{"state": "state", "by": "by", "reason": "reason", "actor": "actor", "time": "marked"}
)

// encode returns the file of a note. Unless plain is set, its texts are in the front matter.
func (n *note) encode(plain bool) []byte {
	b := []byte("---\n")
	for _, name := range first {
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
	for _, name := range []string{"state", "by", "reason", "actor", "time"} {
		if v, ok := ipld.FindEntry(n.mark, name); ok {
			b = appendFront(b, marked[name], v)
		}
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
	if summary = strings.Trim(summary, "\n"); summary != "" {
		n.summary = summary
	}
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

// fields takes the fields of front matter.
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

// append adds the line of a link.
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
	l := &link{typ: m[1], target: strings.TrimSuffix(strings.TrimSpace(m[2]), ".md")}
	l.typ = cmp.Or(l.typ, defaultType)
	if l.title = m[3]; m[4] == "" {
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
