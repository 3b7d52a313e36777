package show

import (
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ops"
)

func (c *Console) Neighbors(n *ops.Neighbors) error {
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

func appendBucket(rows [][]Cell, arrow string, list []ops.Neighbor) [][]Cell {
	for _, n := range list {
		row := []Cell{{arrow, Dim}, {line(n.Type), Cyan}}
		if n.NodeType == "" {
			rows = append(rows, append(row, Cell{n.ID.String(), ""}))
			continue
		}
		rows = append(rows, append(row, Cell{nodeLabel(n.Key, n.ID), Bold},
			Cell{line(string(n.NodeType)), ""}, Cell{brief(string(n.Summary), SummaryWidth), Dim}))
	}
	return rows
}

func appendMentions(rows [][]Cell, arrow string, list *ops.List[ops.Mention]) [][]Cell {
	if list == nil {
		return rows
	}
	for _, n := range *list {
		rows = append(rows, []Cell{{arrow, Dim}, {"mentions", Dim}, {nodeLabel(n.Key, n.ID), Bold},
			{line(n.NodeType), ""}, {brief(string(n.Summary), SummaryWidth), Dim}})
	}
	return rows
}

// nodeLabel names a node for people: its key, or its id where it has none.
func nodeLabel(key ops.Text, id graph.ID) string { return label(&graph.Node{Key: string(key), ID: id}) }

func (c *Console) Path(q *ops.PathRequest, w *ops.Way) error {
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
		c.put("  %s%s  %s\n", arrow, c.Paint(Cyan, line(step.Type)),
			c.Paint(Bold, nodeLabel(step.ToKey, step.To)))
	}
	return nil
}
