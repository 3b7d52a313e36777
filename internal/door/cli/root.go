// Package cli is the command line of mnem: it assembles the commands of the packages below it and runs one.
package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/door/access"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/serving"
	"github.com/mnem-project/mnem/internal/door/setup"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/door/trade"
	"github.com/mnem-project/mnem/internal/door/verbs"
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
			root.AddCommand(&cobra.Command{Use: t.Name, Short: t.Short, Long: t.Long})
		}
	}
	root.SetHelpCommandGroupID(line.GroupStart)
	checkHelp(c, root)
	root.Version = upkeep.VersionsHere().Version
	return root
}

// Run runs one command line and returns its exit code.
func Run(ctx context.Context, a *line.App, args []string) int {
	if isHook(args) {
		return quietHook(ctx, a, args)
	}
	return runCommand(ctx, a, args)
}

func runCommand(ctx context.Context, a *line.App, args []string) int {
	return a.Run(ctx, args, func(c *line.Line) *cobra.Command { return root(c, args...) })
}

// Main runs the command line of a process and returns its exit code. A command that does not end soon after the
// context has is left behind: the process must end. Servers end the requests under way first.
func Main(ctx context.Context, a *line.App, args []string) int {
	app := *a
	app.Serving = new(atomic.Bool)
	ended := make(chan int, 1)
	go func() { ended <- Run(ctx, &app, args) }()
	select {
	case code := <-ended:
		return code
	case <-ctx.Done():
	}
	select {
	case code := <-ended:
		return code
	case <-time.After(line.InterruptGrace):
	}
	if app.Serving.Load() {
		return <-ended
	}
	left := &line.Line{App: &app, Console: show.Console{Out: line.Buffered(io.Discard), InJSON: line.WantsJSON(args)}}
	return left.Report(ctx, ctx.Err())
}

func locals() []*line.Bound {
	return slices.Concat(
		[]*line.Bound{demoCommand(), reach.HoldCommand(), secretsCommand(), access.PolicyCommand(), setup.InitCommand(), serving.MCPCommand(), serving.ServeCommand(), serving.ViewCommand()},
		setup.ConfigCommands(), trade.GitCommands(), setup.IntegrateCommands(), access.KeyCommands(),
		trade.RemoteCommands(), access.TokenCommands(), trade.TradeCommands(),
	)
}

// wanted returns the commands that a command line needs: making all of them and their flags takes
// longer than running some. The line begins with the name of one, after flags of every command. If it does
// not, wanted returns all: help, completion and errors list them.
func wanted(all, args []string) []string {
	if reach.Completing(args) && len(args) > 2 {
		args = args[1:] // what is completed stands after the command
	}
	if rest, err := afterFlags(args); err == nil {
		args = rest
	}
	if len(args) > 0 && slices.Contains(all, args[0]) {
		return args[:1]
	}
	return all
}

func afterFlags(args []string) ([]string, error) {
	side := &cobra.Command{}
	(&line.Line{}).RootFlags(side)
	flags := side.PersistentFlags()
	flags.SetInterspersed(false)
	err := flags.Parse(args)
	return flags.Args(), err
}

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
	if name == "config" {
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

func all(c *line.Line) []*line.Bound {
	if c.Verbs == nil {
		c.Verbs = append(verbs.Verbs(), locals()...)
	}
	return c.Verbs
}

// checkHelp lets help list all commands, and makes the help of what there is none of an error.
func checkHelp(c *line.Line, root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "help" {
			cmd.Flags().BoolVar(&c.HelpAll, "all", false, "list all commands")
			cmd.Args = knownHelp
		}
	}
}

func knownHelp(cmd *cobra.Command, args []string) error {
	_, rest, err := cmd.Root().Find(args)
	if err == nil && len(rest) == 0 {
		return nil
	}
	if err := line.RenamedCommand(cmd.Root(), args); err != nil {
		return err
	}
	var names []string
	for _, t := range topics() {
		names = append(names, t.Name)
	}
	return line.Hint(fmt.Errorf("no help about %q", strings.Join(args, " ")),
		"topics are %s; 'mnem help --all' lists the commands", strings.Join(names, ", "))
}
