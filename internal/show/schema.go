package show

import (
	"strconv"
	"strings"

	"github.com/mnem-project/mnem/ops"
)

const exampleWidth = 40 // of a value, in columns

func (c *Console) Schema(s *ops.Schema) error {
	if s.Nodes == 0 {
		c.Remark("no nodes")
		return nil
	}
	rows := make([][]Cell, 0, len(s.NodeTypes))
	for _, t := range s.NodeTypes {
		rows = append(rows, countRow("node "+brief(t.Type, nameWidth), uint64(t.Count)))
	}
	if err := c.schemaTable(rows, s.MoreNodes); err != nil {
		return err
	}
	rows = nil
	for _, p := range s.Properties {
		var values []string
		for _, v := range p.Examples {
			values = append(values, brief(string(v), exampleWidth))
		}
		rows = append(rows, append(countRow("prop "+brief(p.Name, nameWidth), uint64(p.Count)),
			Cell{line(strings.Join(p.Kinds, ", ")), Dim}, Cell{typesText(p.Types, p.MoreTypes), ""},
			Cell{strings.Join(values, "  "), Dim}))
	}
	if err := c.schemaTable(rows, s.MoreProps); err != nil {
		return err
	}
	rows = nil
	for _, e := range s.EdgeTypes {
		rows = append(rows, append(countRow("edge "+brief(e.Type, nameWidth), uint64(e.Count)),
			Cell{typesText(e.From, e.MoreFrom) + " -> " + typesText(e.To, e.MoreTo), ""}))
	}
	return c.schemaTable(rows, s.MoreEdges)
}

func (c *Console) schemaTable(rows [][]Cell, more int) error {
	if err := c.Table(rows); err != nil || more == 0 {
		return err
	}
	return c.Printf("... (+%d more)\n", more)
}

// typesText names types with how many there are.
func typesText(list []ops.TypeCount, more int) string {
	names := make([]string, 0, len(list)+1)
	for _, t := range list {
		names = append(names, brief(t.Type, nameWidth)+" "+strconv.Itoa(t.Count))
	}
	if more > 0 {
		names = append(names, "+"+strconv.Itoa(more))
	}
	return strings.Join(names, ", ")
}
