package cli

import "github.com/spf13/cobra"

// command is one command of the root: its name, and what makes it.
type command struct {
	Name string
	New  func(*cli) *cobra.Command
}

// wanted returns the commands that a command line needs: making all of them and their flags takes
// longer than running some. It is the one that the line begins with, behind flags of every command, or all
// where that is no name of one: help, completion and errors speak of all.
func wanted(args []string) []command {
	all := commands()
	if completing(args) && len(args) > 2 {
		args = args[1:] // what is completed stands after the command
	}
	side := &cobra.Command{}
	(&cli{}).rootFlags(side)
	flags := side.PersistentFlags()
	flags.SetInterspersed(false)
	if flags.Parse(args) == nil {
		args = flags.Args()
	}
	if len(args) > 0 {
		for i, cmd := range all {
			if cmd.Name == args[0] {
				return all[i : i+1]
			}
		}
	}
	return all
}

// commands are the commands of the root, in the order of the help.
func commands() []command { return append(memoryCommands(), historyCommands()...) }

// memoryCommands are about what is in the memory now.
func memoryCommands() []command {
	return []command{
		// Start
		{"init", (*cli).initCommand},
		{"config", (*cli).configCommand},
		{"integrate", (*cli).integrateCommand},
		{"unintegrate", (*cli).unintegrateCommand},
		{"demo", (*cli).demoCommand},
		{"version", verbCommand("version")},
		{"completion", (*cli).completionCommand},
		// Change the memory
		{"remember", verbCommand("remember")},
		{"ingest", verbCommand("ingest")},
		{"capture", verbCommand("capture")},
		{"hook", (*cli).hookCommand},
		{"commit", verbCommand("commit")},
		{"add", verbCommand("add")},
		{"set", verbCommand("set")},
		{"rm", verbCommand("rm")},
		{"link", verbCommand("link")},
		{"unlink", verbCommand("unlink")},
		{"status", verbCommand("status")},
		{"reset", verbCommand("reset")},
		{"merge", verbCommand("merge")},
		{"revert", verbCommand("revert")},
		{"cherry-pick", verbCommand("cherry-pick")},
		{"restore", verbCommand("restore")},
		{"forget", verbCommand("forget")},
		{"supersede", verbCommand("supersede")},
		{"contradict", verbCommand("contradict")},
		{"stale", verbCommand("stale")},
		{"retire", verbCommand("retire")},
		{"expire", verbCommand("expire")},
		{"review", (*cli).reviewCommand},
		{"pin", verbCommand("pin")},
		{"unpin", verbCommand("unpin")},
		{"consolidate", verbCommand("consolidate")},
		{"half-life", verbCommand("half-life")},
		{"digest-write", verbCommand("digest-write")},
		{"embed", verbCommand("embed")},
		{"profile", familyCommand("profile")},
		// Read the memory
		{"retrieve", verbCommand("retrieve")},
		{"recall", verbCommand("recall")},
		{"check", verbCommand("check")},
		{"get", verbCommand("get")},
		{"show", verbCommand("show")},
		{"ls", verbCommand("ls")},
		{"schema", verbCommand("schema")},
		{"cues", verbCommand("cues")},
		{"neighbors", verbCommand("neighbors")},
		{"path", verbCommand("path")},
		{"communities", verbCommand("communities")},
		{"map", verbCommand("map")},
		{"digest", verbCommand("digest")},
		{"resolve", verbCommand("resolve")},
		{"last", verbCommand("last")},
		{"sources", (*cli).sourcesCommand},
		{"explore", verbCommand("explore")},
		{"related", verbCommand("related")},
		{"suggest", verbCommand("suggest")},
		{"log", verbCommand("log")},
		{"diff", verbCommand("diff")},
		{"blame", verbCommand("blame")},
		{"view", (*cli).viewCommand},
	}
}

// historyCommands are about its history, its copies elsewhere, and the repository itself.
func historyCommands() []command {
	return []command{
		// Branch, tag and undo
		{"branch", verbCommand("branch")},
		{"switch", verbCommand("switch")},
		{"tag", verbCommand("tag")},
		{"git", (*cli).gitCommand},
		{"undo", verbCommand("undo")},
		{"redo", verbCommand("redo")},
		{"op", familyCommand("op")},
		{"watch", verbCommand("watch")},
		// Record and replay
		{"session", familyCommand("session")},
		{"replay", verbCommand("replay")},
		// Exchange
		{"backup", (*cli).backupCommand},
		{"remote", (*cli).remoteCommand},
		{"clone", (*cli).cloneCommand},
		{"fetch", (*cli).fetchCommand},
		{"pull", (*cli).pullCommand},
		{"push", (*cli).pushCommand},
		{"sync", (*cli).syncCommand},
		{"pack", familyCommand("pack")},
		{"export", verbCommand("export")},
		{"import", verbCommand("import")},
		{"serve", (*cli).serveCommand},
		{"mcp", (*cli).mcpCommand},
		{"token", (*cli).tokenCommand},
		// Care
		{"stats", verbCommand("stats")},
		{"index", familyCommand("index")},
		{"distill", verbCommand("distill")},
		{"doctor", verbCommand("doctor")},
		{"fsck", verbCommand("fsck")},
		{"gc", verbCommand("gc")},
		{"purge", verbCommand("purge")},
		{"verify", verbCommand("verify")},
		{"key", (*cli).keyCommand},
		{"hold", (*cli).holdCommand},
		{"policy", (*cli).policyCommand},
		{"guard", (*cli).guardCommand},
		{"cat-file", verbCommand("cat-file")},
	}
}
