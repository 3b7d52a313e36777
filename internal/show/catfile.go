package show

import (
	"github.com/mnem-project/mnem/ops"
)

func (c *Console) Block(b *ops.Block) error {
	if b.Raw != nil {
		_, err := c.Out.Write(b.Raw)
		return err
	}
	text := string(b.Data)
	if c.Terminal {
		text = line(text)
	}
	return c.Printf("%s\n", text)
}
