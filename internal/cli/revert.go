package cli

import (
	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/repo"
)

func (c *cli) revertCommand() *cobra.Command {
	return c.integrateRevs(&cobra.Command{
		Use:     "revert REV|FROM..TO",
		GroupID: groupChange,
		Short:   "Undo what a commit changed, by a new commit",
		Long: "Undo what a commit changed against its first parent, or all commits after FROM up to TO,\n" +
			"by one new commit. Later changes of other things stay. A thing that was changed again\n" +
			"since is a conflict, as in 'mnem merge', which also lists, resolves and continues. After\n" +
			"the revert of the newest commit the graph is what it was before, times included.",
		Example: "  mnem revert HEAD\n" +
			"  mnem revert HEAD~2..HEAD -m 'back to what we knew'\n" +
			"  mnem revert HEAD~1 --dry-run",
	}, (*repo.Repo).Revert)
}
