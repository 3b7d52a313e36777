package parse

import (
	"bytes"
	"strings"
	"sync"
	"unicode/utf8"
)

// attributes are the attributes of a tag that the reader uses.
type attributes struct {
	href, role, alt, name, content string
	hidden                         bool
}

// attributes reads the attributes of a tag.
func (p *pageReader) attributes(more bool) (a attributes) {
	for more {
		var key, value []byte
		key, value, more = p.z.TagAttr()
		switch string(key) {
		case "href":
			a.href = clipped(value, 3*maxLink)
		case "alt":
			a.alt = clipped(value, maxTitle)
		case "name", "property":
			a.name = strings.ToLower(clipped(value, maxName))
		case "content":
			a.content = clipped(value, maxMeta)
		case "role":
			a.role = strings.ToLower(clipped(value, maxName))
		case "hidden":
			a.hidden = true
		case "aria-hidden":
			a.hidden = a.hidden || string(value) == "true"
		case "style":
			style := bytes.ReplaceAll(value[:min(len(value), maxTitle)], []byte(" "), nil)
			a.hidden = a.hidden || bytes.Contains(style, []byte("display:none")) ||
				bytes.Contains(style, []byte("visibility:hidden"))
		}
	}
	return a
}

// clipped returns a value unless it is longer than anything that is used.
func clipped(value []byte, most int) string {
	if len(value) > most || !utf8.Valid(value) {
		return ""
	}
	return string(value)
}

// meta reads a page's metadata.
func (p *pageReader) meta(a *attributes) {
	switch value := strings.Join(strings.Fields(a.content), " "); a.name {
	case "keywords":
		for tag := range strings.SplitSeq(value, ",") {
			p.head.tag(strings.TrimSpace(tag))
		}
	case "author", "description", "date":
		for _, f := range p.head.Meta {
			if f.Name == a.name {
				return
			}
		}
		if value != "" {
			p.head.Meta = append(p.head.Meta, Field{Name: a.name, Value: value})
		}
	}
}

// text takes the text before the next tag, which begins in a line.
func (p *pageReader) text(begins int) {
	text := p.z.Text() // of p.raw too, which is not decoded
	switch {
	case p.raw == "title":
		if p.title == "" && p.drop.name == "" && len(text) <= maxTitle {
			p.title = strings.Join(strings.Fields(string(text)), " ")
		}
	case p.drop.name != "":
	case p.raw != "" && p.raw != "xmp" && p.raw != "plaintext":
	case p.pre > 0:
		p.verbatim(text, begins)
	default:
		p.words(text, begins, p.line)
	}
}

// blanks are the characters that HTML treats as whitespace.
const blanks = " \t\n\r\f"

// words adds text whose blanks mean nothing, of some lines of the file.
func (p *pageReader) words(text []byte, first, last int) {
	line := first
	for len(text) > 0 {
		end := bytes.IndexAny(text, blanks)
		switch {
		case end < 0:
			end = len(text)
			p.word(text, line)
		case end > 0:
			p.word(text[:end], line)
		default:
			end = 1
			p.space = true
			if text[0] == '\n' {
				line = min(line+1, last)
			}
		}
		text = text[end:]
	}
}

// word adds one to the line in the making.
func (p *pageReader) word(word []byte, line int) {
	if len(p.cur) == 0 {
		p.first = line
		p.cur = append(p.cur, p.item...)
		p.item = ""
	} else if p.space {
		p.cur = append(p.cur, ' ')
	}
	p.space, p.last = false, line
	p.cur = append(p.cur, word...)
}

// verbatim adds text unchanged.
func (p *pageReader) verbatim(text []byte, line int) {
	for {
		part, rest, more := bytes.Cut(text, []byte("\n"))
		if len(part) > 0 {
			if len(p.cur) == 0 {
				p.first = line
			}
			p.last = line
			p.cur = append(p.cur, part...)
		}
		if !more {
			return
		}
		p.endLine(line)
		text, line = rest, min(line+1, p.line)
	}
}

// lineBreak ends the open line if it may have several lines.
func (p *pageReader) lineBreak() {
	switch {
	case p.row, p.heading > 0:
		p.space = true
	case len(p.cur) > 0:
		p.endLine(p.line)
	}
}

func (p *pageReader) endLine(line int) {
	if len(p.cur) == 0 {
		p.first, p.last = line, line
	}
	text := strings.TrimRight(string(p.cur), blanks)
	p.lines = append(p.lines, partLine{text, p.first, p.last})
	p.cur, p.space = p.cur[:0], false
}

// flush ends the paragraph in the making.
func (p *pageReader) flush() {
	if len(p.cur) > 0 {
		p.endLine(p.line)
	}
	lines := p.lines
	for len(lines) > 0 && blank(lines[0].text) {
		lines = lines[1:]
	}
	for len(lines) > 0 && blank(lines[len(lines)-1].text) {
		lines = lines[:len(lines)-1]
	}
	one := pagePart{part: part{kind: paragraph, level: p.heading, lines: lines, links: p.links.block.links}}
	for _, l := range lines {
		if strings.Trim(l.text, "|- ") != "" {
			one.size += len(l.text)
		}
	}
	switch {
	case p.heading > 0:
		one.kind = title
	case p.pre > 0:
		one.kind = whole
	}
	switch {
	case p.main.name != "":
		one.main = 2
	case p.article.name != "":
		one.main = 1
	}
	if one.size > 0 {
		p.parts = append(p.parts, one)
		p.table = false
	}
	p.lines, p.links.block = nil, new(Block)
	p.heading, p.space = 0, false
}

// mainParts returns the main part of a page, or the whole page if it has none.
func (p *pageReader) mainParts() []part {
	var sizes [3]int // of at least that
	for i := range p.parts {
		for m := range p.parts[i].main + 1 {
			sizes[m] += p.parts[i].size
		}
	}
	least := 0
	for m := 2; m > 0 && least == 0; m-- {
		if sizes[m] > 0 && mainShare*sizes[m] >= sizes[0] {
			least = m
		}
	}
	var out []part
	for i := range p.parts {
		if p.parts[i].main >= least {
			out = append(out, p.parts[i].part)
		}
	}
	return out
}

// tagSets are kinds of elements.
type tagSets struct {
	voids      map[string]bool // have no end
	raw        map[string]bool // have text without markup
	notText    map[string]bool // have nothing to be read, wherever they are
	aside      map[string]bool // elements next to the text of a page
	asideRoles map[string]bool // are roles of such
	blocks     map[string]bool // begin and end paragraphs
	containers map[string]bool // are nested, and have an end of their own
}

// tags are made when the first page is read.
var tags = sync.OnceValue(func() *tagSets {
	set := func(names string) map[string]bool {
		out := make(map[string]bool)
		for name := range strings.FieldsSeq(names) {
			out[name] = true
		}
		return out
	}
	return &tagSets{
		voids:   set("area base br col embed hr img input link meta param source track wbr"),
		raw:     set("iframe noembed noframes noscript plaintext script style textarea title xmp"),
		notText: set("audio button canvas datalist object select svg template video"),
		aside:   set("aside dialog footer nav"),
		asideRoles: set("alertdialog complementary contentinfo dialog menu menubar navigation search " +
			"toolbar"),
		blocks: set("address article aside blockquote body caption center dd details dialog dir div dl dt " +
			"fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html legend li main " +
			"menu nav ol optgroup p plaintext pre search section summary table tbody td tfoot th thead " +
			"title tr ul xmp"),
		containers: set("article aside blockquote center details dialog dir div dl fieldset figure footer " +
			"form header main menu nav ol pre search section table ul"),
	}
})
