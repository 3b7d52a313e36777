package cli

import (
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/ops"
)

// memberWidth is how much of a member's text a list of communities shows.
const memberWidth = 30

func (c *cli) printCommunities(answer any) error {
	if of, ok := answer.(*ops.NodeCommunity); ok {
		return c.printCommunity(&of.Community)
	}
	list := answer.(*ops.CommunityList)
	if len(list.Communities) == 0 {
		c.remark("no communities: no edge connects two nodes")
		return nil
	}
	var rows [][]cell
	for _, one := range list.Communities {
		names := make([]string, len(one.Members))
		for i, m := range one.Members {
			names[i] = nodeLabel(m.Key, m.ID)
			if m.Key == "" && m.Summary != "" {
				names[i] = strconv.Quote(brief(string(m.Summary), memberWidth))
			}
		}
		rows = append(rows, []cell{{strconv.Itoa(one.Number), styleDim},
			{plural(one.Size, "node"), styleBold}, {strings.Join(names, ", "), ""}})
	}
	if err := c.table(rows); err != nil {
		return err
	}
	if list.More > 0 {
		return c.printf("... (+%d more)\n", list.More)
	}
	return nil
}

// printCommunity lists the members of the community of a node.
func (c *cli) printCommunity(of *ops.Community) error {
	if of.Number == 0 {
		c.remark("in no community: no edge connects the node to another, or none closely enough")
		return nil
	}
	var rows [][]cell
	for _, m := range of.Members {
		rows = append(rows, []cell{{nodeLabel(m.Key, m.ID), styleBold}, {line(string(m.NodeType)), ""},
			{m.Inside.String(), styleDim}, {brief(string(m.Summary), summaryWidth), styleDim}})
	}
	if err := c.table(rows); err != nil {
		return err
	}
	if err := c.out.Flush(); err != nil {
		return err
	}
	c.remark("community %d: %s, %d shown", of.Number, plural(of.Size, "node"), len(of.Members))
	return nil
}
