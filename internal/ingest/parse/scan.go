package parse

import (
	"strings"

	"github.com/mnem-project/mnem/internal/base/pattern"
)

// span is a range of bytes.
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
	for at := 0; at < len(d.text); {
		if s.full = len(s.lines) == MaxLines; s.full {
			break
		}
		n := strings.IndexByte(d.text[at:], '\n')
		if n < 0 {
			n = len(d.text) - at
		}
		s.lines = append(s.lines, span{at, at + n})
		at += n + 1
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

// close ends the block in the making before a line.
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

// begin begins a section.
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

// plainTitle is a heading without markup, in one line.
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
