package show

import (
	"strings"

	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/retrieve"
)

// ProfileRow is a profile in a list, with the flags that would set it.
func (c *Console) ProfileRow(p *ops.Profile) []Cell {
	mark, from, text := " ", "own", ""
	if p.Default {
		mark = "*"
	}
	if p.Builtin {
		from = "built in"
	}
	for _, row := range profileRows(p) {
		text += " --" + row[0].text + "=" + row[1].text
	}
	return []Cell{{mark + " " + p.Name, Bold}, {from, Dim}, {strings.TrimPrefix(text, " "), ""}}
}

// profileRows are what a profile says: names of flags and their values.
func profileRows(p *ops.Profile) (rows [][]Cell) {
	for _, typ := range p.Types {
		rows = append(rows, []Cell{{"for-type", ""}, {line(typ), ""}})
	}
	for _, e := range p.Params {
		rows = append(rows, []Cell{{line(retrieve.FlagName(e.Key)), ""}, {ParamText(e), ""}})
	}
	return rows
}

func (c *Console) Profile(p *ops.Profile) error {
	title := "the repository's own"
	if p.Builtin {
		title = "built in: " + p.About
	}
	if p.Default {
		title += "; the default"
	}
	c.put("%s  %s\n", c.Paint(Bold, line(p.Name)), title)
	rows := profileRows(p)
	for _, row := range rows {
		row[0].text = "  " + row[0].text
	}
	c.putTable(rows)
	if p.Misfit != "" {
		return c.Printf("%s\n", line("does not count: "+p.Misfit))
	}
	return nil
}

func (c *Console) ProfilesChanged(p *ops.ProfilesChanged) error {
	if p.NoChange {
		return c.Printf("nothing to commit\n")
	}
	c.put("[%s %s]\n", c.Paint(Cyan, line(p.Branch)),
		c.commit(p.Commit))
	return c.printProfilesDiff(p.Profiles)
}
