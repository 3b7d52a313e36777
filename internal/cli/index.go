package cli

import (
	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/ops"
)

func (c *cli) indexCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "index",
		GroupID: groupCare,
		Short:   "Inspect and rebuild the text index",
		Long: "Inspect and rebuild the text index. It is derived from the commits: each commit or the first\n" +
			"retrieval builds it, and rebuilding it never changes an answer.",
		Example: "  mnem index status\n  mnem index rebuild",
	}
	return c.parent(cmd, c.verb("index status"), c.verb("index rebuild"))
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *cli) printIndex(x *ops.Index) error {
	if !x.Manifest.Defined() {
		return c.printf("no index yet: the first retrieval makes it\n")
	}
	if err := c.printf("%s, %s, %s\n", plural(x.Segments, "segment"),
		plural(int(x.Nodes), "node"), plural(int(x.Terms), "term")); err != nil {
		return err
	}
	var rows [][]cell
	for _, f := range x.Fields {
		rows = append(rows, []cell{
			{f.Field, styleBold}, {plural(int(f.Nodes), "node"), ""}, {plural(int(f.Terms), "term"), ""},
		})
	}
	return c.table(rows)
}
