package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/repo"
)

func (c *cli) addCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "add FILE…|-",
		GroupID: groupChange,
		Short:   "Stage change lines",
		Long: "" +
			"Apply change lines to a stage, to be committed later. Several files are one batch, \"-\"\n" +
			"is standard input, and all is staged or nothing. A stage may hold edges whose ends do\n" +
			"not exist yet. See 'mnem help changes' for the form of change lines.",
		Example: "  mnem add facts.jsonl\n  mnem add - <people.jsonl",
		Args:    cobra.MinimumNArgs(1),
	}
	c.stageFlags(cmd)
	c.strictFlag(cmd)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		return c.editStage(cmd, func(ctx context.Context, _ *repo.Snapshot) (repo.Changes, error) {
			return c.changes(ctx, args)
		})
	})
}
