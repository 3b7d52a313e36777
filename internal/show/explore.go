package show

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ops"
)

// Explored prints a node a line, and under it how it was reached.
func (c *Console) Explored(x *ops.Explored) error {
	names := map[graph.ID]string{}
	for _, n := range x.Nodes {
		names[n.ID] = cmp.Or(brief(string(n.Summary), wayWidth), nodeLabel(n.Key, n.ID))
	}
	for _, n := range x.Nodes {
		name := nodeLabel(n.Key, n.ID)
		about := cmp.Or(brief(string(n.Summary), SummaryWidth), name)
		c.put("%6s  %s  %s  %s\n", bits(n.Score), c.Paint(Bold, about), line(n.Type),
			c.Paint(Dim, name))
		if len(n.Path) > 0 {
			c.put("        %s\n", c.Paint(Dim, wayOf(names, n.Path)))
		}
	}
	cut := ""
	if x.Cut > 0 {
		cut = fmt.Sprintf(", %s of large nodes left out", plural(int(x.Cut), "edge"))
	}
	if len(x.Nodes) == 0 {
		c.Remark("nothing fits the topic")
		return nil
	}
	c.Remark("%s, %s%s", plural(len(x.Nodes), "node"), plural(len(x.Edges), "edge"), cut)
	return nil
}

// bits writes a score as bits with two decimals.
func bits(score int64) string {
	return strconv.FormatFloat(float64(score)/65536, 'f', 2, 64)
}

// wayWidth is how many characters of a node a way shows.
const wayWidth = 28

// wayOf writes a path, each node by the beginning of its text.
func wayOf(names map[graph.ID]string, path []ops.WayStep) string {
	var b strings.Builder
	b.WriteString(cmp.Or(names[path[0].From], path[0].From.String()))
	for i, p := range path {
		arrow := " <-" + line(p.Type) + "- "
		if p.Forward {
			arrow = " -" + line(p.Type) + "-> "
		}
		b.WriteString(arrow)
		if i == len(path)-1 {
			b.WriteString("this")
		} else {
			b.WriteString(cmp.Or(names[p.To], p.To.String()))
		}
	}
	return b.String()
}

func (c *Console) Suggested(s *ops.Suggested) error {
	var rows [][]Cell
	for _, t := range s.Tags {
		why := "named in the text"
		if len(t.From) > 0 {
			why = "of a memory like it"
			if len(t.From) > 1 {
				why = "of memories like it"
			}
			if t.Text {
				why += ", and named in the text"
			}
		}
		rows = append(rows, []Cell{{line(t.Tag), Bold}, {why, Dim}})
	}
	if len(rows) == 0 {
		c.Remark("nothing to suggest: no memory like it has tags, and it names nothing")
	}
	return c.Table(rows)
}

func (c *Console) Related(r *ops.RelatedNodes) error {
	for _, n := range r.Nodes {
		name := nodeLabel(n.Key, n.ID)
		c.put("%s  %s  %s\n",
			c.Paint(Bold, cmp.Or(brief(string(n.Summary), SummaryWidth), name)), line(n.Type),
			c.Paint(Dim, name))
		var why []string
		for _, reason := range n.Reasons {
			why = append(why, reasonText(reason))
		}
		c.put("    %s\n", c.Paint(Dim, strings.Join(why, "; ")))
	}
	if len(r.Nodes) == 0 {
		c.Remark("nothing is related to it")
	}
	return nil
}

// reasonText says why a node is related to another.
func reasonText(r ops.Related) string {
	names := make([]string, len(r.Names))
	for i, n := range r.Names {
		names[i] = brief(n, SummaryWidth)
	}
	switch r.Kind {
	case "edge":
		return strings.Join(names, ", ")
	case "shared":
		return "both have " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("%d%% of the words of either", r.Score*100/graph.MaxWeight)
}
