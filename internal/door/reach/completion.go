package reach

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/agent/integrate"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/verb/reading"
)

func knownShell(cmd *cobra.Command, args []string) error {
	if err := line.Positionals("bash|zsh|fish|powershell")(cmd, args); err != nil {
		return err
	}
	if !slices.Contains(cmd.ValidArgs, args[0]) {
		return line.Hint(line.Usagef("no completion for %q", args[0]), "shells are %s", strings.Join(cmd.ValidArgs, ", "))
	}
	return nil
}

// CompletionCommand is the command that prints scripts for shells.
func CompletionCommand(c *line.Line) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "completion bash|zsh|fish|powershell",
		GroupID: line.GroupStart, Hidden: true,
		Short: "Print a shell completion script",
		Long: "Print a script for a shell, which then completes commands, flags, branches, tags,\n" +
			"sessions, stages and config keys. Load it in the shell's start-up file.",
		Example: "  source <(mnem completion bash)\n" +
			"  mnem completion zsh >\"${fpath[1]}/_mnem\"\n" +
			"  mnem completion fish >~/.config/fish/completions/mnem.fish\n" +
			"  mnem completion powershell | Out-String | Invoke-Expression",
		Args:      knownShell,
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
	}
	return c.Command(cmd, func(cmd *cobra.Command, args []string) error {
		root := cmd.Root()
		switch args[0] {
		case "bash":
			return root.GenBashCompletionV2(c.Out, true)
		case "zsh":
			return root.GenZshCompletion(c.Out)
		case "fish":
			return root.GenFishCompletion(c.Out, true)
		}
		return root.GenPowerShellCompletionWithDesc(c.Out)
	})
}

// completer returns what completes a value of a kind, by this program or by what the repository has.
func completer(c *line.Line, kind string) cobra.CompletionFunc {
	switch kind {
	case "client":
		return fixed(integrate.Names())
	case "key":
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { return keyNames(c) }
	case "rule":
		return line.CompleteRules
	case "setting":
		return fixed(settings.Names())
	case "value":
		return completeValue
	}
	return func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return completions(c, cmd, prefix, kind), cobra.ShellCompDirectiveNoFileComp
	}
}

func completeValue(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	key, err := settings.KeyOf(args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return key.Values(), cobra.ShellCompDirectiveNoFileComp
}

func fixed(values []string) cobra.CompletionFunc {
	return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
}

// arguments completes the first argument of a verb, and a later one where its field says how.
func arguments(c *line.Line, v *line.Bound) cobra.CompletionFunc {
	fields := argFields(v)
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		kind := ""
		switch {
		case len(args) == 0:
			kind = v.Spec.Complete
		case len(args) < len(fields):
			kind = fields[len(args)].Complete
		}
		if kind == "" {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return completer(c, kind)(cmd, args, prefix)
	}
}

// Completing reports whether a command line is one that a shell completes another one by.
func Completing(args []string) bool {
	return len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd)
}

// completeBy registers what completes a flag, in a command line that completes one: it is never
// forgotten again, which a process that runs many command lines would feel.
func completeBy(c *line.Line, cmd *cobra.Command, flag string, fn cobra.CompletionFunc) {
	if cmd.Flag(flag) == nil {
		panic("no flag --" + flag) // seen by the first test that builds the commands
	}
	if !Completing(c.Args) {
		return
	}
	if err := cmd.RegisterFlagCompletionFunc(flag, fn); err != nil {
		panic(err) // registered twice, seen by the first test that completes
	}
}

// completions never waits and never fails: pressing a key asks for no answer yet.
func completions(c *line.Line, cmd *cobra.Command, prefix, kind string) (names []string) {
	c.Global.Wait, c.Quiet, c.Quietly = 0, true, true
	c.Doing = line.Doing{Ctx: cmd.Context(), Wait: true}
	req := &reading.NamesRequest{Kind: kind, Prefix: prefix}
	_ = Ask(cmd.Context(), c, &reading.Names.Spec, req, func(answer any) error {
		for _, name := range answer.(*reading.NamesAnswer).Names {
			names = append(names, line.OneLine(name))
		}
		return nil
	})
	return names
}
