package cli

import (
	"github.com/spf13/cobra"
)

func (c *cli) packCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "pack",
		GroupID: groupTrade,
		Short:   "Low-level steps of a transfer between repositories",
		Long: "'mnem fetch', 'mnem push' and 'mnem sync' ask another repository these questions, in a\n" +
			"directory or by a server: what it has, to send what is lacking here, to take in what is\n" +
			"lacking there, and what was erased. They carry packs by any other way too, as on a disk.",
		Example: "  mnem pack refs\n  mnem pack send --ref refs/heads/main -o main.pack\n" +
			"  mnem pack take --set refs/heads/old=any..none",
	}
	return c.parent(cmd, c.verb("pack refs"), c.verb("pack send"), c.verb("pack take"), c.verb("pack redactions"),
		c.verb("pack redact"))
}
