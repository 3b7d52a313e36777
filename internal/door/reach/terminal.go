package reach

import (
	"bytes"
	"fmt"

	"github.com/mnem-project/mnem/internal/door/line"
)

// askHidden asks for a line without showing it, if standard input is a terminal, and makes it the command's input.
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
