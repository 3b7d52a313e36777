package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
)

func (c *cli) rmCommand() *cobra.Command {
	var edges []string
	cmd := &cobra.Command{
		Use:     "rm NODE… | rm --edge ID",
		GroupID: groupChange,
		Short:   "Stage the removal of nodes or edges",
		Long: "Stage the removal of nodes, each with its edges, marks and embeddings, and of edges\n" +
			"given by their ids. A NODE is named by its key, its id or a unique prefix of its id.\n" +
			"Older commits keep what is removed.",
		Example: "  mnem rm bob\n  mnem rm alice svc/billing\n" +
			"  mnem rm --edge 0b4ea2c5-1f0a-9c58-3d6e-7a1b2c3d4e5f",
	}
	c.stageFlags(cmd)
	cmd.Flags().StringArrayVar(&edges, "edge", nil, "the `ID` of an edge to remove (repeatable)")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		if len(args)+len(edges) == 0 {
			return usagef("name a node, or an edge with --edge ID")
		}
		return c.editStage(cmd, func(ctx context.Context, s *repo.Snapshot) (repo.Changes, error) {
			list, err := removals(ctx, s, args, edges)
			return oneByOne(list), err
		})
	})
}

func removals(
	ctx context.Context, s *repo.Snapshot, nodes, edges []string,
) ([]graph.Change, error) {
	var list []graph.Change
	add := func(member ipld.Entry) error {
		change, err := changeOf("remove", member)
		list = append(list, change)
		return err
	}
	for _, text := range edges {
		id, err := graph.ParseID(text)
		if err != nil {
			return nil, err
		}
		if _, _, err := s.Edge(ctx, id); err != nil {
			return nil, err
		}
		if err := add(ipld.Entry{Key: "edge", Value: ipld.MapValue(textMember("id", text))}); err != nil {
			return nil, err
		}
	}
	for _, name := range nodes {
		member, err := named(ctx, s, name)
		if err != nil {
			return nil, err
		}
		if err := add(member); err != nil {
			return nil, err
		}
	}
	return list, nil
}
