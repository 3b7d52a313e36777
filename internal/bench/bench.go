// Package bench holds the commands of mnem-bench: they measure how well memory is found, and what
// work costs. They are apart from mnem, which agents start for every question.
package bench

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/cli"
)

// Program returns what mnem-bench is.
func Program() cli.Program {
	return cli.Program{
		Name:  "mnem-bench",
		Short: "Measure how well memory is found, and at what cost",
		Long: "Measure how well retrieval finds what a memory of your own holds, and what work costs as a\n" +
			"memory grows, so that settings, versions and machines can be compared by figures. No repository\n" +
			"is written.",
		Example: "  mnem-bench eval . --by cat\n" +
			"  mnem-bench answers memory --cues --also\n" +
			"  mnem-bench perf --nodes 200 --dims 8 --runs 1 --only warm",
		Commands: func(h *cli.Host) []*cobra.Command {
			return []*cobra.Command{evalCommand(h), answersCommand(h), altitudeCommand(h), digestsCommand(h), checkCommand(h), perfCommand(h), watchCommand(h), openCommand(h)}
		},
	}
}

// Run runs one command line and returns its exit code.
func Run(ctx context.Context, app *cli.App, args []string) int {
	return app.RunProgram(ctx, Program(), args)
}
