// Package bench holds the commands of mnem-bench: they measure how well memory is found. They are apart from mnem, which agents start for every question.
package bench

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
)

// Program returns what mnem-bench is.
func Program() reach.Program {
	return reach.Program{
		Name:  "mnem-bench",
		Short: "Measure how well memory is found",
		Long: "Measure how well retrieval finds what a memory of your own holds, so that settings and versions\n" +
			"can be compared by figures; and make memories of any size to try commands on.",
		Example: "  mnem-bench eval . --by cat\n" +
			"  mnem-bench answers memory --cues --also\n" +
			"  mnem-bench load aged --facts 10000",
		Commands: func(h *reach.Host) []*cobra.Command {
			return []*cobra.Command{evalCommand(h), answersCommand(h), loadCommand(h)}
		},
	}
}

// Run runs one command line and returns its exit code.
func Run(ctx context.Context, app *line.App, args []string) int {
	return reach.RunProgram(ctx, app, Program(), args)
}
