package answers

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/memory/recall"
	"github.com/mnem-project/mnem/internal/memory/sources"
	"github.com/mnem-project/mnem/internal/rank/render"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/asking"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/internal/verb/outlining"
	"github.com/mnem-project/mnem/internal/verb/reading"
	"github.com/mnem-project/mnem/retrieve"
)

// nodeText is a node as it is rendered, uncut, with every line there is.
func nodeText(w *reading.WholeNode) string {
	n, mark, content := w.Parts()
	return render.Render(n, mark, render.RenderOptions{
		Show:    []string{retrieve.ShowTimes, retrieve.ShowKey, retrieve.ShowContent},
		Content: content,
	})
}

// Shown prints what was asked for.
func Shown(c *show.Console, q *branching.ShowRequest, answer any) error {
	switch a := answer.(type) {
	case *branching.ShownCommit:
		return cmp.Or(c.Printf("%s\n", commitText(c, &a.Commit)), printDiffered(c, a.Diff, q.WordDiff))
	case *branching.ShownNode:
		return shownNode(c, a)
	case *branching.Op:
		return OneOp(c, a)
	case *branching.Block:
		return block(c, a)
	case *reading.Edge:
		return show.Fields(c, a)
	case *verb.FieldValue:
		if s, isText := a.Value.(string); isText {
			if c.Terminal {
				s = plain.Lines(s)
			}
			return c.Printf("%s\n", s)
		}
	}
	return c.PrintJSON(answer)
}

// shownNode prints a node, an empty line and its edges: no rendered line is empty.
func shownNode(c *show.Console, a *branching.ShownNode) error {
	c.Put("%s", nodeText(a.WholeNode))
	if e := a.Importance; e != nil {
		c.Put("\n%s\n%s, %s, %d days old, half-life %d days\n", importanceText(e), show.Plural(int(e.Uses), "use"),
			show.Plural(int(e.Linked), "link"), max(e.AgeSeconds, 0)/secondsPerDay, e.HalfLife)
	}
	if len(a.Out)+len(a.In) == 0 && a.MoreOut+a.MoreIn == 0 {
		return c.Failed()
	}
	c.Put("\n")
	putBuckets(c, &a.Buckets, "")
	return c.Failed()
}

const secondsPerDay = 86400

func importanceText(e *memory.Effective) string {
	return fmt.Sprintf("%s = importance %d (%s) × use %s × age %s × links %s", asking.Share(e.Value), e.Importance,
		asking.Share(e.Base), asking.Share(e.Use), asking.Share(e.Decay), asking.Share(e.Links))
}

// List prints one page of nodes or edges.
func List(c *show.Console, q *reading.ListRequest, answer any) (err error) {
	var next verb.Text
	switch a := answer.(type) {
	case *reading.NodeList:
		listed := false
		err = a.Nodes(func(n reading.Node) error {
			listed = true
			name := shortID(n.ID)
			if n.Key != "" {
				name = nodeLabel(n.Key, n.ID)
			}
			if q.Sources {
				return sourced(c, name, n.Sources)
			}
			return c.Printf("%s\n", show.JoinText(c.Paint(show.Bold, name), n.Created.Std().Format(time.DateOnly),
				show.Word(n.Type), stateText(n.Mark), show.Brief(string(n.Summary), show.SummaryWidth)))
		})
		next = a.Next
		if err == nil && !listed && a.Others {
			c.Remark("no memories; --all lists documents, conversations and names")
		}
	case *reading.EdgeList:
		err = a.Edges(func(e reading.Edge) error {
			text := show.Word(e.Type) + " " + nodeLabel(e.SrcKey, e.Src) + " -> " + nodeLabel(e.DstKey, e.Dst)
			if e.Key != "" {
				text += " (" + show.Line(string(e.Key)) + ")"
			}
			return c.Printf("%s\n", show.JoinText(text, stateText(e.Mark)))
		})
		next = a.Next
	}
	if err == nil && next != "" {
		c.Remark("more follows: --after %s", next)
	}
	return err
}

func sourced(c *show.Console, name string, list []string) error {
	for _, source := range list {
		if s, err := sources.Parse(source); err == nil {
			source = s.Place() // without its hash
		}
		c.Put("%s\n", show.JoinText(c.Paint(show.Bold, name), show.Line(source)))
	}
	return c.Failed()
}

func stateText(m *graph.Mark) string {
	if m == nil {
		return ""
	}
	return "[" + string(m.State) + "]"
}

// keySeparators escapes what separates a key from the other parts of a line.
var keySeparators = strings.NewReplacer("  ", `\u{20}\u{20}`, " -> ", `\u{20}-> `, " <- ", `\u{20}<- `)

// putBuckets prints the edges of a node, each line after an indent.
func putBuckets(c *show.Console, b *reading.Buckets, indent string) {
	rows := appendBucket(nil, indent+"->", b.Out)
	c.PutTable(appendBucket(rows, indent+"<-", b.In))
	if b.MoreOut > 0 {
		c.Put("%s->  ... (+%d more)\n", indent, b.MoreOut)
	}
	if b.MoreIn > 0 {
		c.Put("%s<-  ... (+%d more)\n", indent, b.MoreIn)
	}
}

func appendBucket(rows [][]show.Cell, arrow string, list []reading.Neighbor) [][]show.Cell {
	for _, n := range list {
		row := show.Row(arrow, show.Dim, show.Word(n.Type), show.Cyan, n.ID.String(), "")
		if n.NodeType != "" {
			row = append(row[:2], show.Row(nodeLabel(n.Key, n.ID), show.Bold, show.Word(string(n.NodeType)), "",
				show.Brief(string(n.Summary), show.SummaryWidth), show.Dim)...)
		}
		rows = append(rows, row)
	}
	return rows
}

// nodeLabel names a node for people: its key, or its id if it has none.
func nodeLabel(key verb.Text, id graph.ID) string {
	if key != "" {
		return keySeparators.Replace(show.Line(string(key)))
	}
	return id.String()
}

func block(c *show.Console, b *branching.Block) error {
	if b.Raw != nil {
		_, err := c.Out.Write(b.Raw)
		return err
	}
	return c.Printf("%s\n", text.EscapeJSON([]byte(b.Data)))
}

// Explored prints a node a line, and under it why it is there; or what else was asked for.
func Explored(c *show.Console, q *reading.ExploreRequest, x *reading.Explored) error {
	switch {
	case q.Tags:
		return suggested(c, x.Tags)
	case q.Communities:
		return communities(c, x)
	case len(x.Nodes) == 0 && q.To != "":
		c.Remark("no path from %s to %s within %s", show.Line(q.Topic), show.Line(q.To), show.Plural(cmp.Or(q.Depth, 32), "hop"))
	case len(x.Nodes) == 0 && x.Node == nil:
		c.Remark("nothing fits the topic")
	case len(x.Nodes) == 0:
		c.Remark("nothing surrounds it")
	}
	for _, n := range x.Nodes {
		name := nodeLabel(n.Key, n.ID)
		c.Put("%s  %s  %s\n", c.Paint(show.Bold, cmp.Or(show.Brief(string(n.Summary), show.SummaryWidth), name)),
			show.Word(n.Type), c.Paint(show.Dim, name))
		if n.Why != "" && (n.Hops > 0 || x.Node != nil) { // every beginning of a topic matches it
			c.Put("    %s\n", c.Paint(show.Dim, show.Line(string(n.Why))))
		}
		if n.Edges != nil {
			putBuckets(c, n.Edges, "    ")
		}
	}
	if x.More > 0 {
		c.Put("... (+%d more)\n", x.More)
	}
	if x.Cut > 0 {
		c.Remark("%s of large nodes left out", show.Plural(int(x.Cut), "edge"))
	}
	return c.Failed()
}

func suggested(c *show.Console, tags []recall.SuggestedTag) error {
	var rows [][]show.Cell
	for _, t := range tags {
		why := "named in the text"
		switch {
		case len(t.From) == 1:
			why = "of a memory like it"
		case len(t.From) > 1:
			why = "of memories like it"
		}
		if len(t.From) > 0 && t.Text {
			why += ", and named in the text"
		}
		rows = append(rows, show.Row(show.Line(t.Name), show.Bold, why, show.Dim))
	}
	if len(rows) == 0 {
		c.Remark("nothing to suggest: no memory like it has tags, and it names nothing")
	}
	return c.Table(rows)
}

const memberWidth = 30

func communities(c *show.Console, x *reading.Explored) error {
	switch {
	case len(x.Communities) == 0 && x.Node != nil:
		c.Remark("in no community: no edge connects the node to another, or none closely enough")
		return nil
	case len(x.Communities) == 0:
		c.Remark("no communities: no edge connects two nodes")
		return nil
	case x.Node != nil:
		return printCommunity(c, &x.Communities[0])
	}
	var rows [][]show.Cell
	for _, one := range x.Communities {
		names := make([]string, len(one.Members))
		for i, m := range one.Members {
			names[i] = nodeLabel(m.Key, m.ID)
			if m.Key == "" && m.Summary != "" {
				names[i] = strconv.Quote(show.Brief(string(m.Summary), memberWidth))
			}
		}
		rows = append(rows, show.Row(strconv.Itoa(one.Number), show.Dim, show.Plural(one.Size, "node"), show.Bold,
			strings.Join(names, ", "), ""))
	}
	return c.ListOf(rows, x.More)
}

func printCommunity(c *show.Console, of *reading.Community) error {
	var rows [][]show.Cell
	for _, m := range of.Members {
		rows = append(rows, show.Row(nodeLabel(m.Key, m.ID), show.Bold, show.Word(string(m.NodeType)), "",
			m.Inside.String(), show.Dim, show.Brief(string(m.Summary), show.SummaryWidth), show.Dim))
	}
	c.PutTable(rows)
	if err := c.Out.Flush(); err != nil {
		return err
	}
	c.Remark("community %d: %s, %d shown", of.Number, show.Plural(of.Size, "node"), len(of.Members))
	return nil
}

// Map prints a table of contents, or what became of digests and their texts.
func Map(c *show.Console, m *outlining.MapAnswer) error {
	switch {
	case m.Rebuilt != nil:
		return rebuilt(c, m.Rebuilt)
	case m.Written != nil:
		return written(c, m)
	case m.Found != nil:
		return resolved(c, m)
	case m.Printed == "":
		c.Remark("nothing is in the memory")
		return nil
	}
	return c.Printf("%s\n", plain.Lines(string(m.Printed)))
}

func rebuilt(c *show.Console, d *outlining.Rebuilt) error {
	if d.Made == 0 {
		c.Put("up to date: %s, %s\n", show.Plural(d.Facts, "fact"), show.Plural(d.Scopes, "scope"))
	} else {
		c.Put("%s made, of %s in %s\n", show.Plural(d.Made, "digest"), show.Plural(d.Facts, "fact"), show.Plural(d.Scopes, "scope"))
	}
	if d.Written != nil {
		digestTexts(c, d.Written)
	}
	return c.Failed()
}

func digestTexts(c *show.Console, w *outlining.DigestTexts) {
	done := show.Plural(w.Written, "text") + " written"
	if w.DryRun {
		done = "would be asked"
	}
	c.Put("%s: %s of %s, told about %s, to write %s at most\n", done, show.Plural(w.Calls, "call"), show.Line(w.Model),
		show.Plural(w.Tokens, "token"), show.Plural(w.Most, "token"))
	putDropped(c, w.Dropped)
	if w.Left > 0 {
		c.Put("left for another run: %s\n", show.Plural(w.Left, "digest"))
	}
	for _, f := range w.Failed {
		c.Remark("digest %s keeps its sentences: %s", show.Line(string(f.ID)), show.Line(f.Error))
	}
}

func written(c *show.Console, m *outlining.MapAnswer) error {
	w := m.Written
	warnSecrets(c, w.Warnings)
	did := "would be written"
	switch {
	case w.NoChange:
		did = "is there already"
	case !w.DryRun:
		c.Put("%s ", c.At(w.Branch, m.Commit))
		did = "written"
	}
	c.Put("text of %s %s: %s\n", show.Line(string(w.Name)), did, show.Plural(w.Tokens, "token"))
	putDropped(c, w.Dropped)
	return c.Failed()
}

func putDropped(c *show.Console, n int) {
	if n > 0 {
		c.Put("dropped with their digests: %s\n", show.Plural(n, "text"))
	}
}

func resolved(c *show.Console, m *outlining.MapAnswer) error {
	if len(m.Found) == 0 {
		c.Remark("nothing has that hash, or one near it")
		return nil
	}
	var rows [][]show.Cell
	for _, f := range m.Found {
		rows = append(rows, show.Row(strconv.Itoa(f.Distance), show.Dim, f.Kind, "",
			show.Line(string(f.Name)), show.Bold, show.Brief(string(f.Title), show.SummaryWidth), show.Dim))
	}
	return c.ListOf(rows, m.More)
}
