package render

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

const (
	BriefDigits  = 8  // of an id, where no other id begins with them
	briefKey     = 32 // bytes of a key: a longer one costs more tokens than it tells
	NeighbourCap = 60 // scalars of a neighbour's name
)

// Brief renders a node in the form FormatBrief: clause 12.4. Column 0 is that of heads alone: every value is
// escaped and within an indented line of its own.
func Brief(
	ctx context.Context, g source.Graph, n *graph.Node, m *graph.Mark, o RenderOptions,
) (string, error) {
	ref, err := ShortID(ctx, g, n.ID)
	if err != nil {
		return "", err
	}
	if n.Key != "" && len(n.Key) <= briefKey && headField(n.Key) == n.Key {
		ref = n.Key // as 'mnem get' takes it
	}
	head := []string{text.EscapeWord(n.Type), n.Created.String()[:len("2006-01-02")]}
	if len(n.Sources) > 0 {
		head = append(head, headSource(shownSource(n.Sources[0])))
	}
	if m != nil {
		state, err := stateOf(ctx, g, m)
		if err != nil {
			return "", err
		}
		head = append(head, state)
	}
	w := renderer{textCap: o.SummaryCap}
	w.b = fmt.Appendf(w.b, "[%s] %s\n", ref, strings.Join(head, " · "))
	w.indented(n.Context)
	w.indented(n.Summary)
	for _, p := range n.Props {
		switch p.Value.Kind() {
		case ipld.String, ipld.Int, ipld.Float, ipld.Bool:
			w.b = append(w.b, "  "...)
			w.prop(p.Key, p.Value)
		}
	}
	if slices.Contains(o.Show, retrieve.ShowTimes) {
		w.indentedTimes(n)
	}
	if slices.Contains(o.Show, retrieve.ShowContent) {
		w.indented(o.Content)
	}
	for _, side := range []struct {
		arrow string
		links []source.Link
		more  int
	}{{"→", o.Adjacency.Out, o.Adjacency.MoreOut}, {"←", o.Adjacency.In, o.Adjacency.MoreIn}} {
		if err := briefLinks(ctx, g, &w, side.arrow, side.links, side.more); err != nil {
			return "", err
		}
	}
	return string(w.b), nil
}

// replacedCap is how many scalars of a replaced memory its line has.
const replacedCap = 200

// Replaced renders a replaced memory in one line of the form FormatBrief: a head that ends with the beginning of its text.
func Replaced(ctx context.Context, g source.Graph, n *graph.Node, m *graph.Mark) (string, error) {
	ref, err := ShortID(ctx, g, n.ID)
	if err != nil {
		return "", err
	}
	state, err := stateOf(ctx, g, m)
	if err != nil {
		return "", err
	}
	said := strings.Join(strings.Fields(cmp.Or(n.Summary, n.Key)), " ")
	if short := text.FirstScalars(said, replacedCap); len(short) < len(said) {
		said = short + "…"
	}
	return fmt.Sprintf("[%s] %s · %s: %s\n", ref, text.EscapeWord(n.Type), state, headField(said)), nil
}

// stateOf says what a mark says: of a replaced memory when, by what and by whom that was said.
func stateOf(ctx context.Context, g source.Graph, m *graph.Mark) (string, error) {
	if m.By.IsZero() {
		return string(m.State), nil
	}
	by, err := ShortID(ctx, g, m.By)
	if err != nil {
		return "", err
	}
	if m.State != graph.Superseded {
		return string(m.State) + " by [" + by + "]", nil
	}
	return "replaced " + m.Time.String()[:len("2006-01-02")] + " by [" + by + "] (" + headField(m.Actor) + ")", nil
}

// headField escapes a value so that it cannot look like another part of a head.
func headField(s string) string { return text.EscapeField(s, text.Dots+text.Brackets) }

// headSource returns a source as a part of a head. States have no colon, so one without a colon gets it: a source
// cannot pass for a state.
func headSource(s string) string {
	if !strings.Contains(s, ":") {
		s = "source:" + s
	}
	return headField(s)
}

// shownSource leaves out the sum of the file in a source of a file, which costs more tokens than the text.
func shownSource(s string) string {
	before, rest, ok := strings.Cut(s, "?sha256=")
	sum, after := rest, ""
	if i := strings.IndexByte(rest, '#'); i >= 0 {
		sum, after = rest[:i], rest[i:]
	}
	if _, err := hex.DecodeString(sum); !ok || err != nil || len(sum) != 2*sha256.Size {
		return s
	}
	return before + after
}

// indented writes a text in a line of its own, unless it is empty.
func (r *renderer) indented(s string) {
	if s != "" {
		r.b = append(r.b, "  "+r.cut(s)+"\n"...)
	}
}

func (r *renderer) indentedTimes(n *graph.Node) {
	lines := renderer{textCap: r.textCap}
	lines.times(n)
	for line := range strings.Lines(string(lines.b)) {
		r.b = append(r.b, "  "+line...)
	}
}

// briefLinks writes the names of the nodes that edges of one direction lead to, a line for each type.
func briefLinks(
	ctx context.Context, g source.Graph, w *renderer, arrow string, links []source.Link, more int,
) error {
	for len(links) > 0 {
		n := 1
		for n < len(links) && links[n].Type == links[0].Type {
			n++
		}
		var names []string
		for _, l := range links[:n] {
			name, err := nodeName(ctx, g, l.Other)
			if err != nil {
				return err
			}
			names = append(names, name)
		}
		w.b = fmt.Appendf(w.b, "  %s %s %s\n", text.EscapeWord(links[0].Type), arrow, strings.Join(names, "; "))
		links = links[n:]
	}
	if more > 0 {
		w.b = fmt.Appendf(w.b, "  %s %d more\n", arrow, more)
	}
	return nil
}

// nodeName returns what a node is called: the beginning of its summary, its key, or its id.
func nodeName(ctx context.Context, g source.Graph, id graph.ID) (string, error) {
	n, _, err := g.Node(ctx, id)
	if err != nil {
		return "", fmt.Errorf("read node %s: %w", id, err)
	}
	switch {
	case n.Summary != "":
		return neighbourName(n.Summary), nil
	case n.Key != "":
		return neighbourName(n.Key), nil
	}
	return ShortID(ctx, g, id)
}

func neighbourName(s string) string {
	name := text.FirstScalars(s, NeighbourCap)
	if len(name) < len(s) {
		name += "…"
	}
	return text.EscapeLine(name)
}

// ShortID returns as many digits of an id as it takes to tell it from all others of a graph, and no fewer
// than eight. The graph need not have the id itself: what a mark names may be gone.
func ShortID(ctx context.Context, g source.Graph, id graph.ID) (string, error) {
	digits := strings.ReplaceAll(id.String(), "-", "")
	for n := BriefDigits; n < len(digits); n += 4 {
		found, unique, err := g.IDPrefix(ctx, digits[:n])
		if err != nil {
			return "", fmt.Errorf("look for ids like %s: %w", id, err)
		}
		if found.IsZero() || unique && found == id {
			return digits[:n], nil
		}
	}
	return digits, nil
}
