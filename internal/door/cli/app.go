package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/door/line"
)

// Run runs one command line and returns its exit code.
func Run(ctx context.Context, a *line.App, args []string) int {
	if isHook(args) {
		return quietHook(ctx, a, args)
	}
	return runCommand(ctx, a, args)
}

func runCommand(ctx context.Context, a *line.App, args []string) int {
	return a.Run(ctx, args, func(c *line.Line) *cobra.Command { return root(c, args...) })
}
