package cli

import "github.com/mnem-project/mnem/ops"

func (c *cli) printFsck(res *ops.Fscked) error {
	if res.Unmarked != "" {
		c.remark("note: marks are left as they are: %s", line(res.Unmarked))
	}
	for _, done := range res.Repaired {
		if err := c.printf("%s: %s\n", c.paint(styleYellow, "repaired"), done); err != nil {
			return err
		}
	}
	for _, e := range res.Errors {
		cid := "-"
		if e.CID.Defined() {
			cid = e.CID.String()
		}
		if err := c.printf("%s %s: %s\n", c.paint(styleRed, string(e.Kind)), cid,
			line(e.Message)); err != nil {
			return err
		}
	}
	if res.OK {
		return c.printf("%s: %s\n", c.paint(styleGreen, "ok"), plural(res.Blocks, "block"))
	}
	return c.printf("%s in %s\n", c.paint(styleRed, plural(len(res.Errors), "error")),
		plural(res.Blocks, "block"))
}
