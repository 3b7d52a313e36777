package show

import (
	"maps"
	"slices"

	"github.com/mnem-project/mnem/ops"
)

func (c *Console) HalfLives(h *ops.HalfLives) error {
	var rows [][]Cell
	for _, typ := range slices.Sorted(maps.Keys(h.HalfLives)) {
		from := "built in"
		if slices.Contains(h.Own, typ) {
			from = "own"
		}
		rows = append(rows, []Cell{
			{line(typ), Bold}, {plural(h.HalfLives[typ], "day"), ""}, {from, Dim},
		})
	}
	rows = append(rows, []Cell{{"*", Bold}, {plural(h.Other, "day"), ""}, {"built in", Dim}})
	if err := c.Table(rows); err != nil || h.Branch == "" {
		return err // nothing was asked to be written
	}
	switch {
	case h.NoChange:
		return c.Printf("nothing to commit\n")
	case h.DryRun:
		return c.Printf("would commit half-lives\n")
	}
	return c.Printf("%s half-lives\n", c.at(h.Branch, h.Commit))
}
