package parse

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/internal/base/pattern"
)

// maxOutput is how many bytes of what a cell printed are kept: what people read of it, and not its logs.
const maxOutput = 2000

// colours are the sequences by which terminals show colours.
var colours = pattern.New("\x1b\\[[0-9;?]*[A-Za-z]")

// notebook reads one of Jupyter, in the formats 3 and 4: Markdown as it is, code with its number, and of what
// it printed the plain text.
func (d *Document) notebook(o *ReadOptions) error {
	r := notebookReader{jsonText: newJSON(d.text, 1), left: make(map[string]int)}
	tok, err := r.token()
	if err == nil {
		err = r.object(tok, r.top)
	}
	if err == nil {
		err = r.done()
	}
	if err != nil {
		return err
	}
	if r.format != "3" && r.format != "4" {
		return fmt.Errorf("%w: nbformat is %q, want 3 or 4", ErrForm, r.format)
	}
	d.Title, d.Left = strings.Join(strings.Fields(r.title), " "), r.left
	if r.language != "" && len(r.language) <= maxName {
		d.Meta = []Field{{Name: "language", Value: r.language}}
	}
	if err := d.derive(r.parts, o); err != nil {
		return err
	}
	d.promote()
	return nil
}

type notebookReader struct {
	*jsonText
	format          string
	title, language string
	parts           []part
	left            map[string]int
}

type cell struct {
	kind   string
	number string
	level  string // of a heading of format 3
	source []partLine
	output lineList
}

func (r *notebookReader) top(name string, tok json.Token) error {
	switch name {
	case "nbformat":
		r.format = scalar(tok)
	case "cells":
		return r.array(tok, r.cell)
	case "worksheets":
		return r.array(tok, func(tok json.Token) error {
			return r.object(tok, func(name string, tok json.Token) error {
				if name == "cells" {
					return r.array(tok, r.cell)
				}
				return r.skip(tok)
			})
		})
	case "metadata":
		return r.object(tok, r.metadata)
	}
	return r.skip(tok)
}

func (r *notebookReader) metadata(name string, tok json.Token) error {
	switch name {
	case "title", "name":
		if s := scalar(tok); len(s) <= maxTitle {
			r.title = s
		}
	case "kernelspec", "language_info":
		return r.object(tok, func(member string, tok json.Token) error {
			if member == "language" || member == "name" && name == "language_info" {
				r.language = scalar(tok)
			}
			return r.skip(tok)
		})
	}
	return r.skip(tok)
}

// scalar is a text or number as text.
func scalar(tok json.Token) string {
	switch v := tok.(type) {
	case string:
		return strings.ReplaceAll(v, "\x00", "\ufffd")
	case json.Number:
		return v.String()
	}
	return ""
}

func (r *notebookReader) cell(tok json.Token) error {
	c := cell{output: lineList{most: maxOutput}}
	err := r.object(tok, func(name string, tok json.Token) error {
		switch name {
		case "cell_type":
			c.kind = scalar(tok)
		case "execution_count", "prompt_number":
			c.number = scalar(tok)
		case "level":
			c.level = scalar(tok)
		case "source", "input":
			lines, err := r.lines(tok, 0)
			if len(lines.list) > 0 {
				c.source = lines.list
			}
			return err
		case "attachments":
			r.left["attachment"]++
		case "outputs":
			return r.array(tok, func(tok json.Token) error { return r.output(tok, &c.output) })
		}
		return r.skip(tok)
	})
	if err != nil {
		return err
	}
	if len(r.parts)+3 > MaxBlocks {
		return fmt.Errorf("line %d: %w", r.line, ErrTooMany)
	}
	r.add(&c)
	return nil
}

// output takes the plain text of an output.
func (r *notebookReader) output(tok json.Token, to *lineList) error {
	take := func(tok json.Token) error {
		lines, err := r.lines(tok, maxOutput)
		for _, l := range lines.list {
			to.add(l.text+"\n", l.first)
		}
		to.cut = to.cut || lines.cut
		return err
	}
	return r.object(tok, func(name string, tok json.Token) error {
		switch name {
		case "text":
			return take(tok)
		case "data":
			return r.object(tok, func(name string, tok json.Token) error {
				if name == "text/plain" {
					return take(tok)
				}
				r.leave(name)
				return r.skip(tok)
			})
		case "traceback":
			r.left["error"]++
		case "output_type", "metadata", "execution_count", "prompt_number", "name", "stream", "ename", "evalue":
		default: // of format 3: data without a member of its own
			r.leave(name)
		}
		return r.skip(tok)
	})
}

// leave counts data of an output that is left out, by its name: a media type, or in format 3 an ending.
func (r *notebookReader) leave(name string) {
	if len(name) > maxName || len(r.left) == maxFields {
		name = "other data"
	}
	r.left[name]++
}

// add makes parts of a cell.
func (r *notebookReader) add(c *cell) {
	if len(c.source) == 0 {
		return
	}
	switch c.kind {
	case "markdown":
		r.parts = append(r.parts, part{kind: markdown, lines: c.source})
	case "heading": // of format 3
		level := 1
		if len(c.level) == 1 && c.level[0] >= '1' && c.level[0] <= '6' {
			level = int(c.level[0] - '0')
		}
		r.parts = append(r.parts, part{kind: title, level: level, lines: c.source})
	case "code":
		r.parts = append(r.parts, part{kind: whole, lines: numbered("In", c.number, c.source)})
		c.output.end()
		for i := range c.output.list {
			l := &c.output.list[i]
			l.text = colours().ReplaceAllString(l.text, "")
		}
		lines := c.output.list
		if c.output.cut {
			r.left["end of a long output"]++
		}
		if c.output.cut && len(lines) > 0 {
			last := lines[len(lines)-1]
			last.text = "…"
			lines = append(lines, last)
		}
		if len(lines) > 0 {
			r.parts = append(r.parts, part{kind: whole, lines: numbered("Out", c.number, lines)})
		}
	default: // raw
		r.parts = append(r.parts, part{kind: paragraph, lines: c.source})
	}
}

// numbered puts a line with the number of a cell before its lines.
func numbered(what, number string, lines []partLine) []partLine {
	if number == "" || len(number) > 10 {
		number = " "
	}
	first := lines[0]
	first.text, first.last = what+" ["+number+"]:", first.first
	return append([]partLine{first}, lines...)
}
