package parse

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/net/html"
)

const (
	// maxDepth is how deep the containers of a page may be nested: pages that people read have some 30.
	maxDepth = 1000
	// maxIndent is how deep a list is shown.
	maxIndent = 4
	// longCell is the number of bytes from which a paragraph in a table row counts as a paragraph of the page: tables
	// used for layout have the page's text in their cells.
	longCell = 500
	// mainShare is the part of the text of a page, as one in so many, that its main part has at least.
	mainShare = 4
)

var (
	// ErrDeep is returned for a page whose elements are nested too deep.
	ErrDeep = errors.New("elements are nested too deep")
	// ErrUnclosed is returned for a page that ends inside of a tag, a comment or an element without markup.
	ErrUnclosed = errors.New("has no end")
)

// html reads a page: the headings and the text of its main part.
func (d *Document) html(o *ReadOptions) error {
	page, err := readPage(d.text, len(d.text))
	if err != nil {
		return err
	}
	if page.dropped > 0 || len(page.parts) == 0 {
		// The region left out has no end tag, or is the whole page: keep everything from its start on.
		if page, err = readPage(d.text, max(0, page.dropped-1)); err != nil {
			return err
		}
		if page.dropped > 0 {
			return fmt.Errorf("line %d: <%s> %w", page.dropLine, page.drop.name, ErrUnclosed)
		}
	}
	d.Title, d.Tags, d.Meta = page.title, page.head.Tags, page.head.Meta
	if err := d.derive(page.mainParts(), o); err != nil {
		return err
	}
	if d.Title == "" || len(d.Sections) > 0 && strings.Contains(Fold(d.Title), Fold(d.Sections[0].Title)) {
		d.promote()
	}
	return nil
}

// region is an element that is open, by its name and how many of that name are open in it.
type region struct {
	name string
	nest int
}

func (r *region) opens(name string) {
	if r.name == name {
		r.nest++
	}
}

// closes counts an element that is closed, and reports whether that is the region.
func (r *region) closes(name string) bool {
	if r.name == "" || r.name != name {
		return false
	}
	if r.nest--; r.nest == 0 {
		r.name = ""
	}
	return r.nest == 0
}

// pageReader reads the tags of a page one after the other. It keeps no tree.
type pageReader struct {
	z     *html.Tokenizer
	tags  *tagSets
	at    int    // the byte behind the tag
	line  int    // that it ends in
	raw   string // the element whose text is no markup
	keep  int    // from this byte on all text is kept
	depth int

	title    string
	head     Document // tags and meta
	parts    []pagePart
	drop     region // that is left out
	dropped  int    // the byte behind the tag that begins it, 0 for none
	dropLine int
	main     region
	article  region

	cur     []byte     // the line in the making
	first   int        // the file's line on which it begins
	last    int        // the last line so far
	space   bool       // whether a blank is to come before what follows
	lines   []partLine // of the paragraph before it
	links   linkReader
	based   bool // whether links begin elsewhere than at the page
	heading int  // the level of the one that is open
	pre     int
	lists   []int  // the numbers of items, -1 if they have none
	item    string // the mark that begins the next line
	row     bool   // whether a row of a table is open
	table   bool   // whether the last part is a table that goes on
}

// pagePart is a part, and whether it lies in the main part of its page: 2 in the element main, 1 in an article.
type pagePart struct {
	part
	main int
	size int
}

// readPage reads a page. From the byte keep on it leaves out only content that is not text.
func readPage(text string, keep int) (*pageReader, error) {
	p := &pageReader{z: html.NewTokenizer(strings.NewReader(text)), tags: tags(), line: 1, keep: keep}
	p.links.block = new(Block)
	for {
		kind := p.z.Next()
		raw := p.z.Raw()
		from, begins := p.at, p.line
		p.at += len(raw)
		p.line += bytes.Count(raw, []byte("\n"))
		var err error
		switch kind {
		case html.ErrorToken:
			return p, p.end(raw, begins)
		case html.TextToken:
			if p.raw != "" && p.at == len(text) && p.raw != "plaintext" {
				err = fmt.Errorf("line %d: <%s> %w", begins, p.raw, ErrUnclosed)
				break
			}
			p.text(begins)
		case html.StartTagToken, html.SelfClosingTagToken:
			err = p.start(kind == html.SelfClosingTagToken)
		case html.EndTagToken:
			name, _ := p.z.TagName()
			p.raw = ""
			p.close(string(name))
		case html.CommentToken:
			if from+len(raw) == len(text) && !bytes.HasSuffix(raw, []byte(">")) {
				err = fmt.Errorf("line %d: a comment %w", begins, ErrUnclosed)
			}
		}
		if err == nil && len(p.parts) > MaxBlocks+MaxSections {
			err = ErrTooMany
		}
		if err != nil {
			return nil, err
		}
	}
}

// end ends a page. The tokenizer is at the end of the text, or of the part that it can read.
func (p *pageReader) end(rest []byte, line int) error {
	p.flush()
	switch {
	case len(bytes.TrimSpace(rest)) > 0:
		return fmt.Errorf("line %d: a tag %w", line, ErrUnclosed)
	case p.raw != "":
		return fmt.Errorf("line %d: <%s> %w", line, p.raw, ErrUnclosed)
	}
	return nil
}

func (p *pageReader) start(closed bool) error {
	tag, more := p.z.TagName()
	name := string(tag)
	closed = closed || p.tags.voids[name]
	a := p.attributes(more)
	if p.tags.raw[name] && !closed {
		p.raw = name
	} else if p.tags.raw[name] {
		p.z.NextIsNotRawText()
	}
	if p.tags.containers[name] && !closed {
		if p.depth++; p.depth > maxDepth {
			return fmt.Errorf("line %d: %w: limit %d", p.line, ErrDeep, maxDepth)
		}
	}
	if p.drop.name != "" {
		if !closed {
			p.drop.opens(name)
		}
		return nil
	}
	if !closed && p.leaves(name, &a) {
		p.block(name)
		p.drop, p.dropped, p.dropLine = region{name, 1}, p.at, p.line
		return nil
	}
	if !closed {
		p.enter(name, &a)
	}
	p.element(name, &a)
	return nil
}

func (p *pageReader) enter(name string, a *attributes) {
	p.main.opens(name)
	p.article.opens(name)
	if p.main.name == "" && (name == "main" || a.role == "main") {
		p.flush()
		p.main = region{name, 1}
	}
	if p.article.name == "" && name == "article" {
		p.flush()
		p.article = region{name, 1}
	}
}

func (p *pageReader) leaves(name string, a *attributes) bool {
	switch {
	case p.tags.notText[name]:
		return true
	case p.at > p.keep || name == "html" || name == "body":
		return false
	case name == "header" || a.role == "banner":
		return p.main.name == "" && p.article.name == "" // else it has the heading
	}
	return a.hidden || p.tags.aside[name] || p.tags.asideRoles[a.role]
}

// element acts on the beginning of an element whose text is taken.
func (p *pageReader) element(name string, a *attributes) {
	p.block(name)
	switch name {
	case "meta":
		p.meta(a)
	case "base":
		p.based = p.based || a.href != "" && a.href != "./"
	case "br":
		p.lineBreak()
	case "h1", "h2", "h3", "h4", "h5", "h6":
		p.heading, p.item = int(name[1]-'0'), ""
	case "pre", "xmp", "plaintext":
		p.pre++
	case "ul", "menu":
		p.lists = append(p.lists, -1)
	case "ol":
		p.lists = append(p.lists, 0)
	case "li":
		p.item = p.mark()
	case "tr":
		p.row = true
	case "td", "th":
		if p.row && len(p.cur) > 0 {
			p.cur = append(p.cur, " |"...)
			p.space = true
		}
	case "a", "area":
		if a.href != "" && !p.based {
			p.links.path(strings.TrimSpace(a.href))
		}
	case "img":
		p.words([]byte(a.alt), p.line, p.line)
	}
}

// mark returns the mark of the next item of the innermost list.
func (p *pageReader) mark() string {
	if len(p.lists) == 0 {
		return "- "
	}
	indent := strings.Repeat("  ", min(len(p.lists), maxIndent)-1)
	n := &p.lists[len(p.lists)-1]
	if *n < 0 {
		return indent + "- "
	}
	*n++
	return fmt.Sprintf("%s%d. ", indent, *n)
}

// close acts on the end of an element.
func (p *pageReader) close(name string) {
	if p.tags.containers[name] {
		p.depth = max(0, p.depth-1)
	}
	if p.drop.name != "" {
		if p.drop.closes(name) {
			p.dropped = 0
		}
		return
	}
	p.block(name)
	switch name {
	case "pre", "xmp":
		p.pre = max(0, p.pre-1)
	case "ul", "ol", "menu":
		if len(p.lists) > 0 {
			p.lists = p.lists[:len(p.lists)-1]
		}
		p.item = ""
	case "h1", "h2", "h3", "h4", "h5", "h6":
		p.flush()
	}
	if p.main.name == name && p.main.nest == 1 || p.article.name == name && p.article.nest == 1 {
		p.flush()
	}
	p.main.closes(name)
	p.article.closes(name)
}

// block ends the open paragraph if a tag does.
func (p *pageReader) block(name string) {
	switch {
	case !p.tags.blocks[name]:
	case p.heading > 0 && name == "div":
		p.space = true
	case p.row && name == "tr":
		p.endRow()
	case p.row && (name == "td" || name == "th" || name == "caption"):
	case p.row && (name == "div" || name == "p") && len(p.cur) < longCell:
		p.space = true
	case name == "table" || name == "tbody" || name == "thead" || name == "tfoot":
		if p.row {
			p.endRow()
		} else {
			p.flush()
		}
		p.table = p.table && name != "table"
	default:
		p.flush()
	}
}

// endRow adds the row in the making to its table.
func (p *pageReader) endRow() {
	had, going := len(p.parts), p.table
	p.flush()
	p.row = false
	if len(p.parts) == had {
		p.table = going
		return
	}
	added := &p.parts[had]
	if added.kind != paragraph {
		return
	}
	added.kind, p.table = whole, true
	if going && had > 0 {
		table := &p.parts[had-1]
		table.lines = append(table.lines, added.lines...)
		table.links = append(table.links, added.links...)
		table.links = table.links[:min(len(table.links), maxLinks)]
		table.size += added.size
		p.parts = p.parts[:had]
	}
}

type attributes struct {
	href, role, alt, name, content string
	hidden                         bool
}

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

func (p *pageReader) meta(a *attributes) {
	switch value := strings.Join(strings.Fields(a.content), " "); a.name {
	case "keywords":
		for tag := range strings.SplitSeq(value, ",") {
			p.head.tag(strings.TrimSpace(tag))
		}
	case "author", "description", "date":
		if value != "" && !slices.ContainsFunc(p.head.Meta, func(f Field) bool { return f.Name == a.name }) {
			p.head.Meta = append(p.head.Meta, Field{Name: a.name, Value: value})
		}
	}
}

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
