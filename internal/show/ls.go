package show

import (
	"github.com/mnem-project/mnem/ops"
)

// List prints one page of nodes or edges.
func (c *Console) List(answer any) (err error) {
	var next ops.Text
	switch a := answer.(type) {
	case *ops.NodeList:
		err = a.Nodes(func(n ops.Node) error {
			return c.Printf("%s\n", joinText(c.Paint(Bold, nodeLabel(n.Key, n.ID)), line(n.Type),
				stateText(n.Mark), c.Paint(Dim, brief(string(n.Summary), SummaryWidth))))
		})
		next = a.Next
	case *ops.EdgeList:
		err = a.Edges(func(e ops.Edge) error {
			text := line(e.Type) + " " + nodeLabel(e.SrcKey, e.Src) + " -> " + nodeLabel(e.DstKey, e.Dst)
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
func stateText(m *ops.Mark) string {
	if m == nil {
		return ""
	}
	return "[" + string(m.State) + "]"
}
