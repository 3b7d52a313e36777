package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/repo"
)

// linkFlags are the flags of link alone.
type linkFlags struct {
	weight, key string
	props       []string
}

func (c *cli) linkCommand() *cobra.Command {
	var f linkFlags
	cmd := &cobra.Command{
		Use:     "link SRC TYPE DST",
		GroupID: groupChange,
		Short:   "Stage an edge between two nodes",
		Long: "" +
			"Stage an edge of a TYPE from SRC to DST, which are named by key, id or unique prefix of\n" +
			"an id. An edge that is there already is changed: properties that are not given stay.\n" +
			"--key tells parallel edges of one type apart. SRC and DST may be keys of nodes that are\n" +
			"still to come, but then the stage cannot be committed before they are there.",
		Example: "  mnem link alice owns svc/billing --weight 0.5 --prop since=2024\n" +
			"  mnem link alice met bob --key 2024-05-01",
		Args: cobra.ExactArgs(3),
	}
	c.stageFlags(cmd)
	c.secretFlag(cmd)
	cmd.Flags().StringVar(&f.weight, "weight", "", "`WEIGHT` above 0 and at most 1, kept in units of "+
		"2^-16 (default for a new edge: 1)")
	cmd.Flags().StringVar(&f.key, "key", "", "`KEY` that tells parallel edges apart")
	cmd.Flags().StringArrayVar(&f.props, "prop", nil, "property as `NAME=VALUE`, the value "+
		"JSON where it reads as JSON, else text (repeatable)")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		members, err := linkMembers(f)
		if err != nil {
			return err
		}
		members = append(members, textMember("type", args[1]))
		return c.editStage(cmd, func(ctx context.Context, s *repo.Snapshot) (repo.Changes, error) {
			ends, err := c.ends(ctx, s, args[0], args[2])
			if err != nil {
				return nil, err
			}
			change, err := changeOf("edge", append(members, ends...)...)
			return oneByOne([]graph.Change{change}), err
		})
	})
}

// ends returns what an edge's line says about both ends.
func (c *cli) ends(
	ctx context.Context, staged *repo.Snapshot, src, dst string,
) ([]ipld.Entry, error) {
	from, err := c.end(ctx, staged, "src", src)
	if err != nil {
		return nil, err
	}
	to, err := c.end(ctx, staged, "dst", dst)
	return []ipld.Entry{from, to}, err
}

func linkMembers(f linkFlags) ([]ipld.Entry, error) {
	var members, props []ipld.Entry
	if f.weight != "" {
		v, err := ipld.ParseJSON([]byte(f.weight))
		if err != nil || v.Kind() != ipld.Int && v.Kind() != ipld.Float {
			return nil, usagef("--weight: %q is not a number", f.weight)
		}
		members = append(members, ipld.Entry{Key: "weight", Value: v})
	}
	if f.key != "" {
		members = append(members, textMember("key", f.key))
	}
	for _, arg := range f.props {
		name, value, err := assignment(arg)
		if err != nil {
			return nil, err
		}
		props = append(props, propMember(name, value))
	}
	if len(props) > 0 {
		member, err := propsMember(props)
		if err != nil {
			return nil, err
		}
		members = append(members, member)
	}
	return members, nil
}
