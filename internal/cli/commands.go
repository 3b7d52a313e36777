package cli

import "github.com/spf13/cobra"

// commands are the commands of the root, in the order of the help.
func commands() []func(*cli) *cobra.Command {
	return []func(*cli) *cobra.Command{
		// Start
		(*cli).initCommand,
		(*cli).configCommand,
		(*cli).demoCommand,
		(*cli).versionCommand,
		(*cli).completionCommand,
		// Change the memory
		(*cli).commitCommand,
		(*cli).addCommand,
		(*cli).setCommand,
		(*cli).rmCommand,
		(*cli).linkCommand,
		(*cli).unlinkCommand,
		(*cli).statusCommand,
		(*cli).resetCommand,
		(*cli).mergeCommand,
		(*cli).revertCommand,
		(*cli).cherryPickCommand,
		(*cli).restoreCommand,
		(*cli).embedCommand,
		(*cli).profileCommand,
		// Read the memory
		(*cli).retrieveCommand,
		(*cli).getCommand,
		(*cli).showCommand,
		(*cli).lsCommand,
		(*cli).neighborsCommand,
		(*cli).pathCommand,
		(*cli).logCommand,
		(*cli).diffCommand,
		(*cli).blameCommand,
		// Branch, tag and undo
		(*cli).branchCommand,
		(*cli).switchCommand,
		(*cli).tagCommand,
		(*cli).undoCommand,
		(*cli).redoCommand,
		(*cli).opCommand,
		// Record and replay
		(*cli).sessionCommand,
		(*cli).replayCommand,
		// Exchange
		(*cli).exportCommand,
		(*cli).importCommand,
		// Care
		(*cli).statsCommand,
		(*cli).indexCommand,
		(*cli).fsckCommand,
		(*cli).gcCommand,
		(*cli).purgeCommand,
		(*cli).verifyCommand,
		(*cli).keyCommand,
		(*cli).benchCommand,
		(*cli).catFileCommand,
	}
}
