package cli

import "github.com/spf13/cobra"

// commands are the commands of the root, in the order of the help.
func commands() []func(*cli) *cobra.Command {
	return []func(*cli) *cobra.Command{
		// Start
		(*cli).initCommand,
		(*cli).configCommand,
		(*cli).versionCommand,
		(*cli).completionCommand,
		// Change the memory
		//todo (*cli).commitCommand,
		//todo (*cli).addCommand,
		//todo (*cli).setCommand,
		//todo (*cli).rmCommand,
		//todo (*cli).linkCommand,
		//todo (*cli).unlinkCommand,
		//todo (*cli).statusCommand,
		//todo (*cli).resetCommand,
		// Read the memory
		// Record and replay
		// Care
		//todo (*cli).statsCommand,
		//todo (*cli).indexCommand,
		//todo (*cli).fsckCommand,
		//todo (*cli).catFileCommand,
	}
}
