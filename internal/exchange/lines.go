package exchange

import (
	"bufio"
	"context"
	"io"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// LinesResult is the result of exporting change lines.
type LinesResult struct {
	Commit ipld.CID `json:"commit" shape:"null"`
	Nodes  int      `json:"nodes"`
	Edges  int      `json:"edges"`
	Marks  int      `json:"marks"`
	// Left counts what change lines cannot express, by kind.
	Left map[string]int `json:"left"`
}

// What change lines cannot express.
const (
	LeftUpdated = "time of the last change" // a node that lines make was never changed
	LeftVectors = "vector"                  // models make them again
	LeftErased  = "erased node"
	LeftContent = "content longer than a line"
	LeftFields  = "field of a newer version"
)

// ExportLines writes a commit as change lines. Applied to an empty repository they make the same graph, except for
// what the result counts as left. The bytes are a function of the commit: nodes, edges and marks are ordered by id.
func ExportLines(ctx context.Context, s *core.Snapshot, out io.Writer) (*LinesResult, error) {
	w := &lineWriter{ctx: ctx, snap: s, out: bufio.NewWriterSize(out, 64<<10)}
	w.res = LinesResult{Commit: s.CID(), Left: make(map[string]int)}
	for _, step := range []func() error{w.nodes, w.edges, w.marks, w.out.Flush} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if _, _, _, vectors := s.Sizes(); vectors > 0 {
		w.res.Left[LeftVectors] = int(vectors)
	}
	return &w.res, nil
}

type lineWriter struct {
	ctx    context.Context
	snap   *core.Snapshot
	out    *bufio.Writer
	res    LinesResult
	erased map[graph.ID]bool // nodes, and edges of them
}

// members collects the members of a line.
type members []ipld.Entry

func (o *members) put(name string, v ipld.Value) { *o = append(*o, ipld.Entry{Key: name, Value: v}) }

func (o *members) text(name, s string) {
	if s != "" {
		o.put(name, ipld.StringValue(s))
	}
}

func (o *members) texts(name string, list []string) {
	if len(list) == 0 {
		return
	}
	items := make([]ipld.Value, len(list))
	for i, s := range list {
		items[i] = ipld.StringValue(s)
	}
	o.put(name, ipld.ListValue(items...))
}

func (o *members) time(name string, t graph.OptTime) {
	if t.Given {
		o.put(name, ipld.StringValue(t.Time.String()))
	}
}

func (o *members) props(props []ipld.Entry) {
	if len(props) > 0 {
		o.put("props", ipld.MapValue(props...))
	}
}

func (w *lineWriter) write(line []byte) error {
	_, err := w.out.Write(line)
	return err
}

func (w *lineWriter) nodes() error {
	w.erased = make(map[graph.ID]bool)
	for e, err := range w.snap.Nodes(w.ctx, graph.ID{}) {
		if err != nil {
			return err
		}
		if e.Node.Type == state.RedactedType {
			w.erased[e.Node.ID] = true
			w.res.Left[LeftErased]++
			continue
		}
		if err := w.node(e.Node); err != nil {
			return err
		}
	}
	return nil
}

// NodeMembers are the members of the change line that makes a node, but for its content.
func NodeMembers(n *graph.Node) []ipld.Entry {
	var o members
	if n.Key != "" {
		o.text("key", n.Key)
	} else {
		o.text("id", n.ID.String())
	}
	o.text("type", n.Type)
	o.text("summary", n.Summary)
	o.text("context", n.Context)
	o.texts("cues", n.Cues)
	o.texts("sources", n.Sources)
	o.props(n.Props)
	o.time("created", graph.At(n.Created))
	o.time("validFrom", n.ValidFrom)
	o.time("validTo", n.ValidTo)
	return o
}

func (w *lineWriter) node(n *graph.Node) error {
	o := members(NodeMembers(n))
	if n.Updated.Given {
		w.res.Left[LeftUpdated]++
	}
	if len(n.Extra) > 0 {
		w.res.Left[LeftFields]++
	}
	w.res.Nodes++
	if n.Content == nil {
		return w.write(Line("node", o))
	}
	text, err := w.snap.Content(w.ctx, n.Content)
	if err != nil {
		return err
	}
	whole := append(members{}, o...)
	var content members
	content.put("text", ipld.StringValue(text))
	content.text("media", n.Content.Media)
	ipld.SortEntries(content)
	whole.put("content", ipld.MapValue(content...))
	if line := Line("node", whole); len(line) <= graph.MaxLine {
		return w.write(line)
	}
	w.res.Left[LeftContent]++
	return w.write(Line("node", o))
}

func (w *lineWriter) edges() error {
	for e, err := range w.snap.Edges(w.ctx, graph.ID{}) {
		if err != nil {
			return err
		}
		if w.erased[e.Edge.Src] || w.erased[e.Edge.Dst] {
			w.erased[e.Edge.ID] = true
			w.res.Left["edge of an erased node"]++
			continue
		}
		if len(e.Edge.Extra) > 0 {
			w.res.Left[LeftFields]++
		}
		w.res.Edges++
		if err := w.write(Line("edge", EdgeMembers(e.Edge))); err != nil {
			return err
		}
	}
	return nil
}

// EdgeMembers are the members of the change line that makes an edge.
func EdgeMembers(e *graph.Edge) []ipld.Entry {
	var o members
	o.text("type", e.Type)
	o.text("src", e.Src.String())
	o.text("dst", e.Dst.String())
	if e.Key != "" {
		o.text("key", e.Key)
	} else {
		o.text("id", e.ID.String())
	}
	if e.Weight != graph.MaxWeight {
		o.put("weight", ipld.FloatValue(float64(e.Weight)/graph.MaxWeight))
	}
	o.props(e.Props)
	o.texts("sources", e.Sources)
	o.time("created", graph.At(e.Created))
	o.time("validFrom", e.ValidFrom)
	o.time("validTo", e.ValidTo)
	return o
}

func (w *lineWriter) marks() error {
	for _, on := range []graph.Target{graph.OnNode, graph.OnEdge} {
		for m, err := range w.snap.Marks(w.ctx, on) {
			if err != nil {
				return err
			}
			if w.erased[m.ID] {
				w.res.Left["mark on what was erased"]++
				continue
			}
			w.res.Marks++
			if err := w.write(Line("mark", MarkMembers(m))); err != nil {
				return err
			}
		}
	}
	return nil
}

// MarkMembers are the members of the change line that makes a mark.
func MarkMembers(m *graph.Mark) []ipld.Entry {
	var o members
	if m.On == graph.OnNode {
		o.text("node", m.ID.String())
	} else {
		o.put("edge", ipld.MapValue(ipld.Entry{Key: "id", Value: ipld.StringValue(m.ID.String())}))
	}
	o.text("state", string(m.State))
	if !m.By.IsZero() {
		o.text("by", m.By.String())
	}
	o.text("reason", m.Reason)
	o.text("actor", m.Actor)
	o.time("time", graph.At(m.Time))
	return o
}

// Line is a change line of a kind, "node", "edge" or "mark", with its end.
func Line(kind string, members []ipld.Entry) []byte {
	ipld.SortEntries(members)
	line := ipld.AppendJSON(nil, ipld.MapValue(ipld.Entry{Key: kind, Value: ipld.MapValue(members...)}))
	return append(line, '\n')
}
