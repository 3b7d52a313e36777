package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

const propPrefix = "props."

// textFields are the fields of a node that are text as it is given, never read as JSON.
var textFields = []string{
	"type", "summary", "context", "content", "created", "validFrom", "validTo",
}

// setFlags are the flags of set alone.
type setFlags struct {
	typ   string
	unset []string
}

func (c *cli) setCommand() *cobra.Command {
	var f setFlags
	cmd := &cobra.Command{
		Use:     "set NODE [FIELD=VALUE…]",
		GroupID: groupChange,
		Short:   "Stage changes of one node, or a new node",
		Long: "Stage changes of fields and properties of NODE, which is named by its key, its id or a\n" +
			"unique prefix of its id. With --type, a NODE that does not exist yet is made under that\n" +
			"key.\n\n" +
			"FIELD is summary, context, content, type, created, validFrom, validTo or sources;\n" +
			"anything else is a property, and props.NAME one that has the name of a field. The value\n" +
			"of a property is JSON where it reads as JSON, else text; that of sources is a JSON list;\n" +
			"times are RFC 3339 or YYYY-MM-DD.",
		Example: "  mnem set alice summary='Alice leads infra' team=infra since=2024\n" +
			"  mnem set carol --type Person summary='Carol joined in May'\n" +
			"  mnem set alice --unset team --unset summary",
		Args: cobra.MinimumNArgs(1),
	}
	c.stageFlags(cmd)
	c.secretFlag(cmd)
	cmd.Flags().StringVar(&f.typ, "type", "", "the node's `TYPE`; lets a new node be made")
	cmd.Flags().StringArrayVar(&f.unset, "unset", nil, "a `FIELD` to remove (repeatable)")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		members, err := setMembers(f, args[1:])
		if err != nil {
			return err
		}
		return c.editStage(cmd, func(ctx context.Context, s *repo.Snapshot) (repo.Changes, error) {
			who, err := setTarget(ctx, s, args[0], f.typ != "")
			if err != nil {
				return nil, err
			}
			change, err := changeOf("node", append(members, who)...)
			return oneByOne([]graph.Change{change}), err
		})
	})
}

// setTarget returns the member that names the node to set.
func setTarget(
	ctx context.Context, s *repo.Snapshot, name string, create bool,
) (ipld.Entry, error) {
	id, err := s.Name(ctx, name)
	if err == nil {
		return textMember("id", id.String()), nil
	}
	if !errors.Is(err, store.ErrNotFound) {
		return ipld.Entry{}, err
	}
	if !create {
		return ipld.Entry{}, hint(err, "give --type TYPE to make it")
	}
	ref, err := ops.FutureRef(name)
	if err != nil {
		return ipld.Entry{}, fmt.Errorf("new node: %w", err)
	}
	if ref.Key != "" {
		return textMember("key", ref.Key), nil
	}
	return textMember("id", ref.ID.String()), nil
}

// setMembers makes the members of a change line from the arguments of set.
func setMembers(f setFlags, args []string) ([]ipld.Entry, error) {
	var members, props []ipld.Entry
	if f.typ != "" {
		members = append(members, textMember("type", f.typ))
	}
	for _, arg := range args {
		name, value, err := assignment(arg)
		if err != nil {
			return nil, err
		}
		prop, isProp := strings.CutPrefix(name, propPrefix)
		switch {
		case isProp:
			props = append(props, propMember(prop, value))
		case slices.Contains(textFields, name):
			members = append(members, textMember(name, value))
		case name == "sources":
			members = append(members, propMember(name, value))
		case name == "key" || name == "id":
			return nil, usagef("%s never changes; for a property give %s%s=…", name, propPrefix, name)
		default:
			props = append(props, propMember(name, value))
		}
	}
	if len(props) > 0 {
		member, err := propsMember(props)
		if err != nil {
			return nil, err
		}
		members = append(members, member)
	}
	if len(f.unset) > 0 {
		members = append(members, unsetMember(f.unset))
	}
	if len(members) == 0 {
		return nil, usagef("nothing to set: give FIELD=VALUE, --type or --unset")
	}
	return members, checkTwice(members)
}

func checkTwice(members []ipld.Entry) error {
	for i, m := range members {
		for _, before := range members[:i] {
			if before.Key == m.Key {
				return usagef("%s is given twice", m.Key)
			}
		}
	}
	return nil
}

func unsetMember(fields []string) ipld.Entry {
	var names []ipld.Value
	for _, name := range fields {
		isField := slices.Contains(textFields, name) || name == "sources"
		if !isField && !strings.HasPrefix(name, propPrefix) {
			name = propPrefix + name
		}
		names = append(names, ipld.StringValue(name))
	}
	return ipld.Entry{Key: "unset", Value: ipld.ListValue(names...)}
}
