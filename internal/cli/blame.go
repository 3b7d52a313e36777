package cli

import "github.com/mnem-project/mnem/ops"

func (c *cli) printBlame(b *ops.Blamed) error {
	var rows [][]cell
	for _, f := range b.Fields {
		by := line(f.Author)
		if f.Agent != "" {
			by += " by " + line(string(f.Agent))
		}
		row := []cell{
			{brief(f.Field, nameWidth), styleBold}, {shortCID(f.Commit), styleYellow}, {f.Time.String(), styleDim},
		}
		if f.Git != nil {
			row = append(row, cell{shortGit(f.Git), styleDim})
		}
		rows = append(rows, append(row, cell{by, ""}, cell{brief(firstLine(f.Message), summaryWidth), ""}))
	}
	return c.table(rows)
}
