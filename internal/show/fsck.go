package show

import (
	"github.com/mnem-project/mnem/ops"
)

func (c *Console) Fsck(res *ops.Fscked) error {
	if res.Unmarked != "" {
		c.Remark("note: marks are left as they are: %s", line(res.Unmarked))
	}
	for _, done := range res.Repaired {
		c.put("%s: %s\n", c.Paint(Yellow, "repaired"), done)
	}
	for _, e := range res.Errors {
		cid := "-"
		if e.CID.Defined() {
			cid = e.CID.String()
		}
		c.put("%s %s: %s\n", c.Paint(Red, string(e.Kind)), cid,
			line(e.Message))
	}
	if res.OK {
		return c.Printf("%s: %s\n", c.Paint(Green, "ok"), plural(res.Blocks, "block"))
	}
	return c.Printf("%s in %s\n", c.Paint(Red, plural(len(res.Errors), "error")),
		plural(res.Blocks, "block"))
}
