package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/repo"
)

type resetJSON struct {
	Stage  string `json:"stage"`
	Staged bool   `json:"staged"` // whether anything was
	itemCountsJSON
}

func (c *cli) resetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "reset",
		GroupID: groupChange,
		Short:   "Forget what is staged",
		Long:    "Forget what a stage holds, and say how much that was. Commits are left alone.",
		Example: "  mnem reset\n  mnem reset --stage draft",
		Args:    cobra.NoArgs,
	}
	c.writeFlags(cmd)
	c.headFlag(cmd)
	c.stageFlag(cmd)
	return c.command(cmd, func(cmd *cobra.Command, _ []string) error {
		return c.write(cmd, func(ctx context.Context, r *repo.Repo, by repo.Stamp) error {
			return c.reset(ctx, r, by)
		})
	})
}

func (c *cli) reset(ctx context.Context, r *repo.Repo, by repo.Stamp) error {
	st, err := r.Status(ctx, c.stage())
	if err != nil {
		return err
	}
	nodes, edges, err := st.Diff.Count(ctx)
	if err != nil {
		return err
	}
	if err := r.Unstage(ctx, c.stage(), by); err != nil {
		return err
	}
	name := firstOf(c.stage(), repo.DefaultStage)
	if c.global.json {
		return c.printJSON(resetJSON{
			name, st.Staged, itemCountsJSON{nodes, edges},
		})
	}
	if !st.Staged {
		return c.printf("nothing staged in %s\n", line(name))
	}
	return c.printf("forgot what was staged in %s: %s, %s\n", line(name),
		c.countsLine(nodes, "nodes"), c.countsLine(edges, "edges"))
}
