package show

import (
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/rank/render"
	"github.com/mnem-project/mnem/internal/verb"
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

func (c *Console) Get(answer any) error {
	switch a := answer.(type) {
	case *reading.WholeNode:
		return c.Printf("%s", nodeText(a))
	case *reading.ImportantNode:
		e := &a.Importance
		return c.Printf("%s\n%s\n%s, %s, %d days old, half-life %d days\n", nodeText(&a.WholeNode),
			importanceText(e), plural(int(e.Uses), "use"), plural(int(e.Linked), "link"),
			max(e.Age, 0)/secondsPerDay, e.HalfLife)
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

const secondsPerDay = 86400

// importanceText is an effective importance for people.
func importanceText(e *reading.Importance) string {
	return fmt.Sprintf("%s = importance %d (%s) × use %s × age %s × links %s", shareText(e.Value), e.Importance,
		shareText(e.Base), shareText(e.Use), shareText(e.Decay), shareText(e.Links))
}

// List prints one page of nodes or edges.
func (c *Console) List(answer any) (err error) {
	var next verb.Text
	switch a := answer.(type) {
	case *reading.NodeList:
		err = a.Nodes(func(n reading.Node) error {
			return c.Printf("%s\n", joinText(c.Paint(Bold, nodeLabel(n.Key, n.ID)), word(n.Type),
				stateText(n.Mark), c.Paint(Dim, brief(string(n.Summary), SummaryWidth))))
		})
		next = a.Next
	case *reading.EdgeList:
		err = a.Edges(func(e reading.Edge) error {
			text := word(e.Type) + " " + nodeLabel(e.SrcKey, e.Src) + " -> " + nodeLabel(e.DstKey, e.Dst)
			if e.Key != "" {
				text += " (" + line(string(e.Key)) + ")"
			}
			return c.Printf("%s\n", joinText(text, stateText(e.Mark)))
		})
		next = a.Next
	}
	if err == nil && next != "" {
		c.Remark("more follows: --after %s", next)
	}
	return err
}

// stateText is a mark's state in brackets, "" for none.
func stateText(m *reading.Mark) string {
	if m == nil {
		return ""
	}
	return "[" + string(m.State) + "]"
}

// label names a node for people: its key, or its id where it has none.
func label(n *graph.Node) string {
	if n.Key != "" {
		return keySeparators.Replace(line(n.Key))
	}
	return n.ID.String()
}

// keySeparators escapes what separates a key from the parts of a line beside it.
var keySeparators = strings.NewReplacer("  ", `\u{20}\u{20}`, " -> ", `\u{20}-> `, " <- ", `\u{20}<- `)

func (c *Console) Neighbors(n *reading.Neighbors) error {
	var rows [][]Cell
	rows = appendBucket(rows, "->", n.Out)
	rows = appendBucket(rows, "<-", n.In)
	rows = appendMentions(rows, "~>", n.Mentions)
	rows = appendMentions(rows, "<~", n.By)
	c.putTable(rows)
	if n.MoreOut > 0 {
		c.put("->  ... (+%d more)\n", n.MoreOut)
	}
	if n.MoreIn > 0 {
		return c.Printf("<-  ... (+%d more)\n", n.MoreIn)
	}
	return nil
}

func appendBucket(rows [][]Cell, arrow string, list []reading.Neighbor) [][]Cell {
	for _, n := range list {
		row := []Cell{{arrow, Dim}, {word(n.Type), Cyan}}
		if n.NodeType == "" {
			rows = append(rows, append(row, Cell{n.ID.String(), ""}))
			continue
		}
		rows = append(rows, append(row, Cell{nodeLabel(n.Key, n.ID), Bold},
			Cell{word(string(n.NodeType)), ""}, Cell{brief(string(n.Summary), SummaryWidth), Dim}))
	}
	return rows
}

func appendMentions(rows [][]Cell, arrow string, list *verb.List[reading.Mention]) [][]Cell {
	if list == nil {
		return rows
	}
	for _, n := range *list {
		rows = append(rows, []Cell{{arrow, Dim}, {"mentions", Dim}, {nodeLabel(n.Key, n.ID), Bold},
			{word(n.NodeType), ""}, {brief(string(n.Summary), SummaryWidth), Dim}})
	}
	return rows
}

// nodeLabel names a node for people: its key, or its id where it has none.
func nodeLabel(key verb.Text, id graph.ID) string {
	return label(&graph.Node{Key: string(key), ID: id})
}

func (c *Console) Path(q *reading.PathRequest, w *reading.Way) error {
	if !w.Found {
		c.Remark("no path from %s to %s within %s", line(q.From), line(q.To), plural(q.MaxHops, "hop"))
		return nil
	}
	c.put("%s\n", c.Paint(Bold, nodeLabel(w.Start, w.From)))
	for _, step := range w.Steps {
		arrow := "-> "
		if !step.Forward {
			arrow = "<- "
		}
		c.put("  %s%s  %s\n", arrow, c.Paint(Cyan, word(step.Type)),
			c.Paint(Bold, nodeLabel(step.ToKey, step.To)))
	}
	return nil
}

// Block prints a stored block.
func (c *Console) Block(b *branching.Block) error {
	if b.Raw != nil {
		_, err := c.Out.Write(b.Raw)
		return err
	}
	return c.Printf("%s\n", text.EscapeJSON([]byte(b.Data)))
}
