package show

import (
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/ops"
)

// memberWidth is how much of a member's text a list of communities shows.
const memberWidth = 30

func (c *Console) Communities(answer any) error {
	if of, ok := answer.(*ops.NodeCommunity); ok {
		return c.printCommunity(&of.Community)
	}
	list := answer.(*ops.CommunityList)
	if len(list.Communities) == 0 {
		c.Remark("no communities: no edge connects two nodes")
		return nil
	}
	var rows [][]Cell
	for _, one := range list.Communities {
		names := make([]string, len(one.Members))
		for i, m := range one.Members {
			names[i] = nodeLabel(m.Key, m.ID)
			if m.Key == "" && m.Summary != "" {
				names[i] = strconv.Quote(brief(string(m.Summary), memberWidth))
			}
		}
		rows = append(rows, []Cell{{strconv.Itoa(one.Number), Dim},
			{plural(one.Size, "node"), Bold}, {strings.Join(names, ", "), ""}})
	}
	c.putTable(rows)
	if list.More > 0 {
		return c.Printf("... (+%d more)\n", list.More)
	}
	return nil
}

// printCommunity lists the members of the community of a node.
func (c *Console) printCommunity(of *ops.Community) error {
	if of.Number == 0 {
		c.Remark("in no community: no edge connects the node to another, or none closely enough")
		return nil
	}
	var rows [][]Cell
	for _, m := range of.Members {
		rows = append(rows, []Cell{{nodeLabel(m.Key, m.ID), Bold}, {line(string(m.NodeType)), ""},
			{m.Inside.String(), Dim}, {brief(string(m.Summary), SummaryWidth), Dim}})
	}
	c.putTable(rows)
	if err := c.Out.Flush(); err != nil {
		return err
	}
	c.Remark("community %d: %s, %d shown", of.Number, plural(of.Size, "node"), len(of.Members))
	return nil
}
