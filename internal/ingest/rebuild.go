package ingest

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/ingest/parse"
	"github.com/mnem-project/mnem/internal/memory/sources"
)

// Rebuilt is the file of a document, made from its chunks.
type Rebuilt struct {
	Text  string
	Exact bool // whether it has the hash of the file
}

// Documents returns the paths of all documents, those without files included.
func (c *Catalogue) Documents() []Path {
	out := make([]Path, len(c.all))
	for i, d := range c.all {
		out[i] = d.path
	}
	return out
}

// Key returns the key of a document.
func (c *Catalogue) Key(p Path) string { return c.byPath[p].node.Key }

// Rebuild puts the chunks of a document together again, without those and the headings of sections that are left out.
func (c *Catalogue) Rebuild(ctx context.Context, p Path, left func(graph.ID) bool) (*Rebuilt, error) {
	d := c.byPath[p]
	if d == nil {
		return nil, errors.New("no such document")
	}
	if err := c.load(ctx, d); err != nil {
		return nil, err
	}
	texts := make([]string, len(d.chunks))
	for i, n := range d.chunks {
		if left(n.ID) {
			continue
		}
		texts[i] = textOf(n)
		if n.Content != nil {
			var err error
			if texts[i], err = c.snap.Content(ctx, n.Content); err != nil {
				return nil, err
			}
		}
	}
	out := &Rebuilt{}
	for i, form := range d.forms(parse.Format(textProp(d.node, propFormat))) {
		r := &rebuilder{doc: d, form: form, left: left}
		for j, n := range d.chunks {
			if !left(n.ID) {
				r.chunk(n, texts[j])
			}
		}
		text := r.end()
		if i == 0 {
			out.Text = text
		}
		if d.sum == nil {
			break
		}
		for _, text := range []string{text, strings.TrimSuffix(text, "\n"), strings.ReplaceAll(text, "\n", "\r\n")} {
			if Sum(sha256.Sum256([]byte(text))) == *d.sum {
				out.Text, out.Exact = text, true
				return out, nil
			}
		}
	}
	return out, nil
}

// form is how a file may have been written, which its chunks do not say.
type form struct {
	headings bool // whether sections are headings
	title    bool // whether the title is one
	front    bool // whether it begins with front matter
	level    int  // of the outermost sections
}

// forms are the forms to try, the likely one first.
func (d *stored) forms(format parse.Format) []form {
	if format.Decls() || format == parse.Text {
		return []form{{}}
	}
	likely := form{headings: true, title: d.title() != stem(d.path.Name), front: len(listProp(d.node, propFields)) > 0, level: 1}
	if likely.title {
		likely.level = 2
	}
	out := []form{likely}
	for n := range 8 {
		f := form{headings: true, title: n&1 > 0, front: n&2 > 0, level: 1 + n&4/4}
		if f != likely {
			out = append(out, f)
		}
	}
	return out
}

// maxAround is how many sections are around a chunk at most.
const maxAround = 64

type rebuilder struct {
	form
	doc   *stored
	left  func(graph.ID) bool
	text  strings.Builder
	last  int        // the last line so far, numbered as in the file; 0 if that is not known
	path  []graph.ID // of the sections around the last chunk
	begun bool
	open  bool // whether the front matter is not closed
}

// chunk adds a chunk, with the headings before it. What stood between two chunks is known by the numbers of lines.
func (r *rebuilder) chunk(n *graph.Node, text string) {
	begin, end := 0, 0
	if len(n.Sources) > 0 {
		if src, err := sources.Parse(n.Sources[0]); err == nil && src.Last > 0 {
			begin, end = src.First, src.Last
		}
	}
	var above []string
	if r.headings {
		above = r.above(n.ID)
	}
	if !r.begun && r.front {
		r.text.WriteString("---\n" + text)
		r.begun, r.last, r.open = true, end, !strings.Contains(text, "\n---")
		return
	}
	if r.title && (r.open || !r.begun) {
		above = append([]string{"# " + r.doc.title()}, above...)
	}
	if r.open {
		r.text.WriteString("\n---")
		r.last, r.open = r.last+1, false
	}
	gap := begin - r.last - 1 // lines between
	if begin == 0 || r.begun && r.last == 0 || gap < len(above) || gap > len(above)+3*(len(above)+1) {
		r.between(above)
	} else {
		r.gap(above, gap)
	}
	r.text.WriteString(text)
	r.begun, r.last = true, end
}

// end returns the text, of a document that ends with its title with that.
func (r *rebuilder) end() string {
	if r.open {
		r.text.WriteString("\n---")
	}
	if r.title && (r.open || !r.begun) {
		r.between([]string{"# " + r.doc.title()})
		return strings.TrimSuffix(r.text.String(), "\n")
	}
	if r.begun {
		r.text.WriteByte('\n')
	}
	return r.text.String()
}

// between adds headings where the lines are not known.
func (r *rebuilder) between(above []string) {
	if r.begun {
		r.text.WriteString("\n\n")
	}
	for _, h := range above {
		r.text.WriteString(h + "\n\n")
	}
}

// gap adds headings and blank lines that are so many lines together.
func (r *rebuilder) gap(above []string, lines int) {
	if r.begun {
		r.text.WriteByte('\n')
	}
	blank := lines - len(above)
	for i, h := range above {
		// A blank line goes before a heading rather than after it, except at the beginning.
		before := 0
		if share := (blank + len(above) - i) / (len(above) - i + 1); r.begun || i > 0 {
			before = min(blank, max(share, 1))
		}
		r.text.WriteString(strings.Repeat("\n", before) + h + "\n")
		blank -= before
	}
	r.text.WriteString(strings.Repeat("\n", blank))
}

// above are the headings of the sections that begin before a chunk.
func (r *rebuilder) above(id graph.ID) (out []string) {
	var around []graph.ID
	every := func(graph.ID) bool { return true }
	for up := r.doc.place(id, every); up != r.doc.node.ID && len(around) < maxAround; up = r.doc.place(up, every) {
		around = append([]graph.ID{up}, around...)
	}
	same := 0
	for same < len(around) && same < len(r.path) && around[same] == r.path[same] {
		same++
	}
	for i := same; i < len(around); i++ {
		if r.left(around[i]) {
			continue
		}
		up := r.doc.title()
		if i > 0 {
			up = r.doc.nodes[around[i-1]].Summary
		}
		title := strings.TrimPrefix(r.doc.nodes[around[i]].Summary, up+placeMark)
		out = append(out, strings.Repeat("#", min(r.level+i, 6))+" "+title)
	}
	r.path = around
	return out
}
