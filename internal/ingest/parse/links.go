package parse

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/base/pattern"
	"github.com/mnem-project/mnem/internal/base/text"
)

// findLinks finds the links and tags of blocks, but for those that are code.
func (d *Document) findLinks(of func(*Block) bool) {
	for i := range d.Blocks {
		b := &d.Blocks[i]
		if !of(b) {
			continue
		}
		text := d.text[b.start:b.end]
		if !b.whole || strings.HasPrefix(strings.TrimSpace(text), "|") {
			l := linkReader{doc: d, block: b, text: text}
			l.read()
		}
	}
}

// linkReader reads the links of one block.
type linkReader struct {
	doc   *Document
	block *Block
	text  string
}

var (
	scheme    = pattern.New(`^[A-Za-z][A-Za-z0-9+.-]*:`)
	reference = pattern.New(`(?m)^ {0,3}\[[^\[\]]{1,200}\]:[ \t]*<?([^\s<>]+)>?`)
)

func (l *linkReader) read() {
	for i := 0; i < len(l.text); {
		switch rest := l.text[i:]; {
		case rest[0] == '\\':
			i += 2
		case rest[0] == '`':
			i += codeSpan(rest)
		case strings.HasPrefix(rest, "[["):
			i += l.wiki(rest)
		case strings.HasPrefix(rest, "]("):
			i += l.inline(rest)
		case rest[0] == '#' && (i == 0 || strings.IndexByte(" \t\n(", l.text[i-1]) >= 0):
			i += l.tag(rest)
		default:
			i++
		}
	}
	for _, m := range reference().FindAllStringSubmatch(l.text, maxLinks) {
		l.path(m[1])
	}
}

// codeSpan returns the length of a code span, or of the backticks that begin none.
func codeSpan(s string) int {
	n := len(s) - len(strings.TrimLeft(s, "`"))
	for at := n; at < len(s); {
		next := strings.IndexByte(s[at:], '`')
		if next < 0 {
			break
		}
		at += next
		run := len(s[at:]) - len(strings.TrimLeft(s[at:], "`"))
		if at += run; run == n {
			return at
		}
	}
	return n
}

// wiki reads [[target#heading|shown]].
func (l *linkReader) wiki(s string) int {
	end := strings.Index(s[:min(len(s), maxLink)], "]]")
	if end < 0 || strings.Contains(s[:end], "\n") {
		return 2
	}
	target, _, _ := strings.Cut(s[2:end], "|")
	target, _, _ = strings.Cut(strings.TrimSuffix(target, `\`), "#") // in a table the bar is escaped
	if target = strings.TrimSpace(target); target != "" {
		l.add("[[" + target + "]]")
	}
	return end + 2
}

// inline reads (destination "title") behind the text of a link.
func (l *linkReader) inline(s string) int {
	dest := s[2:]
	if angled, ok := strings.CutPrefix(dest, "<"); ok {
		end := strings.IndexAny(angled[:min(len(angled), maxLink)], ">\n")
		if end < 0 || angled[end] == '\n' {
			return 2
		}
		l.path(angled[:end])
		return 3 + end
	}
	depth := 0
	for i := 0; i < len(dest) && i < maxLink; i++ {
		switch c := dest[i]; {
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		case c == ')', c == ' ', c == '\t', c == '\n':
			l.path(dest[:i])
			return 2 + i
		}
	}
	return 2
}

// path adds the destination of a link, unless it leads out of the documents or stays in this one.
func (l *linkReader) path(dest string) {
	dest, _, _ = strings.Cut(dest, "#")
	dest, _, _ = strings.Cut(dest, "?")
	if dest == "" || scheme().MatchString(dest) || strings.HasPrefix(dest, "//") {
		return
	}
	if plain, err := url.PathUnescape(dest); err == nil && utf8.ValidString(plain) {
		dest = plain
	}
	l.add(dest)
}

func (l *linkReader) add(link string) {
	if len(link) <= maxLink && len(l.block.links) < maxLinks && !slices.Contains(l.block.links, link) {
		l.block.links = append(l.block.links, link)
	}
}

// tag reads #tag, which has a letter in it.
func (l *linkReader) tag(s string) int {
	end, letters := 1, false
	text.EachFolded(s[1:], func(_, at int, kind text.CharClass, fold string) bool {
		if kind == text.KindOther && fold != "_" && fold != "-" && fold != "/" {
			return false
		}
		letters = letters || kind == text.KindLetter || kind == text.KindSingle
		end = 1 + at
		return true
	})
	if letters {
		l.doc.tag(s[1:end])
	}
	return end
}
