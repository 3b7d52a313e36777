package cli

import (
	"github.com/spf13/cobra"
)

func (c *cli) opCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "op",
		GroupID: groupHistory,
		Short:   "Inspect the operation log and restore earlier states",
		Long: "Every change of a ref is an operation: commits, branches, tags, what is staged, sessions. The\n" +
			"log keeps them in order, and each state of the refs can be seen and restored. An operation\n" +
			"is named by its number, its CID or a unique prefix of that, or @ for the newest; OP~N is the\n" +
			"N-th before it.",
		Example: "  mnem op log -n 5\n  mnem op show @\n  mnem op diff @~1 @\n  mnem op restore @~1",
	}
	return c.parent(cmd, c.verb("op log"), c.verb("op show"), c.verb("op diff"), c.verb("op restore"))
}
