package parse

import (
	"errors"
	"strings"
)

// ErrClean is returned if what cleans a text does not keep its lines.
var ErrClean = errors.New("lines were lost in cleaning")

// ReadOptions are how a document is read; nil is none.
type ReadOptions struct {
	// Clean rewrites a text and must keep its number of lines; nil for none. Of a derived format it gets the derived
	// text, not the file.
	Clean func(string) (string, error)
	// Columns are the meanings of a table's columns; Time checks a time in a table, nil for none.
	Columns *Columns
	Time    func(string) error
}

// Derived reports whether the text of a format is computed from the file, and not a part of it.
func (f Format) Derived() bool { return f == HTML || f == Notebook || f.Mapped() }

// Mapped is whether files of a format say nothing until somebody says what their columns are.
func (f Format) Mapped() bool { return f == CSV || f == JSONL }

// partKind is the kind of a part of a derived text.
type partKind int

const (
	paragraph partKind = iota
	whole              // a block that is divided only if it is very long
	title              // a heading
	markdown           // blocks and headings
	plain              // paragraphs
)

// part is a piece of the text of a file with markup.
type part struct {
	kind  partKind
	level int    // of a heading
	id    string // of the record that it begins
	time  string
	lines []partLine
	links []string
}

// partLine is a line of a part, and the lines of the file that it comes from.
type partLine struct {
	text        string
	first, last int
}

func (d *Document) derive(parts []part, o *ReadOptions) error {
	var text strings.Builder
	var places []partLine
	for i := range parts {
		for _, l := range parts[i].lines {
			text.WriteString(l.text)
			text.WriteByte('\n')
			l.text = ""
			places = append(places, l)
		}
		text.WriteByte('\n') // between two
		places = append(places, partLine{})
		if len(places) > MaxLines {
			return ErrTooMany
		}
	}
	d.text = text.String()
	if o.Clean != nil {
		var err error
		if d.text, err = o.Clean(d.text); err != nil {
			return err
		}
		if strings.Count(d.text, "\n") != len(places) {
			return ErrClean
		}
	}
	s := newScanner(d)
	at := 0
	for i := range parts {
		end := at + len(parts[i].lines)
		s.part(&parts[i], at, end)
		at = end + 1
	}
	if err := s.bounded(); err != nil {
		return err
	}
	d.divide()
	d.findLinks(func(b *Block) bool { return b.prose })
	for i := range d.Blocks {
		b := &d.Blocks[i]
		of := places[b.First-1 : b.Last]
		b.First, b.Last = of[0].first, of[0].last
		for _, l := range of[1:] {
			if l.first > 0 { // none between two parts
				b.First, b.Last = min(b.First, l.first), max(b.Last, l.last)
			}
		}
	}
	return nil
}

// part adds a part that has the lines from inclusive to to exclusive.
func (s *scanner) part(p *part, from, to int) {
	if s.full {
		return
	}
	had := len(s.doc.Blocks)
	switch {
	case p.kind == title && to-from == 1 && len(s.line(from)) <= maxTitle:
		if s.begin(p.level, s.line(from)); !s.full {
			last := &s.doc.Sections[len(s.doc.Sections)-1]
			last.ID, last.Time = p.id, p.time
		}
		return
	case p.kind == markdown, p.kind == plain:
		all := s.lines
		s.lines = all[:to]
		if p.kind == plain {
			s.plain(from)
		} else {
			s.markdown(from)
		}
		s.lines = all
		for i := range s.doc.Blocks[had:] {
			s.doc.Blocks[had+i].prose = p.kind == markdown
		}
		return
	}
	s.block(from, to, p.kind == whole)
	if len(s.doc.Blocks) > had {
		s.doc.Blocks[had].links = p.links
	}
}
