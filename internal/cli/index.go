package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/repo"
)

// indexJSON describes the text index of one commit.
type indexJSON struct {
	Manifest *string      `json:"manifest"` // null where the first retrieval will make it
	Segments int          `json:"segments"`
	Nodes    int64        `json:"nodes"`
	Terms    int64        `json:"terms"` // of all fields, repeats counted
	Fields   []fieldsJSON `json:"fields"`
}

// fieldsJSON describes one text field over all nodes.
type fieldsJSON struct {
	Field string `json:"field"`
	Nodes int64  `json:"nodes"` // that have a term in it
	Terms int64  `json:"terms"`
}

// indexFields are the text fields in the order of their numbers.
var indexFields = []string{"summary", "context", "content", "props", "type"}

func (c *cli) indexCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "index",
		GroupID: groupCare,
		Short:   "Look after the text index",
		Long: "Look after the text index, which is derived from the commits: it is made with each\n" +
			"commit or by the first retrieval, and answers do not change when it is made anew.",
		Example: "  mnem index status\n  mnem index rebuild",
	}
	return c.parent(cmd, c.indexStatus(), c.indexRebuild())
}

func (c *cli) indexStatus() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Describe the index of a commit",
		Long: "Describe the index of a commit: its segments, and the nodes and terms of each text\n" +
			"field.",
		Example: "  mnem index status\n  mnem index status --at HEAD~1 --json",
		Args:    cobra.NoArgs,
	}
	c.atFlag(cmd)
	return c.command(cmd, func(cmd *cobra.Command, _ []string) error {
		return c.withRepo(cmd, false, func(ctx context.Context, r *repo.Repo) error {
			s, err := c.snapshot(ctx, r)
			if err != nil {
				return err
			}
			stats, err := s.IndexStats(ctx)
			if err != nil {
				return err
			}
			return c.printIndex(stats)
		})
	})
}

func (c *cli) indexRebuild() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rebuild",
		Short: "Make the index of a commit anew",
		Long: "" +
			"Make the index of a commit anew from its graph alone, in place of the one there is, which\n" +
			"stays where that fails. Answers do not change.",
		Example: "  mnem index rebuild",
		Args:    cobra.NoArgs,
	}
	c.atFlag(cmd)
	return c.command(cmd, func(cmd *cobra.Command, _ []string) error {
		return c.withRepo(cmd, true, func(ctx context.Context, r *repo.Repo) error {
			if c.global.at == string(graph.Head) {
				if _, head, err := r.Branch(ctx); err != nil || !head.Defined() {
					return firstError(err, c.printIndex(repo.IndexStats{}))
				}
			}
			p := c.progress()
			defer p.done()
			p.start("rebuilding the index")
			stats, err := r.RebuildIndex(ctx, c.global.at)
			if err != nil {
				return err
			}
			p.done()
			return c.printIndex(stats)
		})
	})
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func jsonIndex(s repo.IndexStats) indexJSON {
	out := indexJSON{
		Manifest: jsonCID(s.Manifest), Segments: s.Segments, Nodes: s.Nodes, Fields: []fieldsJSON{},
	}
	for i, terms := range s.Terms {
		out.Terms += terms
		out.Fields = append(out.Fields, fieldsJSON{indexFields[i], s.Filled[i], terms})
	}
	return out
}

func (c *cli) printIndex(s repo.IndexStats) error {
	out := jsonIndex(s)
	if c.global.json {
		return c.printJSON(out)
	}
	if out.Manifest == nil {
		return c.printf("no index yet: the first retrieval makes it\n")
	}
	if err := c.printf("%s, %s, %s\n", plural(out.Segments, "segment"),
		plural(int(out.Nodes), "node"), plural(int(out.Terms), "term")); err != nil {
		return err
	}
	var rows [][]cell
	for _, f := range out.Fields {
		rows = append(rows, []cell{
			{f.Field, styleBold}, {plural(int(f.Nodes), "node"), ""}, {plural(int(f.Terms), "term"), ""},
		})
	}
	return c.table(rows)
}
