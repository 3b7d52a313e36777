package cli

import (
	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/repo"
)

func (c *cli) cherryPickCommand() *cobra.Command {
	return c.integrateRevs(&cobra.Command{
		Use:     "cherry-pick REV|FROM..TO",
		GroupID: groupChange,
		Short:   "Do again here what a commit elsewhere changed",
		Long: "Apply what a commit changed against its first parent, or all commits after FROM up to TO,\n" +
			"to the branch, as one new commit with the message of the last one. What the branch\n" +
			"changed differently is a conflict, as in 'mnem merge', which also lists, resolves and\n" +
			"continues.",
		Example: "  mnem cherry-pick draft\n" +
			"  mnem cherry-pick main~1..main -b draft\n" +
			"  mnem cherry-pick draft --dry-run",
	}, (*repo.Repo).CherryPick)
}
