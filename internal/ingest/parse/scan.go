package parse

import (
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/base/pattern"
)

type span struct{ start, end int }

// scanner cuts a text into blocks, line by line.
type scanner struct {
	doc   *Document
	lines []span // without their ends
	open  int    // the line that the block in the making begins at, -1 for none
	list  bool   // whether the last line that was not indented began an item of a list
	stack []int  // the sections around this place
	full  bool   // whether there are more lines, headings or blocks than one document may have
}

func newScanner(d *Document) *scanner {
	s := &scanner{doc: d, open: -1}
	at := 0
	for line := range strings.Lines(d.text) {
		if s.full = len(s.lines) == MaxLines; s.full {
			break
		}
		s.lines = append(s.lines, span{at, at + len(strings.TrimSuffix(line, "\n"))})
		at += len(line)
	}
	return s
}

func (s *scanner) line(i int) string { return s.doc.text[s.lines[i].start:s.lines[i].end] }

func (s *scanner) section() int {
	if len(s.stack) == 0 {
		return -1
	}
	return s.stack[len(s.stack)-1]
}

// block adds the lines from one to before another.
func (s *scanner) block(from, to int, whole bool) {
	for from < to && blank(s.line(from)) {
		from++
	}
	for to > from && blank(s.line(to-1)) {
		to--
	}
	if s.full = s.full || len(s.doc.Blocks) == MaxBlocks; s.full {
		return // the caller is told by bounded
	}
	if from < to {
		s.doc.Blocks = append(s.doc.Blocks, Block{
			Section: s.section(), First: from + 1, Last: to, start: s.lines[from].start,
			end: s.lines[to-1].end, whole: whole,
		})
	}
}

func (s *scanner) close(at int) {
	if s.open >= 0 {
		table := at-s.open > 1 && tableRow().MatchString(s.line(s.open+1))
		s.block(s.open, at, table)
		s.open = -1
	}
}

// begins reports whether the first sign of a line, which is not blank, is one of some.
func begins(line, signs string) bool {
	return strings.IndexByte(signs, strings.TrimLeft(line, " \t")[0]) >= 0
}

func blank(line string) bool { return strings.TrimSpace(line) == "" }

// plain reads a text without markup from a line on: paragraphs.
func (s *scanner) plain(from int) {
	for i := from; i < len(s.lines) && !s.full; i++ {
		switch {
		case blank(s.line(i)):
			s.close(i)
		case s.open < 0:
			s.open = i
		}
	}
	s.close(len(s.lines))
}

func (s *scanner) bounded() error {
	if s.full {
		return ErrTooMany
	}
	return nil
}

var (
	atxHeading = pattern.New(`^ {0,3}(#{1,6})(?:[ \t]+(.*))?$`)
	underline  = pattern.New(`^ {0,3}(=+|-+)[ \t]*$`)
	fenceOpen  = pattern.New("^([ \t]*)(`{3,}|~{3,})([^\n]*)$")
	listItem   = pattern.New(`^ {0,3}(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]|$)`)
	tableRow   = pattern.New(`^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)*$`)
	rule       = pattern.New(`^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$`)
	htmlOpen   = pattern.New(`(?i)^ {0,3}<(!--|pre\b|script\b|style\b|textarea\b)`)
)

// markdown reads GitHub's form of Markdown from a line on.
func (s *scanner) markdown(from int) {
	for i := from; i < len(s.lines) && !s.full; {
		line := s.line(i)
		if blank(line) {
			s.close(i)
			i++
			continue
		}
		if end := s.verbatim(i); end > i {
			s.close(i)
			s.block(i, end, true)
			i = end
			continue
		}
		level, title, isHeading := heading(line)
		switch {
		case isHeading:
			s.close(i)
			s.heading(level, title)
		case s.underlines(i):
			level = 2
			if strings.Contains(line, "=") {
				level = 1
			}
			title = s.doc.text[s.lines[s.open].start:s.lines[i-1].end]
			s.open = -1
			s.heading(level, title)
		case begins(line, "-*_") && rule().MatchString(line):
			s.close(i)
			s.block(i, i+1, false)
			s.list = false
		case begins(line, "-*+0123456789") && listItem().MatchString(line):
			s.close(i)
			s.open, s.list = i, true
		case line[0] == '>' && s.open >= 0 && s.line(s.open)[0] != '>':
			s.close(i)
			s.open, s.list = i, false
		default:
			if s.open < 0 {
				s.open = i
			}
			s.list = s.list && (line[0] == ' ' || line[0] == '\t')
		}
		i++
	}
	s.close(len(s.lines))
	s.list = false
}

// heading reads a line that begins with number signs.
func heading(line string) (level int, title string, ok bool) {
	if len(line) > maxTitle || !begins(line, "#") {
		return 0, "", false
	}
	m := atxHeading().FindStringSubmatch(line)
	if m == nil {
		return 0, "", false
	}
	title = strings.TrimSpace(m[2])
	if rest := strings.TrimRight(title, "#"); rest == "" || strings.HasSuffix(rest, " ") {
		title = strings.TrimSpace(rest)
	}
	return len(m[1]), title, true
}

// underlines reports whether a line makes the paragraph before it a heading.
func (s *scanner) underlines(i int) bool {
	if s.open < 0 || i-s.open > 3 || s.list || !begins(s.line(i), "=-") || !underline().MatchString(s.line(i)) {
		return false
	}
	first := s.line(s.open)
	return first[0] != '>' && first[0] != '|' && !listItem().MatchString(first) &&
		s.lines[i-1].end-s.lines[s.open].start <= maxTitle
}

// heading begins a section that a line of Markdown names.
func (s *scanner) heading(level int, title string) { s.begin(level, plainTitle(title)) }

func (s *scanner) begin(level int, title string) {
	d := s.doc
	if s.full = s.full || len(d.Sections) == MaxSections; s.full {
		return
	}
	for len(s.stack) > 0 && d.Sections[s.section()].level >= level {
		s.stack = s.stack[:len(s.stack)-1]
	}
	d.Sections = append(d.Sections, Section{Title: title, Parent: s.section(), level: level})
	s.stack = append(s.stack, len(d.Sections)-1)
	s.list = false
}

var (
	titleLink = pattern.New(`!?\[([^\[\]]*)\]\([^()]*\)`)
	titleID   = pattern.New(`[ \t]*\{#[^{}]*\}$`)
	titleMark = strings.NewReplacer("`", "", "**", "", "__", "", "[[", "", "]]", "")
)

func plainTitle(s string) string {
	s = titleLink().ReplaceAllString(titleID().ReplaceAllString(s, ""), "$1")
	return strings.Join(strings.Fields(titleMark.Replace(s)), " ")
}

// verbatim returns the line behind a fence, or HTML whose text is no Markdown, that begins at a line, and
// the line itself if none does. One that is not closed reaches to the end.
func (s *scanner) verbatim(i int) int {
	line := s.line(i)
	if !begins(line, "`~<") {
		return i
	}
	if m := fenceOpen().FindStringSubmatch(line); m != nil {
		indent, mark := m[1], m[2]
		deep := len(indent) > 3 || strings.Contains(indent, "\t")
		if mark[0] == '`' && strings.Contains(m[3], "`") || deep && !s.list {
			return i
		}
		for i++; i < len(s.lines); i++ {
			rest := strings.TrimSpace(s.line(i))
			if len(rest) >= len(mark) && strings.Trim(rest, mark[:1]) == "" {
				return i + 1
			}
		}
		return i
	}
	m := htmlOpen().FindStringSubmatch(line)
	if m == nil {
		return i
	}
	ending := "-->"
	if tag := strings.ToLower(m[1]); tag != "!--" {
		ending = "</" + tag
	}
	for ; i < len(s.lines); i++ {
		if strings.Contains(strings.ToLower(s.line(i)), ending) {
			return i + 1
		}
	}
	return i
}

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

func (d *Document) tag(name string) {
	if name != "" && len(name) <= maxName && len(d.Tags) < maxTags && !slices.Contains(d.Tags, name) {
		d.Tags = append(d.Tags, name)
	}
}
