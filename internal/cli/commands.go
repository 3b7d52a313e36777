package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// wanted returns the commands that a command line needs: making all of them and their flags takes
// longer than running some. It is the one that the line begins with, behind flags of every command, or all
// where that is no name of one: help, completion and errors speak of all.
func wanted(args []string) []string {
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
		if i := slices.Index(all, args[0]); i >= 0 {
			return all[i : i+1]
		}
	}
	return all
}

// commands are the names of the commands of the root, in the order of the help.
func commands() []string {
	return []string{
		// Start
		"init", "config", "integrate", "unintegrate", "demo", "version", "completion",
		// Change the memory
		"remember", "ingest", "capture", "hook", "commit", "add", "set", "rm", "link", "unlink", "status",
		"reset", "merge", "revert", "cherry-pick", "restore", "forget", "supersede", "contradict", "stale",
		"retire", "expire", "review", "pin", "unpin", "consolidate", "half-life", "digest-write", "embed",
		"profile",
		// Read the memory
		"retrieve", "recall", "check", "get", "show", "ls", "schema", "cues", "neighbors", "path",
		"communities", "map", "digest", "resolve", "last", "sources", "explore", "related", "suggest", "log",
		"diff", "blame", "view",
		// Branch, tag and undo
		"branch", "switch", "tag", "git", "undo", "redo", "op", "watch",
		// Record and replay
		"session", "replay",
		// Exchange
		"backup", "remote", "clone", "fetch", "pull", "push", "sync", "pack", "export", "import", "serve",
		"mcp", "token",
		// Care
		"stats", "index", "distill", "doctor", "fsck", "gc", "purge", "verify", "key", "hold", "policy",
		"guard", "cat-file",
	}
}

// commandOf makes the command of a name. Most are declared.
func (c *cli) commandOf(name string) *cobra.Command {
	switch name {
	case "completion":
		return c.completionCommand()
	case hookName:
		return c.hookCommand()
	}
	cmd := c.declared(name)
	switch name {
	case "config":
		cmd.Long = configHelp()
	case "hold":
		cmd.Hidden = true // serve and mcp do the same, and more
	case "key":
		cmd.PersistentFlags().StringVar(&c.keysDir, "keys", "",
			"the `DIR`ectory of keys and the trust list (MNEM_KEYS; default: the user's)")
	}
	return cmd
}

// declared makes a command that is declared, with those below it: their names begin with its own.
func (c *cli) declared(name string) *cobra.Command {
	if c.verbs == nil {
		c.verbs = append(verbs(), locals()...)
	}
	var cmd *cobra.Command
	i := slices.IndexFunc(c.verbs, func(v *verb) bool { return v.spec.Command == name })
	if i >= 0 {
		cmd = c.verb(c.verbs[i])
	} else {
		cmd = c.parent(familyOf(name))
	}
	for _, v := range c.verbs {
		if strings.HasPrefix(v.spec.Command, name+" ") {
			cmd.AddCommand(c.verb(v))
		}
	}
	return cmd
}
