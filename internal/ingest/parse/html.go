package parse

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

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
		again, err := readPage(d.text, max(0, page.dropped-1))
		if err != nil {
			return err
		}
		if page = again; page.dropped > 0 {
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

// opens counts an element that is opened inside.
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
		return true
	}
	return false
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

// start reads the tag that begins an element.
func (p *pageReader) start(closed bool) error {
	tag, more := p.z.TagName()
	name := string(tag)
	closed = closed || p.tags.voids[name]
	a := p.attributes(more)
	switch {
	case p.tags.raw[name] && !closed:
		p.raw = name
	case p.tags.raw[name]:
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

// enter begins what may be the main part.
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

// leaves reports whether an element is left out.
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
