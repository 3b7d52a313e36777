package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

// stageJSON is what a stage holds after a change of it, against the commit it builds on.
type stageJSON struct {
	Stage string `json:"stage"`
	itemCountsJSON
	Duplicates int `json:"duplicates"`
	Unchanged  int `json:"unchanged"`

	Warnings ops.Warnings `json:"warnings,omitempty"`
}

// stageFlags adds the flags of every command that edits a stage.
func (c *cli) stageFlags(cmd *cobra.Command) {
	c.writeFlags(cmd)
	c.headFlag(cmd)
	c.branchFlag(cmd)
	c.stageFlag(cmd)
	cmd.Flags().Lookup("branch").Usage = "the branch that an empty stage builds on " +
		"(MNEM_BRANCH; default: the one HEAD is on)"
}

// makeChanges makes changes, seeing what is staged.
type makeChanges func(ctx context.Context, staged *repo.Snapshot) (repo.Changes, error)

// editStage applies changes to the stage and says what is staged then.
func (c *cli) editStage(cmd *cobra.Command, make makeChanges) error {
	return c.write(cmd, func(ctx context.Context, r *repo.Repo, by repo.Stamp) error {
		staged, err := r.StagedSnapshot(ctx, c.stage())
		if err != nil {
			return err
		}
		changes, err := make(ctx, staged)
		if err != nil {
			return err
		}
		p := c.progress()
		defer p.done()
		opt := repo.StageOptions{Stamp: by, Stage: c.stage(), Branch: c.branch()}
		res, err := r.StageChanges(ctx, p.count(changes), opt)
		if err != nil {
			return err
		}
		p.done()
		return c.printStage(res)
	})
}

func (c *cli) printStage(res *repo.StageResult) error {
	name := firstOf(c.stage(), repo.DefaultStage)
	c.warnSecrets(ops.WarningsOf(res.Secrets))
	if c.global.json {
		return c.printJSON(stageJSON{
			name, itemCountsJSON{res.Nodes, res.Edges},
			res.Duplicates, res.Unchanged, ops.WarningsOf(res.Secrets),
		})
	}
	more := repeats(res.Duplicates, res.Unchanged)
	if res.Nodes.Zero() && res.Edges.Zero() {
		return c.printf("nothing staged in %s%s\n", line(name), more)
	}
	return c.printf("staged in %s: %s, %s%s\n", line(name), c.countsLine(res.Nodes, "nodes"),
		c.countsLine(res.Edges, "edges"), more)
}

// oneByOne is a stream of changes made before.
func oneByOne(list []graph.Change) repo.Changes {
	return func(yield func(graph.Change, error) bool) {
		for _, change := range list {
			if !yield(change, nil) {
				return
			}
		}
	}
}

// changeOf makes a change of what a line of it would say, with all the checks of a line.
func changeOf(kind string, members ...ipld.Entry) (graph.Change, error) {
	v := ipld.MapValue(ipld.Entry{Key: kind, Value: ipld.MapValue(members...)})
	return graph.ParseChange(ipld.AppendJSON(nil, v))
}

func textMember(name, value string) ipld.Entry {
	return ipld.Entry{Key: name, Value: ipld.StringValue(value)}
}

// named returns the id of the node that a name means in what is staged.
func named(ctx context.Context, staged *repo.Snapshot, name string) (ipld.Entry, error) {
	id, err := staged.Name(ctx, name)
	return textMember("node", id.String()), err
}

// end returns what an edge's line says about one of its ends: the node that the name means in what
// is staged, or else the key of a node to come, since a stage may hold an edge before its ends.
func (c *cli) end(
	ctx context.Context, staged *repo.Snapshot, member, name string,
) (ipld.Entry, error) {
	id, err := staged.Name(ctx, name)
	if err == nil {
		n, _, err := staged.Node(ctx, id)
		if err != nil {
			return ipld.Entry{}, err
		}
		return textMember(member, firstOf(n.Key, id.String())), nil
	}
	if !errors.Is(err, store.ErrNotFound) {
		return ipld.Entry{}, err
	}
	ref, err := ops.FutureRef(name)
	if err != nil {
		return ipld.Entry{}, fmt.Errorf("%s: %w", member, err)
	}
	c.remark("note: there is no node %s yet; committing needs one", line(name))
	return textMember(member, ref.String()), nil
}

// assignment reads NAME=VALUE.
func assignment(arg string) (name, value string, err error) {
	name, value, ok := strings.Cut(arg, "=")
	if !ok || name == "" {
		return "", "", usagef("%q is not of the form NAME=VALUE", arg)
	}
	return name, value, nil
}

// propMember makes a property of NAME=VALUE: the value is JSON where it reads as JSON, else text.
func propMember(name, value string) ipld.Entry {
	v, err := ipld.ParseJSON([]byte(value))
	if err != nil {
		v = ipld.StringValue(value)
	}
	return ipld.Entry{Key: name, Value: v}
}

// propsMember makes the member props, refusing a name given twice.
func propsMember(props []ipld.Entry) (ipld.Entry, error) {
	seen := make(map[string]bool)
	for _, p := range props {
		if seen[p.Key] {
			return ipld.Entry{}, usagef("property %q is given twice", p.Key)
		}
		seen[p.Key] = true
	}
	return ipld.Entry{Key: "props", Value: ipld.MapValue(props...)}, nil
}
