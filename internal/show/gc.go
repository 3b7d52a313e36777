package show

import (
	"github.com/mnem-project/mnem/ops"
)

func (c *Console) GC(res *ops.Collected) error {
	verb := "removed"
	if res.DryRun {
		verb = "would remove"
	}
	return c.Printf("%s %s, %s; %s kept\n", verb, plural(res.Blocks, "block"),
		plural(int(res.Bytes), "byte"), plural(res.Kept, "block"))
}
