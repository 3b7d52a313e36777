package cli

import (
	"github.com/spf13/cobra"
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
