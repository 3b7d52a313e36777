package cli

import (
	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/verb/upkeep"
)

// root returns the command that holds those which a command line needs; no line needs all.
func root(c *line.Line, args ...string) *cobra.Command {
	root := &cobra.Command{
		Use:   "mnem",
		Short: "git for an AI agent's memory",
		Long: "mnem keeps an agent's memory as a graph under version control: commit facts,\n" +
			"diff and branch them, and retrieve against an immutable commit under a token\n" +
			"budget. The same commit and request give the same bytes in every process.",
		Example: "  mnem init\n" +
			"  mnem remember 'We moved billing to Stripe because PayPal kept failing'\n" +
			"  mnem recall 'why did we move billing?'",
	}
	c.Parent(root)
	root.AddGroup(
		&cobra.Group{ID: line.GroupStart, Title: "Start:"},
		&cobra.Group{ID: line.GroupChange, Title: "Change the memory:"},
		&cobra.Group{ID: line.GroupRead, Title: "Read the memory:"},
		&cobra.Group{ID: line.GroupHistory, Title: "Branch, tag and undo:"},
		&cobra.Group{ID: line.GroupRecord, Title: "Record and replay:"},
		&cobra.Group{ID: line.GroupTrade, Title: "Exchange:"},
		&cobra.Group{ID: line.GroupCare, Title: "Care:"},
	)
	c.RootFlags(root)
	list := wanted(commands(all(c)), args)
	for _, name := range list {
		root.AddCommand(commandOf(c, name))
	}
	if len(list) > 1 { // no line that names a command wants a page of help
		for _, t := range topics() {
			root.AddCommand(topicCommand(t))
		}
	}
	root.SetHelpCommandGroupID(line.GroupStart)
	checkHelp(c, root)
	root.Version = upkeep.VersionsHere().Version
	return root
}
