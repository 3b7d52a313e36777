package cli

import (
	"context"
	"io"
	"strings"

	"github.com/mnem-project/mnem/memory"
)

// longText returns the text of arguments, or of standard input where they are a hyphen. Of more
// bytes than most, 0 for those of a memory, the rest is left out.
func (c *cli) longText(ctx context.Context, args []string, most int) (string, error) {
	if len(args) != 1 || args[0] != stdinName {
		return strings.Join(args, " "), nil
	}
	if most == 0 {
		most = 4 * memory.MaxText
	}
	in := newPatientReader(ctx, c.app.Stdin)
	data, err := io.ReadAll(io.LimitReader(in, int64(most)))
	return string(data), err
}
