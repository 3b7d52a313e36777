package show

import (
	"github.com/mnem-project/mnem/ops"
)

func (c *Console) Index(x *ops.Index) error {
	if !x.Manifest.Defined() {
		return c.Printf("no index yet: the first retrieval makes it\n")
	}
	c.put("%s, %s, %s\n", plural(x.Segments, "segment"),
		plural(int(x.Nodes), "node"), plural(int(x.Terms), "term"))
	var rows [][]Cell
	for _, f := range x.Fields {
		rows = append(rows, []Cell{
			{f.Field, Bold}, {plural(int(f.Nodes), "node"), ""}, {plural(int(f.Terms), "term"), ""},
		})
	}
	return c.Table(rows)
}
