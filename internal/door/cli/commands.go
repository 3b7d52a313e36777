package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// wanted returns the commands that a command line needs: making all of them and their flags takes
// longer than running some. It is the one that the line begins with, behind flags of every command, or all
// where that is no name of one: help, completion and errors speak of all.
func wanted(all, args []string) []string {
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

// commands are the names of the commands of the root.
func commands(declared []*bound) []string {
	names := []string{"completion", hookName}
	for _, v := range declared {
		if name, _, _ := strings.Cut(v.spec.Command, " "); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
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
	var cmd *cobra.Command
	all := c.all()
	i := slices.IndexFunc(all, func(v *bound) bool { return v.spec.Command == name })
	if i >= 0 {
		cmd = c.verb(all[i])
	} else {
		cmd = c.parent(familyOf(name))
	}
	for _, v := range all {
		if strings.HasPrefix(v.spec.Command, name+" ") {
			cmd.AddCommand(c.verb(v))
		}
	}
	return cmd
}

// all returns every command that is declared.
func (c *cli) all() []*bound {
	if c.verbs == nil {
		c.verbs = append(verbs(), locals()...)
	}
	return c.verbs
}
