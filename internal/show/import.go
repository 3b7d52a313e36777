package show

import (
	"github.com/mnem-project/mnem/ops"
)

func wasWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

func (c *Console) Import(q *ops.ImportRequest, res *ops.Imported) error {
	c.warnSecrets(res.Warnings)
	if len(res.Refs) == 0 {
		return c.Printf("nothing to import: all of %s is here already\n", line(q.File))
	}
	var rows [][]Cell
	for _, ref := range res.Refs {
		from := "(new)"
		if ref.From.Defined() {
			from = ShortCID(ref.From)
		}
		rows = append(rows, []Cell{
			{line(string(ref.Ref)), Cyan}, {from, Dim}, {"->", Dim},
			{ShortCID(ref.To), Yellow},
		})
	}
	c.putTable(rows)
	did := "imported"
	if res.DryRun {
		did = "would import"
	}
	if res.Redacted > 0 {
		c.Remark("%s of the file %s erased here: left out", plural(res.Redacted, "block"),
			wasWere(res.Redacted))
	}
	if res.Redactions > 0 {
		c.Remark("%s %s erased where the file is from", plural(res.Redactions, "block"),
			wasWere(res.Redactions))
	}
	if res.Head != "" {
		did = "on branch " + line(string(res.Head)) + ": " + did
	}
	return c.Printf("%s %s, %d of %s new\n", did, plural(len(res.Refs), "ref"), res.NewBlocks,
		plural(res.Blocks, "block"))
}
