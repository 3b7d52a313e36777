package cli

import "github.com/mnem-project/mnem/ops"

func (c *cli) printBlock(b *ops.Block) error {
	if b.Raw != nil {
		_, err := c.out.Write(b.Raw)
		return err
	}
	text := string(b.Data)
	if c.app.OutTTY {
		text = line(text)
	}
	return c.printf("%s\n", text)
}
