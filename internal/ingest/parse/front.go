package parse

import (
	"strings"

	"github.com/mnem-project/mnem/internal/base/pattern"
)

var (
	metaField   = pattern.New(`^["']?([\p{L}\p{N}_][^:"']{0,99})["']?:(?:[ \t]+(.*))?$`)
	wholeNumber = pattern.New(`^-?(?:0|[1-9][0-9]{0,17})$`)
)

// frontMatter reads the text between two lines --- at the beginning, and returns the index of the line after it. It
// understands scalars and lists of scalars; any other value is kept as written. The whole front matter is also a block
// of the text.
func (s *scanner) frontMatter() int {
	if len(s.lines) == 0 || strings.TrimRight(s.line(0), " \t") != "---" {
		return 0
	}
	end := 1
	for ; end < len(s.lines); end++ {
		if line := strings.TrimRight(s.line(end), " \t"); line == "---" || line == "..." {
			break
		}
	}
	if end == len(s.lines) {
		return 0
	}
	for i := 1; i < end; {
		m := metaField().FindStringSubmatch(strings.TrimRight(s.line(i), " \t"))
		first := i
		for i++; i < end; i++ { // continuation lines are indented or are list items
			if line := s.line(i); !blank(line) && line[0] != ' ' && line[0] != '\t' && !isItem(line) {
				break
			}
		}
		if m != nil {
			s.doc.meta(m[1], m[2], s.doc.text[s.lines[first].end:s.lines[i-1].end])
		}
	}
	blocks := len(s.doc.Blocks)
	s.block(1, end, false)
	for i := range s.doc.Blocks[blocks:] {
		s.doc.Blocks[blocks+i].front = true
	}
	return end + 1
}

func isItem(line string) bool { return line == "-" || strings.HasPrefix(line, "- ") }

// meta takes one field, of its value on the line and the lines below.
func (d *Document) meta(name, value, below string) {
	list, plain := values(value, below)
	switch strings.ToLower(name) {
	case "title":
		if plain && len(list) == 1 {
			d.Title = strings.Join(strings.Fields(list[0]), " ")
			return
		}
	case "alias", "aliases":
		if plain {
			for _, alias := range list {
				if alias != "" && len(alias) <= maxName && len(d.Aliases) < maxTags {
					d.Aliases = append(d.Aliases, alias)
				}
			}
			return
		}
	case "tag", "tags", "keywords":
		if plain {
			if len(list) == 1 {
				list = strings.FieldsFunc(list[0], func(c rune) bool { return c == ',' || c == ' ' })
			}
			for _, tag := range list {
				d.tag(strings.TrimPrefix(tag, "#"))
			}
			return
		}
	}
	if len(d.Meta) == maxFields {
		return
	}
	f := Field{Name: name, Value: strings.TrimSpace(value + below)}
	if plain {
		f.Value = strings.Join(list, ", ")
		f.Kind = kindOf(strings.TrimSpace(value))
	}
	size := len(f.Name) + len(f.Value)
	for _, has := range d.Meta {
		if size += len(has.Name) + len(has.Value); has.Name == name {
			return // said twice: the first one counts
		}
	}
	if f.Kind == ListField {
		f.Items = list
	}
	if f.Value != "" && size <= maxMeta {
		d.Meta = append(d.Meta, f)
	}
}

// kindOf returns the type of a value: a scalar is a number or boolean only if it has no quotes.
func kindOf(value string) FieldKind {
	switch {
	case strings.HasPrefix(value, "[") || value == "":
		return ListField
	case wholeNumber().MatchString(value):
		return NumberField
	case value == "true" || value == "false":
		return TruthField
	}
	return TextField
}

// values reads a scalar, [a, b], or items on the lines below; each may be quoted. plain is false for anything else.
func values(value, below string) (list []string, plain bool) {
	value = strings.TrimSpace(value)
	inner, open := strings.CutPrefix(value, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	switch {
	case open && closed:
		if blank(inner) {
			return nil, true
		}
		for item := range strings.SplitSeq(inner, ",") {
			list = append(list, unquote(item))
		}
		return list, blank(below)
	case strings.HasPrefix(value, "{"), value == "|", value == ">", open:
		return nil, false
	case value != "":
		return []string{unquote(value)}, blank(below)
	}
	for line := range strings.SplitSeq(below, "\n") {
		item := strings.TrimSpace(line)
		switch {
		case item == "":
		case isItem(item) && !strings.Contains(item, ": "):
			list = append(list, unquote(item[1:]))
		default:
			return nil, false
		}
	}
	return list, true
}

func unquote(s string) string {
	s = strings.TrimSpace(s)
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// tag adds a tag that the document does not have.
func (d *Document) tag(name string) {
	if name == "" || len(name) > maxName || len(d.Tags) == maxTags {
		return
	}
	for _, t := range d.Tags {
		if t == name {
			return
		}
	}
	d.Tags = append(d.Tags, name)
}
