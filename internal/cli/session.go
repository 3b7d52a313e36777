package cli

import (
	"github.com/spf13/cobra"
)

func (c *cli) sessionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "session",
		GroupID: groupRecord,
		Short:   "Pin a commit for a series of retrievals and record them",
		Long: "A session pins one commit: whatever is committed meanwhile, 'mnem retrieve --session NAME'\n" +
			"answers from it and records a receipt, and 'mnem replay NAME' answers it all again.",
		Example: "  mnem session start review --agent reviewer\n" +
			"  mnem retrieve 'open tasks' --session review\n" +
			"  mnem session log review\n  mnem replay review",
	}
	return c.parent(cmd, c.verb("session start"), c.verb("session log"), c.verb("session list"),
		c.verb("session advance"), c.verb("session end"), c.verb("session rm"))
}
