package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

const (
	defaultHops = 32
	maxHops     = 1000
)

type stepJSON struct {
	From    string  `json:"from"`
	FromKey *string `json:"from_key"`
	To      string  `json:"to"`
	ToKey   *string `json:"to_key"`
	Edge    string  `json:"edge"`
	Type    string  `json:"type"`
	Forward bool    `json:"forward"`
}

type pathJSON struct {
	Commit *string    `json:"commit"`
	From   string     `json:"from"`
	To     string     `json:"to"`
	Found  bool       `json:"found"`
	Hops   int        `json:"hops"`
	Steps  []stepJSON `json:"steps"`
}

func (c *cli) pathCommand() *cobra.Command {
	opt := adjacency.PathOptions{}
	var undirected bool
	var marks []string
	cmd := &cobra.Command{
		Use:     "path A B [flags]",
		GroupID: groupRead,
		Short:   "Find a shortest path between two nodes",
		Long: "Find a path from A to B with the fewest edges, following edges from source to destination,\n" +
			"or both ways with --undirected. Of several shortest paths it is always the same one.\n" +
			"Where there is none, nothing is printed and the exit code is 0.",
		Example: "  mnem path alice bruno --undirected\n" +
			"  mnem path svc/booking svc/billing --type depends-on --json",
		Args: cobra.ExactArgs(2),
	}
	c.atFlag(cmd)
	f := cmd.Flags()
	f.BoolVar(&undirected, "undirected", false, "follow edges both ways")
	f.StringArrayVar(&opt.Types, "type", nil, "follow only edges of this `TYPE` (repeatable)")
	f.IntVar(&opt.MaxHops, "max-hops", defaultHops, "look no further than `N` edges")
	marksFlag(cmd, &marks)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		if err := checkRange("max-hops", opt.MaxHops, 1, maxHops); err != nil {
			return err
		}
		if undirected {
			opt.Direction = adjacency.Both
		}
		let, err := parseMarks(marks)
		if err != nil {
			return err
		}
		return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			s, err := c.snapshot(ctx, r)
			if err != nil {
				return err
			}
			see := visible{s, let}
			opt.Skip = func(ctx context.Context, e adjacency.Entry) (bool, error) {
				ok, err := see.edge(ctx, e.Edge, e.Other)
				return !ok, err
			}
			return c.path(ctx, s, args[0], args[1], opt)
		})
	})
}

func (c *cli) path(
	ctx context.Context, s *repo.Snapshot, nameA, nameB string, opt adjacency.PathOptions,
) error {
	a, err := s.Name(ctx, nameA)
	if err != nil {
		return ops.NodeHint(err)
	}
	b, err := s.Name(ctx, nameB)
	if err != nil {
		return ops.NodeHint(err)
	}
	steps, found, err := s.Adjacency().ShortestPath(ctx, a, b, opt)
	if errors.Is(err, adjacency.ErrTooFar) {
		return hint(err, "narrow the search with --type or --max-hops")
	}
	if err != nil {
		return err
	}
	names := newLabels(s)
	if c.global.json {
		return c.printPathJSON(ctx, s, names, a, b, found, steps)
	}
	if !found {
		c.remark("no path from %s to %s within %s", line(nameA), line(nameB),
			plural(opt.MaxHops, "hop"))
		return nil
	}
	return c.printPath(ctx, names, a, steps)
}

func (c *cli) printPathJSON(
	ctx context.Context, s *repo.Snapshot, names *labels, a, b graph.ID, found bool,
	steps []adjacency.Step,
) error {
	out := pathJSON{
		Commit: jsonCID(s.CID()), From: a.String(), To: b.String(), Found: found,
		Hops: len(steps), Steps: make([]stepJSON, len(steps)),
	}
	for i, step := range steps {
		from, err := names.key(ctx, step.From)
		if err != nil {
			return err
		}
		to, err := names.key(ctx, step.To)
		if err != nil {
			return err
		}
		out.Steps[i] = stepJSON{
			step.From.String(), from, step.To.String(), to, step.Edge.String(), step.Type,
			step.Forward,
		}
	}
	return c.printJSON(out)
}

func (c *cli) printPath(
	ctx context.Context, names *labels, a graph.ID, steps []adjacency.Step,
) error {
	start, err := names.label(ctx, a)
	if err != nil {
		return err
	}
	if err := c.printf("%s\n", c.paint(styleBold, start)); err != nil {
		return err
	}
	for _, step := range steps {
		to, err := names.label(ctx, step.To)
		if err != nil {
			return err
		}
		arrow := "-> "
		if !step.Forward {
			arrow = "<- "
		}
		err = c.printf("  %s%s  %s\n", arrow, c.paint(styleCyan, line(step.Type)),
			c.paint(styleBold, to))
		if err != nil {
			return err
		}
	}
	return nil
}
