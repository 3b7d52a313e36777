package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
)

func (c *cli) unlinkCommand() *cobra.Command {
	var key string
	var all bool
	cmd := &cobra.Command{
		Use:     "unlink SRC TYPE DST",
		GroupID: groupChange,
		Short:   "Stage the removal of an edge between two nodes",
		Long: "" +
			"Stage the removal of the edge of a TYPE from SRC to DST: the one without a key, the one\n" +
			"that --key names, or with --all every one. Nodes are named by key, id or unique prefix\n" +
			"of an id.",
		Example: "  mnem unlink alice owns svc/billing\n  mnem unlink alice met bob --all",
		Args:    cobra.ExactArgs(3),
	}
	c.stageFlags(cmd)
	cmd.Flags().StringVar(&key, "key", "", "the `KEY` of the edge")
	cmd.Flags().BoolVar(&all, "all", false, "all edges of the type between the two nodes")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		if err := needOne(cmd, "key", "all"); err != nil {
			return err
		}
		members := []ipld.Entry{textMember("type", args[1])}
		switch {
		case key != "":
			members = append(members, textMember("key", key))
		case all:
			members = append(members, ipld.Entry{Key: "all", Value: ipld.BoolValue(true)})
		}
		return c.editStage(cmd, func(ctx context.Context, s *repo.Snapshot) (repo.Changes, error) {
			ends, err := c.ends(ctx, s, args[0], args[2])
			if err != nil {
				return nil, err
			}
			edge := ipld.MapValue(append(members, ends...)...)
			change, err := changeOf("remove", ipld.Entry{Key: "edge", Value: edge})
			return oneByOne([]graph.Change{change}), err
		})
	})
}
