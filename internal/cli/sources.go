package cli

import (
	"github.com/spf13/cobra"
)

func (c *cli) sourcesCommand() *cobra.Command {
	cmd := c.verb("sources")
	cmd.AddCommand(c.verb("sources diff"), c.verb("sources refresh"))
	return cmd
}
