package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/setup"
	"github.com/mnem-project/mnem/internal/door/verbs"
)

// wanted returns the commands that a command line needs: making all of them and their flags takes
// longer than running some. The line begins with the name of one, after flags of every command. If it does
// not, wanted returns all: help, completion and errors list them.
func wanted(all, args []string) []string {
	if reach.Completing(args) && len(args) > 2 {
		args = args[1:] // what is completed stands after the command
	}
	side := &cobra.Command{}
	(&line.Line{}).RootFlags(side)
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
func commands(declared []*line.Bound) []string {
	names := []string{"completion", hookName}
	for _, v := range declared {
		if name, _, _ := strings.Cut(v.Spec.Command, " "); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// commandOf makes the command of a name. Most are declared.
func commandOf(c *line.Line, name string) *cobra.Command {
	switch name {
	case "completion":
		return reach.CompletionCommand(c)
	case hookName:
		return hookCommand(c)
	}
	cmd := declared(c, name)
	switch name {
	case "config":
		cmd.Long = setup.ConfigHelp()
	}
	return cmd
}

// declared makes a command that is declared, with those below it: their names begin with its own.
func declared(c *line.Line, name string) *cobra.Command {
	var cmd *cobra.Command
	all := all(c)
	i := slices.IndexFunc(all, func(v *line.Bound) bool { return v.Spec.Command == name })
	if i >= 0 {
		cmd = reach.Verb(c, all[i])
	} else {
		cmd = c.Parent(familyOf(name))
	}
	families := map[string]*cobra.Command{name: cmd}
	for _, v := range all {
		if !strings.HasPrefix(v.Spec.Command, name+" ") {
			continue
		}
		family := v.Spec.Command[:strings.LastIndexByte(v.Spec.Command, ' ')]
		if families[family] == nil {
			families[family] = c.Parent(familyOf(family))
			cmd.AddCommand(families[family])
		}
		families[family].AddCommand(reach.Verb(c, v))
	}
	return cmd
}

// all returns every command that is declared.
func all(c *line.Line) []*line.Bound {
	if c.Verbs == nil {
		c.Verbs = append(verbs.Verbs(), locals()...)
	}
	return c.Verbs
}
