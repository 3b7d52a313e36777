package parse

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/base/text"
)

// maxOpen is how deep declarations are nested that are sections: a method of a class of a class of a namespace.
const maxOpen = 6

// source reads a source file that is not Go. Each declaration is a section with the comment before it; sections of a
// class's members are inside the class's. It guesses where declarations begin and end from single lines and their
// indentation. A wrong guess puts text into another section; none is lost, as every line is in the block between two
// bounds. It returns the imports, as links.
func (s *scanner) source(lang *language) (imports []string) {
	r := sourceReader{scanner: s, lang: lang, kinds: lang.classify(s)}
	for i := range s.lines {
		if s.full {
			break
		}
		if r.kinds[i] != codeLine {
			continue
		}
		line := s.line(i)
		if len(line) > maxTitle {
			continue // it is generated
		}
		r.leave(i, line)
		r.declaration(i, line)
		imports = lang.imports(imports, line)
	}
	r.cut(len(s.lines))
	return imports
}

// lineKind classifies a line of source code.
type lineKind byte

const (
	codeLine lineKind = iota
	blankLine
	commentLine
	textLine // begins inside of a string
)

type sourceReader struct {
	*scanner
	lang  *language
	kinds []lineKind
	next  int // the first line that is in no block
	open  []opened
}

// opened is a declaration that has not ended yet.
type opened struct {
	section int
	indent  int
	begin   int  // its line
	holds   bool // whether there may be others in it
}

func (r *sourceReader) cut(to int) {
	if to <= r.next {
		return
	}
	r.stack = r.stack[:0]
	if len(r.open) > 0 {
		r.stack = append(r.stack, r.open[len(r.open)-1].section)
	}
	r.block(r.next, to, false)
	r.next = to
}

// leave ends the declarations that end before a line, or with it.
func (r *sourceReader) leave(i int, line string) {
	at := indent(line)
	for len(r.open) > 0 {
		o := r.open[len(r.open)-1]
		if at > o.indent || i == o.begin || r.lang.goesOn(line) {
			return
		}
		if at == o.indent && r.lang.closes(line) {
			if !opens(line) {
				r.cut(i + 1)
				r.open = r.open[:len(r.open)-1]
			}
			return
		}
		end := i
		for end > r.next && r.kinds[end-1] != codeLine && r.kinds[end-1] != textLine {
			end-- // comments before a line belong to it
		}
		r.cut(end)
		r.open = r.open[:len(r.open)-1]
	}
}

// declaration begins a section if a line begins a declaration.
func (r *sourceReader) declaration(i int, line string) {
	inside := len(r.open) > 0
	if inside && !r.open[len(r.open)-1].holds || len(r.open) == maxOpen || i < r.next {
		return
	}
	name, holds := r.lang.declared(line, inside)
	if name == "" {
		return
	}
	first := i
	for first > r.next && (r.kinds[first-1] == commentLine ||
		r.kinds[first-1] == codeLine && r.lang.above != nil && r.lang.above().MatchString(r.line(first-1))) {
		first--
	}
	r.cut(first)
	if r.full = r.full || len(r.doc.Sections) == MaxSections; r.full {
		return
	}
	parent := -1
	if inside {
		parent = r.open[len(r.open)-1].section
	}
	r.doc.Sections = append(r.doc.Sections, Section{Title: name, Parent: parent, level: len(r.open) + 1})
	r.open = append(r.open, opened{len(r.doc.Sections) - 1, indent(line), i, holds})
}

// indent is how far a line is indented, a tab as four.
func indent(line string) int {
	blanks := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	return len(blanks) + 3*strings.Count(blanks, "\t")
}

// opens reports whether a line ends with what more must follow.
func opens(line string) bool {
	line = strings.TrimRight(line, " \t\r")
	ends := []string{"{", "(", "[", ",", "=>", "->", ":", "=", "|", "&&", "||", "\\"}
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(line, end) })
}

// closes reports whether a line begins with what ends a declaration that begins as far to the left.
func (l *language) closes(line string) bool {
	line = strings.TrimLeft(line, " \t")
	if strings.IndexByte("})]", line[0]) >= 0 {
		return true
	}
	rest, ends := strings.CutPrefix(line, "end")
	return l.ends && ends && (rest == "" || strings.IndexByte(" \t;.#)", rest[0]) >= 0)
}

// goesOn reports whether a line belongs to the declaration before it although it is not indented.
func (l *language) goesOn(line string) bool {
	return line[len(line)-len(strings.TrimLeft(line, " \t"))] == '{' || l.goes != nil && l.goes().MatchString(line)
}

// declared returns the name that a line declares, "" for none, and whether other declarations may be inside.
func (l *language) declared(line string, inside bool) (name string, holds bool) {
	for i := range l.decls {
		d := &l.decls[i]
		if d.inside && !inside {
			continue
		}
		m := d.match().FindStringSubmatch(line)
		if m == nil {
			continue
		}
		kind, name := cmp.Or(d.kind, m[1]), strings.TrimSpace(m[len(m)-1])
		if name == "" {
			continue
		}
		if name[:1] == "@" || slices.Contains(l.words, name) || slices.Contains(l.words, firstWord(line)) {
			return "", false
		}
		if name = kind + " " + name; len(name) > maxName {
			name = text.FirstBytes(name, maxName) + " …"
		}
		return name, d.holds || slices.Contains(l.holders, kind)
	}
	return "", false
}

func firstWord(line string) string {
	line = strings.TrimLeft(line, " \t")
	end := strings.IndexFunc(line, func(c rune) bool { return c < 'A' || c > 'z' || c > 'Z' && c < 'a' })
	if end < 0 {
		end = len(line)
	}
	return line[:end]
}

// imports adds the imports of a line, as links. A path relative to the file's directory begins with a dot.
func (l *language) imports(list []string, line string) []string {
	if l.imported == nil || len(list) == maxLinks {
		return list
	}
	for _, m := range l.imported().FindAllStringSubmatch(line, 4) {
		to := l.importPath(m[1:])
		if to != "" && len(to) < maxLink && !slices.Contains(list, ImportLink+to) {
			list = append(list, ImportLink+to)
		}
	}
	return list
}

// importPath builds the imported path from the groups of a match; of several names it takes the first that is not
// empty.
func (l *language) importPath(groups []string) string {
	at := slices.IndexFunc(groups, func(s string) bool { return s != "" })
	if at < 0 {
		return ""
	}
	to := groups[at]
	switch {
	case l.dots: // Python: a dot for the directory of the file, one more for each above
		rest := strings.TrimLeft(to, ".")
		up := len(to) - len(rest)
		to = strings.ReplaceAll(rest, ".", "/")
		if up > 0 {
			to = "./" + strings.Repeat("../", min(up, maxOpen)-1) + to
		}
	case l.separator != "":
		to = strings.ReplaceAll(strings.Trim(to, l.separator), l.separator, "/")
	}
	if l.near && !strings.HasPrefix(to, ".") && !strings.HasPrefix(to, "/") {
		to = "./" + to
	}
	if strings.HasPrefix(to, ".") {
		return "./" + path.Clean(to)
	}
	return to
}

// classify returns what each line is. Strings and comments are followed from line to line.
func (l *language) classify(s *scanner) []lineKind {
	out := make([]lineKind, len(s.lines))
	x := lexer{lang: l}
	for i := range s.lines {
		line := s.line(i)
		switch {
		case x.comment > 0:
			out[i] = commentLine
		case x.until != "":
			out[i] = textLine
		case blank(line):
			out[i] = blankLine
			continue
		case l.commented(strings.TrimLeft(line, " \t")):
			out[i] = commentLine
		}
		x.line(line)
		if out[i] == commentLine && x.code {
			out[i] = codeLine // a comment before it in the line
		}
	}
	return out
}

func (l *language) commented(line string) bool {
	if l.block[0] != "" && strings.HasPrefix(line, l.block[0]) {
		return true
	}
	return slices.ContainsFunc(l.line, func(mark string) bool {
		return strings.HasPrefix(line, mark) && (l.attribute == "" || !strings.HasPrefix(line, l.attribute))
	})
}

// lexer follows strings and comments that go over several lines.
type lexer struct {
	lang    *language
	comment int    // how many are open
	until   string // the end of the open string
	whole   bool   // whether that end is a line of its own
	code    bool   // whether the line has something else than comments
}

func (x *lexer) line(line string) {
	l := x.lang
	x.code = false
	if x.whole {
		if strings.Trim(line, " \t;),") == x.until {
			x.until, x.whole = "", false
		}
		return
	}
	heredoc := ""
	if l.heredoc != nil && x.until == "" && x.comment == 0 && strings.Contains(line, "<<") {
		if m := l.heredoc().FindStringSubmatch(line); m != nil {
			heredoc = m[1]
		}
	}
	for i := 0; i < len(line); {
		i += x.step(line[i:], i == 0 || strings.IndexByte(" \t;(", line[i-1]) >= 0)
	}
	if len(x.until) == 1 && strings.Contains(l.quotes, x.until) && !l.multi {
		x.until = "" // ends with its line
	}
	if heredoc != "" && x.until == "" && x.comment == 0 {
		x.until, x.whole = heredoc, true
	}
}

// step reads the first token of a line's rest and returns its length.
func (x *lexer) step(rest string, after bool) int {
	l := x.lang
	switch {
	case x.comment > 0:
		switch {
		case strings.HasPrefix(rest, l.block[1]):
			x.comment--
			return len(l.block[1])
		case l.nested && strings.HasPrefix(rest, l.block[0]):
			x.comment++
			return len(l.block[0])
		}
		return 1
	case x.until != "":
		switch {
		case strings.HasPrefix(rest, x.until):
			n := len(x.until)
			x.until = ""
			return n
		case rest[0] == '\\':
			return min(2, len(rest))
		}
		return 1
	case l.block[0] != "" && strings.HasPrefix(rest, l.block[0]):
		x.comment = 1
		return len(l.block[0])
	}
	for _, mark := range l.line {
		if strings.HasPrefix(rest, mark) && (after || mark != "#") {
			return len(rest)
		}
	}
	if rest[0] != ' ' && rest[0] != '\t' {
		x.code = true
	}
	for _, mark := range l.long {
		if strings.HasPrefix(rest, mark) {
			x.until = mark
			return len(mark)
		}
	}
	switch {
	case l.char != nil && rest[0] == '\'':
		if n := len(l.char().FindString(rest)); n > 0 {
			return n
		}
	case strings.IndexByte(l.quotes, rest[0]) >= 0:
		x.until = rest[:1]
	}
	return 1
}

// decl is how a declaration looks.
type decl struct {
	match  func() *regexp.Regexp // the last group is the name, the first the kind
	kind   string                // the kind if no group has it
	inside bool                  // whether it counts only inside another one
	holds  bool                  // whether others may be in it
}
