package show

import (
	"github.com/mnem-project/mnem/ops"
)

func (c *Console) Blame(b *ops.Blamed) error {
	var rows [][]Cell
	for _, f := range b.Fields {
		by := line(f.Author)
		if f.Agent != "" {
			by += " by " + line(string(f.Agent))
		}
		row := []Cell{
			{brief(f.Field, nameWidth), Bold}, {ShortCID(f.Commit), Yellow}, {f.Time.String(), Dim},
		}
		if f.Git != nil {
			row = append(row, Cell{shortGit(f.Git), Dim})
		}
		rows = append(rows, append(row, Cell{by, ""}, Cell{brief(firstLine(f.Message), SummaryWidth), ""}))
	}
	return c.Table(rows)
}
