package cli

import (
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ops"
)

func (c *cli) printNeighbors(n *ops.Neighbors) error {
	var rows [][]cell
	rows = appendBucket(rows, "->", n.Out)
	rows = appendBucket(rows, "<-", n.In)
	rows = appendMentions(rows, "~>", n.Mentions)
	rows = appendMentions(rows, "<~", n.By)
	if err := c.table(rows); err != nil {
		return err
	}
	if n.MoreOut > 0 {
		if err := c.printf("->  ... (+%d more)\n", n.MoreOut); err != nil {
			return err
		}
	}
	if n.MoreIn > 0 {
		return c.printf("<-  ... (+%d more)\n", n.MoreIn)
	}
	return nil
}

func appendBucket(rows [][]cell, arrow string, list []ops.Neighbor) [][]cell {
	for _, n := range list {
		row := []cell{{arrow, styleDim}, {line(n.Type), styleCyan}}
		if n.NodeType == "" {
			rows = append(rows, append(row, cell{n.ID.String(), ""}))
			continue
		}
		rows = append(rows, append(row, cell{nodeLabel(n.Key, n.ID), styleBold},
			cell{line(string(n.NodeType)), ""}, cell{brief(string(n.Summary), summaryWidth), styleDim}))
	}
	return rows
}

func appendMentions(rows [][]cell, arrow string, list *ops.List[ops.Mention]) [][]cell {
	if list == nil {
		return rows
	}
	for _, n := range *list {
		rows = append(rows, []cell{{arrow, styleDim}, {"mentions", styleDim}, {nodeLabel(n.Key, n.ID), styleBold},
			{line(n.NodeType), ""}, {brief(string(n.Summary), summaryWidth), styleDim}})
	}
	return rows
}

// nodeLabel names a node for people: its key, or its id where it has none.
func nodeLabel(key ops.Text, id graph.ID) string { return label(&graph.Node{Key: string(key), ID: id}) }

func (c *cli) printPath(q *ops.PathRequest, w *ops.Way) error {
	if !w.Found {
		c.remark("no path from %s to %s within %s", line(q.From), line(q.To), plural(q.MaxHops, "hop"))
		return nil
	}
	if err := c.printf("%s\n", c.paint(styleBold, nodeLabel(w.Start, w.From))); err != nil {
		return err
	}
	for _, step := range w.Steps {
		arrow := "-> "
		if !step.Forward {
			arrow = "<- "
		}
		if err := c.printf("  %s%s  %s\n", arrow, c.paint(styleCyan, line(step.Type)),
			c.paint(styleBold, nodeLabel(step.ToKey, step.To))); err != nil {
			return err
		}
	}
	return nil
}
