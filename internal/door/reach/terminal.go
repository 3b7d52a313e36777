package reach

import (
	"bytes"
	"fmt"

	"github.com/mnem-project/mnem/internal/door/line"
)

// askHidden asks for a line without showing it, where a terminal is standard input, and makes it what
// the command reads.
func askHidden(c *line.Line, prompt string) error {
	if c.App.Hidden == nil {
		return nil
	}
	line, err := c.App.Hidden(prompt)
	if err != nil {
		return fmt.Errorf("ask for the text: %w", err)
	}
	c.App.Stdin = bytes.NewReader(line)
	return nil
}
