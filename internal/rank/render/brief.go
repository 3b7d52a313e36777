package render

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/rank/source"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

const (
	BriefDigits  = 8  // of an id, if no other id begins with them
	briefKey     = 32 // bytes of a key; an id is shown instead of a longer one
	NeighbourCap = 60 // scalars of a neighbour's name
	placeCap     = 32 // scalars of the place of a chunk; a head then has about 12 tokens

	codeCap   = 44    // scalars of the place and name of a chunk of code: as many tokens
	leastName = 8     // scalars of a name that is shown
	placeMark = " › " // between a title and headings, as package ingest writes it
	clipMark  = "…"

	turnType = "Turn"
)

// ChunkType is the type of the parts into which package ingest divides documents, chunkKey what their keys begin with.
const (
	ChunkType = "Chunk"
	chunkKey  = "doc/"
)

// Brief renders a node in the form FormatBrief: clause 12.4. Only heads begin in column 0: every value is escaped and
// on its own indented line.
func Brief(ctx context.Context, g source.Graph, n *graph.Node, m *graph.Mark, o RenderOptions) (string, error) {
	ref, err := ShortID(ctx, g, n.ID)
	if err != nil {
		return "", err
	}
	if n.Key != "" && len(n.Key) <= briefKey && headField(n.Key) == n.Key {
		ref = n.Key // as 'mnem show' takes it
	}
	head := headOf(n)
	if m != nil {
		state, err := stateOf(ctx, g, m)
		if err != nil {
			return "", err
		}
		head = append(head, state)
	}
	w := renderer{textCap: o.SummaryCap}
	w.b = fmt.Appendf(w.b, "[%s] %s\n", ref, strings.Join(head, " · "))
	w.body(n, o)
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

// replacedCap is the longest text of a replaced memory's line, in scalars.
const replacedCap = 200

// Replaced renders a replaced memory as one line of the form FormatBrief: a head followed by the beginning of its text.
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

// stateOf describes a mark: for a replaced memory also when, by which memory and by whom it was replaced.
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

// headOf returns the parts of a head after its reference: a type, a day and a source. A chunk has its place instead:
// title and heading say more about it than the day and path of its file.
func headOf(n *graph.Node) []string {
	if IsChunk(n) {
		if place := codePlace(n); place != nil {
			return place
		}
		if place := chunkPlace(n); place != "" {
			return []string{headField(place)}
		}
	}
	head := []string{text.EscapeWord(n.Type), n.Created.String()[:len("2006-01-02")]}
	if len(n.Sources) > 0 {
		head = append(head, headSource(shownSource(n.Sources[0])))
	}
	return head
}

// IsChunk reports whether a node is a part of a document that package ingest wrote.
func IsChunk(n *graph.Node) bool { return n.Type == ChunkType && strings.HasPrefix(n.Key, chunkKey) }

// chunkPlace returns the title of a chunk's document and the last heading above the chunk, cut to placeCap.
func chunkPlace(n *graph.Node) string {
	place := n.Context
	if place == "" && n.Content != nil {
		place = n.Summary // of the first chunk, which has its text in the content
	}
	parts := strings.Split(place, placeMark)
	if last := len(parts) - 1; last > 0 && strings.HasSuffix(parts[last], ".") {
		parts = parts[:last] // what a package says of itself
	}
	title, heading := parts[0], parts[len(parts)-1]
	if len(parts) == 1 {
		return clipped(title, placeCap)
	}
	room := placeCap - utf8.RuneCountInString(placeMark)
	title = clipped(title, max(room/2, room-utf8.RuneCountInString(heading)))
	return title + placeMark + clipped(heading, room-utf8.RuneCountInString(title))
}

// codePlace returns the folder, file and line of a chunk of code and the name of what is declared there, together cut
// to codeCap, nil for a chunk of another document. The title of code is its path.
func codePlace(n *graph.Node) []string {
	parts := strings.Split(n.Context, placeMark)
	if len(n.Sources) == 0 || path.Ext(parts[0]) == "" {
		return nil
	}
	source, line, ok := strings.Cut(n.Sources[0], "#L")
	source, _, _ = strings.Cut(source, "?")
	line, _, _ = strings.Cut(line, "-")
	if !ok || line == "" || strings.Trim(line, "0123456789") != "" || !strings.HasSuffix(source, "/"+parts[0]) {
		return nil
	}
	folder, file := path.Split(source)
	place := file + ":" + line
	if folder = path.Base(folder); utf8.RuneCountInString(folder+"/"+place) <= placeCap {
		place = folder + "/" + place
	}
	place = clipped(place, placeCap)
	out := []string{headField(place)}
	if len(parts) > 1 && utf8.RuneCountInString(parts[1]) <= placeCap { // longer ones describe the package
		if room := codeCap - utf8.RuneCountInString(place); room >= leastName {
			name := parts[1]
			if strings.HasPrefix(name, "func (") { // the receiver tells that it is a method
				name = strings.TrimPrefix(name, "func ")
			}
			out = append(out, headField(clipped(name, room)))
		}
	}
	return out
}

// clipped cuts a text to n scalars.
func clipped(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return strings.TrimRight(text.FirstScalars(s, most-1), " ") + clipMark
}

// body writes the texts and properties of a node, without those that a chunk's head has. The speaker of a turn precedes
// its text and has no line of its own.
func (r *renderer) body(n *graph.Node, o RenderOptions) {
	chunk := IsChunk(n)
	if !chunk {
		r.indented(n.Context)
	}
	said := speakerOf(n)
	if said != "" {
		r.indented(said + ": " + n.Summary)
	} else if !chunk || n.Content == nil {
		r.indented(n.Summary)
	}
	for _, p := range n.Props {
		if said != "" && (p.Key == "speaker" || p.Key == "turn") {
			continue
		}
		r.prop("  ", p.Key, p.Value)
	}
	if slices.Contains(o.Show, retrieve.ShowTimes) {
		r.indentedTimes(n)
	}
	if slices.Contains(o.Show, retrieve.ShowContent) {
		r.indented(o.Content)
	}
}

// speakerOf returns the speaker of a turn, "" if the node is no turn or has none.
func speakerOf(n *graph.Node) string {
	v, _ := ipld.FindEntry(n.Props, "speaker")
	if n.Type != turnType || n.Summary == "" || v.Kind() != ipld.String {
		return ""
	}
	return text.EscapeLine(v.Text())
}

// headField escapes a value so that it cannot look like another part of a head.
func headField(s string) string { return text.EscapeField(s, text.Dots+text.Brackets) }

// headSource returns a source as a part of a head. A source without a colon gets one, so that it cannot look like a
// state.
func headSource(s string) string {
	if !strings.Contains(s, ":") {
		s = "source:" + s
	}
	return headField(s)
}

// shownSource omits the checksum from the source of a file: it takes more tokens than the text.
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

// indented writes the non-empty lines of a text. Those after the first are indented twice as far, so that none can look
// like a head or another field.
func (r *renderer) indented(s string) {
	if r.textCap > 0 {
		s = text.CapScalars(s, r.textCap)
	}
	indent := "  "
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimRight(strings.ReplaceAll(line, "\t", "  "), " \r")
		if line == "" {
			continue
		}
		r.b = append(append(append(r.b, indent...), text.EscapeLine(line)...), '\n')
		indent = "    "
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
func briefLinks(ctx context.Context, g source.Graph, w *renderer, arrow string, links []source.Link, more int) error {
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

// ShortID returns the shortest prefix of an id that no other id of a graph has, at least eight digits. The graph need
// not have the id itself: a mark may name a removed node.
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
