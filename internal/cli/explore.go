package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/memory"
	"github.com/mnem-project/mnem/ops"
)

// printExplored prints a node a line, and under it how it was reached.
func (c *cli) printExplored(x *ops.Explored) error {
	names := map[graph.ID]string{}
	for _, n := range x.Nodes {
		names[n.ID] = firstOf(brief(string(n.Summary), wayWidth), nodeLabel(n.Key, n.ID))
	}
	for _, n := range x.Nodes {
		name := nodeLabel(n.Key, n.ID)
		about := firstOf(brief(string(n.Summary), summaryWidth), name)
		if err := c.printf("%6s  %s  %s  %s\n", bits(n.Score), c.paint(styleBold, about), line(n.Type),
			c.paint(styleDim, name)); err != nil {
			return err
		}
		if len(n.Path) > 0 {
			if err := c.printf("        %s\n", c.paint(styleDim, wayOf(names, n.Path))); err != nil {
				return err
			}
		}
	}
	cut := ""
	if x.Cut > 0 {
		cut = fmt.Sprintf(", %s of large nodes left out", plural(int(x.Cut), "edge"))
	}
	if len(x.Nodes) == 0 {
		c.remark("nothing fits the topic")
		return nil
	}
	c.remark("%s, %s%s", plural(len(x.Nodes), "node"), plural(len(x.Edges), "edge"), cut)
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
	b.WriteString(firstOf(names[path[0].From], path[0].From.String()))
	for i, p := range path {
		arrow := " <-" + line(p.Type) + "- "
		if p.Forward {
			arrow = " -" + line(p.Type) + "-> "
		}
		b.WriteString(arrow)
		if i == len(path)-1 {
			b.WriteString("this")
		} else {
			b.WriteString(firstOf(names[p.To], p.To.String()))
		}
	}
	return b.String()
}

// longText returns the text of arguments, or of standard input where they are a hyphen. Of more
// bytes than most, 0 for those of a memory, the rest is left out.
func (c *cli) longText(ctx context.Context, args []string, most int) (string, error) {
	if len(args) != 1 || args[0] != stdinName {
		return strings.Join(args, " "), nil
	}
	if most == 0 {
		most = 4 * memory.MaxText
	}
	in := newPatientReader(ctx, c.app.Stdin)
	data, err := io.ReadAll(io.LimitReader(in, int64(most)))
	return string(data), err
}

func (c *cli) printSuggested(s *ops.Suggested) error {
	var rows [][]cell
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
		rows = append(rows, []cell{{line(t.Tag), styleBold}, {why, styleDim}})
	}
	if len(rows) == 0 {
		c.remark("nothing to suggest: no memory like it has tags, and it names nothing")
	}
	return c.table(rows)
}

func (c *cli) printRelated(r *ops.RelatedNodes) error {
	for _, n := range r.Nodes {
		name := nodeLabel(n.Key, n.ID)
		if err := c.printf("%s  %s  %s\n",
			c.paint(styleBold, firstOf(brief(string(n.Summary), summaryWidth), name)), line(n.Type),
			c.paint(styleDim, name)); err != nil {
			return err
		}
		var why []string
		for _, reason := range n.Reasons {
			why = append(why, reasonText(reason))
		}
		if err := c.printf("    %s\n", c.paint(styleDim, strings.Join(why, "; "))); err != nil {
			return err
		}
	}
	if len(r.Nodes) == 0 {
		c.remark("nothing is related to it")
	}
	return nil
}

// reasonText says why a node is related to another.
func reasonText(r ops.Related) string {
	names := make([]string, len(r.Names))
	for i, n := range r.Names {
		names[i] = brief(n, summaryWidth)
	}
	switch r.Kind {
	case "edge":
		return strings.Join(names, ", ")
	case "shared":
		return "both have " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("%d%% of the words of either", r.Score*100/graph.MaxWeight)
}
