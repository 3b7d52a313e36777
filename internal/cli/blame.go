package cli

import "github.com/mnem-project/mnem/ops"

func (c *cli) printBlame(b *ops.Blamed) error {
	var rows [][]cell
	for _, f := range b.Fields {
		by := line(f.Author)
		if f.Agent != "" {
			by += " by " + line(string(f.Agent))
		}
		rows = append(rows, []cell{
			{brief(f.Field, nameWidth), styleBold}, {shortCID(f.Commit), styleYellow},
			{f.Time.String(), styleDim}, {by, ""}, {brief(firstLine(f.Message), summaryWidth), ""},
		})
	}
	return c.table(rows)
}
