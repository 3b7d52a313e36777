package show

import (
	"github.com/mnem-project/mnem/ops"
)

func (c *Console) Export(res *ops.Exported) error {
	if res.File == "-" {
		c.Remark("exported %s, %s", plural(res.Blocks, "block"), plural(int(res.Bytes), "byte"))
		return nil
	}
	var rows [][]Cell
	for _, ref := range res.Refs {
		rows = append(rows, []Cell{
			{line(string(ref.Ref)), Cyan}, {ShortCID(ref.Target), Yellow},
		})
	}
	for _, o := range res.Objects {
		rows = append(rows, []Cell{{"without a ref", Dim}, {ShortCID(o), Yellow}})
	}
	for _, s := range res.Since {
		rows = append(rows, []Cell{{"needs", Dim}, {ShortCID(s), Yellow}})
	}
	c.putTable(rows)
	if res.Redacted > 0 {
		c.Remark("%s %s erased: the file says so and has the rest", plural(res.Redacted, "block"),
			wasWere(res.Redacted))
	}
	return c.Printf("exported %s, %s to %s\n", plural(res.Blocks, "block"),
		plural(int(res.Bytes), "byte"), line(res.File))
}
