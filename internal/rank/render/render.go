// Package render prints nodes and digests as clause 12 says: a pure function of each, whose lines no value can break.
package render

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// Adjacency lists the shown edges of a node.
type Adjacency struct {
	Out, In         []source.Link // in key order
	MoreOut, MoreIn int           // edges that follow and are not shown
}

// RenderOptions control the rendered lines. The zero value renders the lines that are always there, untruncated.
type RenderOptions struct {
	Show       []string // of ShowTimes, ShowKey, ShowContent
	SummaryCap int      // scalars kept of each text, 0 for all
	Adjacency  Adjacency
	Content    string // the node's whole text, rendered with ShowContent; "" for none
}

// Render returns the lines of one node: clause 12. A mark may be nil. It is a pure function. Each line ends with a line
// feed and has a form of the table, whatever the node contains: every name and value stays within its line, and no
// property looks like another line. So the only line of an item that begins with "ntype: " is its first.
func Render(n *graph.Node, m *graph.Mark, o RenderOptions) string {
	r := renderer{textCap: o.SummaryCap}
	r.b = make([]byte, 0, r.room(n, o))
	r.line("ntype", text.EscapeWord(n.Type))
	r.line("id", n.ID.String())
	if m != nil {
		r.state(m)
	}
	r.text("context", n.Context)
	r.text("summary", n.Summary)
	if slices.Contains(o.Show, retrieve.ShowTimes) {
		r.times(n)
	}
	if n.Key != "" && slices.Contains(o.Show, retrieve.ShowKey) {
		r.line("key", text.EscapeLine(n.Key))
	}
	for _, p := range n.Props {
		r.prop("", p.Key, p.Value)
	}
	if slices.Contains(o.Show, retrieve.ShowContent) {
		r.text("content", o.Content)
	}
	r.links("Outgoing:\n", " -> ", o.Adjacency.Out, o.Adjacency.MoreOut)
	r.links("Incoming:\n", " <- ", o.Adjacency.In, o.Adjacency.MoreIn)
	return string(r.b)
}

type renderer struct {
	b       []byte
	textCap int
}

// room estimates the length of the rendered text.
func (r *renderer) room(n *graph.Node, o RenderOptions) int {
	most := len(n.Summary) + len(n.Context)
	if r.textCap > 0 {
		most = min(most, 8*r.textCap)
	}
	return 128 + most + 48*len(n.Props) + 64*(len(o.Adjacency.Out)+len(o.Adjacency.In))
}

func (r *renderer) line(name, value string) {
	r.b = append(r.b, name...)
	r.b = append(r.b, ": "...)
	r.b = append(r.b, value...)
	r.b = append(r.b, '\n')
}

// text writes a line with a text that is cut and escaped, unless it is empty.
func (r *renderer) text(name, value string) {
	if value != "" {
		r.line(name, r.cut(value))
	}
}

// cut returns a text in its escaped form, cut to the cap.
func (r *renderer) cut(s string) string {
	if r.textCap > 0 {
		s = text.CapScalars(s, r.textCap)
	}
	return text.EscapeLine(s)
}

func (r *renderer) state(m *graph.Mark) {
	state := string(m.State)
	switch {
	case m.State == graph.Superseded && !m.By.IsZero():
		state = "replaced " + m.Time.String()[:len("2006-01-02")] + " by " + m.By.String() + " (" +
			text.EscapeField(m.Actor, "()") + ")"
	case !m.By.IsZero():
		state += " (by " + m.By.String() + ")"
	}
	r.line("state", state)
}

func (r *renderer) times(n *graph.Node) {
	r.line("created", n.Created.String())
	if n.Updated.Given {
		r.line("updated", n.Updated.String())
	}
	if n.ValidFrom.Given || n.ValidTo.Given {
		r.line("valid", openEnd(n.ValidFrom)+"/"+openEnd(n.ValidTo))
	}
}

func openEnd(t graph.OptTime) string {
	if !t.Given {
		return ".."
	}
	return t.String()
}

// prop writes a property that is a string, number or boolean.
func (r *renderer) prop(indent, name string, v ipld.Value) {
	switch v.Kind() {
	case ipld.String, ipld.Int, ipld.Float, ipld.Bool:
	default:
		return
	}
	r.b = append(r.b, indent...)
	if likeLine(name) {
		r.b = append(r.b, "props."...)
	}
	r.b = append(r.b, text.EscapeLine(name)...)
	r.b = append(r.b, ": "...)
	if v.Kind() == ipld.String {
		r.b = append(r.b, r.cut(v.Text())...)
	} else {
		r.b = ipld.AppendJSON(r.b, v)
	}
	r.b = append(r.b, '\n')
}

// lineNames are the names of lines that are no properties.
var lineNames = []string{
	"ntype", "id", "state", "context", "summary", "created", "updated", "valid", "key", "content",
	"outgoing", "incoming",
}

// likeLine reports whether a property of that name could be taken for another line.
func likeLine(name string) bool {
	return strings.HasPrefix(name, "props.") || strings.Contains(name, ":") ||
		strings.HasPrefix(name, " ") || strings.HasSuffix(name, " ") ||
		slices.Contains(lineNames, LowerASCII(name))
}

func LowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// links writes the block of one direction unless it has no line.
func (r *renderer) links(head, arrow string, links []source.Link, more int) {
	if len(links) == 0 && more <= 0 {
		return
	}
	r.b = append(r.b, head...)
	for _, l := range links {
		r.b = append(r.b, "  "...)
		r.b = append(r.b, text.EscapeWord(l.Type)...)
		r.b = append(r.b, arrow...)
		r.b = append(r.b, l.Other.String()...)
		r.b = append(r.b, '\n')
	}
	if more > 0 {
		r.b = append(r.b, "  ... (+"...)
		r.b = strconv.AppendInt(r.b, int64(more), 10)
		r.b = append(r.b, " more)\n"...)
	}
}

// RenderDigest returns the lines of a digest: its name and how many facts are below, and for each fact that it
// has sentences from the beginning of the id and these; or what wrote its text, and the lines of that.
func RenderDigest(d *source.Digest) string {
	var b strings.Builder
	fmt.Fprintf(&b, "digest: %s (%d facts)", text.EscapeField(cmp.Or(d.Shown, d.Name), "()"), d.Facts)
	if d.Written != "" {
		b.WriteString(" by " + text.EscapeField(d.Model, "()"))
		for line := range strings.SplitSeq(d.Written, "\n") {
			b.WriteString("\n  " + text.EscapeLine(line))
		}
		return b.String() + "\n"
	}
	for i, s := range d.Sentences {
		if i == 0 || d.Sentences[i-1].Fact != s.Fact {
			fmt.Fprintf(&b, "\n  [%.8s]", s.Fact)
		}
		b.WriteString(" " + text.EscapeLine(s.Text))
	}
	b.WriteString("\n")
	return b.String()
}
