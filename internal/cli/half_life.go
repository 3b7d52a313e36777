package cli

import (
	"slices"

	"github.com/mnem-project/mnem/ops"
)

func (c *cli) printHalfLives(h *ops.HalfLives) error {
	var rows [][]cell
	for _, typ := range sortedKeys(h.HalfLives) {
		from := "built in"
		if slices.Contains(h.Own, typ) {
			from = "own"
		}
		rows = append(rows, []cell{
			{line(typ), styleBold}, {plural(h.HalfLives[typ], "day"), ""}, {from, styleDim},
		})
	}
	rows = append(rows, []cell{{"*", styleBold}, {plural(h.Other, "day"), ""}, {"built in", styleDim}})
	if err := c.table(rows); err != nil || h.Branch == "" {
		return err // nothing was asked to be written
	}
	switch {
	case h.NoChange:
		return c.printf("nothing to commit\n")
	case h.DryRun:
		return c.printf("would commit half-lives\n")
	}
	return c.printf("[%s %s] half-lives\n", c.paint(styleCyan, line(h.Branch)),
		c.paint(styleYellow, shortCID(h.Commit)))
}
