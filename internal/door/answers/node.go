package answers

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/memory/sources"
	"github.com/mnem-project/mnem/internal/rank/render"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/asking"
	"github.com/mnem-project/mnem/internal/verb/branching"
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
