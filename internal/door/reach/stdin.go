package reach

import (
	"context"
	"io"
	"strings"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/memory"
)

// longText returns the text of arguments, or of standard input where they are a hyphen. Of more
// bytes than most, 0 for those of a memory, the rest is left out.
func longText(ctx context.Context, c *line.Line, args []string, most int) (string, error) {
	if len(args) != 1 || args[0] != line.StdinName {
		return strings.Join(args, " "), nil
	}
	if most == 0 {
		most = 4 * memory.MaxText
	}
	in := line.NewPatientReader(ctx, c.App.Stdin)
	data, err := io.ReadAll(io.LimitReader(in, int64(most)))
	return string(data), err
}
