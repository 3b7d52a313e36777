package show

import (
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

const mostShown = 32 << 20

// Fields prints any answer by the names that its JSON form has: what it says itself as names and values, then each list
// of objects as a table under its name. What is null, empty, false or 0 is left out.
func Fields(c *Console, answer any) error {
	v, _, err := verb.Answer{Of: answer}.Value(mostShown)
	if err != nil {
		return err
	}
	var pairs [][]Cell
	var tables []operation.Member
	gatherFields(&pairs, &tables, "", v)
	c.PutTable(pairs)
	for _, t := range tables {
		c.Put("%s\n", c.Paint(Bold, Line(t.Name)))
		c.PutTable(tableOf(t.Value.Items))
	}
	return c.Failed()
}

// FieldRow is one answer of many as the row of a table.
func FieldRow(_ *Console, answer any) []Cell {
	v, _, err := verb.Answer{Of: answer}.Value(mostShown)
	if err != nil {
		return nil
	}
	var row []Cell
	for _, m := range v.Members {
		row = append(row, fieldCell(m.Value, true))
	}
	return row
}

// gatherFields adds the pairs and the tables of an object, whose names come after that of the object.
func gatherFields(pairs *[][]Cell, tables *[]operation.Member, of string, v operation.Value) {
	for _, m := range v.Members {
		name := of + m.Name
		switch {
		case strings.HasPrefix(m.Name, "_"), saysNothing(m.Value):
		case m.Value.Kind == '{':
			gatherFields(pairs, tables, name+" ", m.Value)
		case m.Value.Kind == '[' && m.Value.Items[0].Kind == '{':
			*tables = append(*tables, operation.Member{Name: name, Value: m.Value})
		default:
			*pairs = append(*pairs, []Cell{{Line(name), Bold}, fieldCell(m.Value, false)})
		}
	}
}

// saysNothing reports whether a value need not be printed.
func saysNothing(v operation.Value) bool {
	switch v.Kind {
	case '{':
		return len(v.Members) == 0
	case '[':
		return len(v.Items) == 0
	case '"':
		return v.Text == ""
	}
	return v.Text == "null" || v.Text == "false" || v.Text == "0"
}

// tableOf returns a table of objects, with a column for each name that one of them has a value of.
func tableOf(items []operation.Value) [][]Cell {
	var names []string
	said := map[string]bool{}
	for _, item := range items {
		for _, m := range item.Members {
			if _, known := said[m.Name]; !known {
				names = append(names, m.Name)
			}
			said[m.Name] = said[m.Name] || !saysNothing(m.Value)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !said[name] })
	head := make([]Cell, len(names))
	for i, name := range names {
		head[i] = Cell{"  " + Line(name), Dim}
		if i > 0 {
			head[i].Text = Line(name)
		}
	}
	rows := [][]Cell{head}
	for _, item := range items {
		row := make([]Cell, len(names))
		for i, name := range names {
			row[i] = fieldCell(item.Find(name), true)
			if i == 0 {
				row[i].Text = "  " + row[i].Text
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func fieldCell(v operation.Value, short bool) Cell {
	switch v.Kind {
	case '"':
		const cidLen, prefix = 59, "bafyrei"
		switch cid := len(v.Text) == cidLen && strings.HasPrefix(v.Text, "baf"); {
		case cid && short:
			return Cell{v.Text[len(prefix) : len(prefix)+12], Yellow}
		case cid:
			return Cell{v.Text, Yellow}
		case short:
			return Cell{Brief(v.Text, SummaryWidth), ""}
		}
		return Cell{Line(v.Text), ""}
	case '[', '{':
		var parts []string
		for _, item := range v.Items {
			parts = append(parts, fieldCell(item, short).Text)
		}
		for _, m := range v.Members {
			if !saysNothing(m.Value) {
				parts = append(parts, Line(m.Name)+" "+fieldCell(m.Value, short).Text)
			}
		}
		return Cell{strings.Join(parts, ", "), ""}
	}
	return Cell{strings.NewReplacer("null", "", "true", "yes", "false", "no").Replace(v.Text), ""}
}
