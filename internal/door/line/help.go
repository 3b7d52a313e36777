package line

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// HelpWidth is how wide a line of flags may be, in columns.
const HelpWidth = 80

// Basics are the commands that 'mnem --help' lists; 'mnem help --all' lists all.
var Basics = []string{
	"init", "integrate", "remember", "recall", "forget", "review", "ingest", "commit", "retrieve", "log", "diff", "show",
	"undo", "switch", "merge", "sync", "view", "doctor",
}

// setUsage gives a root the text of usage. It is written here and not as a template: with
// text/template in a program the linker keeps every exported method of every type, which is a third
// of it.
func (c *Line) setUsage(root *cobra.Command) {
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		_, err := fmt.Fprint(cmd.OutOrStderr(), c.usage(cmd))
		return err
	})
}

// usage returns one line of usage, examples, commands in their groups, flags, and topics under the
// command that shows them.
func (c *Line) usage(cmd *cobra.Command) string {
	var b strings.Builder
	line := cmd.UseLine()
	switch {
	case !cmd.HasAvailableSubCommands():
	case strings.Contains(cmd.Use, " "): // it runs by itself too
		line += "\n  " + cmd.CommandPath() + " COMMAND"
	default:
		line = cmd.CommandPath() + " COMMAND"
	}
	fmt.Fprintf(&b, "Usage:\n  %s\n", line)
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	some := !cmd.HasParent() && c.Program == "" && !c.HelpAll
	listed := func(sub *cobra.Command) bool {
		return sub.IsAvailableCommand() && (!some || slices.Contains(Basics, sub.Name()))
	}
	for _, group := range cmd.Groups() {
		writeCommands(&b, group.Title, cmd, func(sub *cobra.Command) bool {
			return listed(sub) && sub.GroupID == group.ID
		})
	}
	if len(cmd.Groups()) == 0 {
		writeCommands(&b, "Commands:", cmd, listed)
	}
	if c.HelpAll && !cmd.HasParent() {
		fmt.Fprintf(&b, "\nRun by programs:\n  %s\n", strings.Join(hiddenNames(cmd), ", "))
	}
	if cmd.HasAvailableLocalFlags() {
		fmt.Fprintf(&b, "\nFlags:\n%s", cmd.LocalFlags().FlagUsagesWrapped(HelpWidth))
	}
	if cmd.HasAvailableInheritedFlags() {
		fmt.Fprintf(&b, "\nFlags of every command:\n%s",
			cmd.InheritedFlags().FlagUsagesWrapped(HelpWidth))
	}
	if cmd.HasHelpSubCommands() {
		writeCommands(&b, "Topics, shown by '"+cmd.CommandPath()+" help TOPIC':", cmd,
			(*cobra.Command).IsAdditionalHelpTopicCommand)
	}
	if cmd.HasAvailableSubCommands() {
		if some {
			fmt.Fprintf(&b, "\nUse '%s help --all' for all commands.\n", cmd.CommandPath())
		} else {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "Use '%s COMMAND --help' for more about a command.\n", cmd.CommandPath())
	}
	return b.String()
}

// hiddenNames returns the commands under another that programs run rather than people.
func hiddenNames(of *cobra.Command) (names []string) {
	for _, sub := range of.Commands() {
		if sub.Hidden {
			names = append(names, sub.Name())
		}
	}
	return names
}

// writeCommands lists those commands under another that listed wants, if there are any.
func writeCommands(
	b *strings.Builder, title string, of *cobra.Command, listed func(*cobra.Command) bool,
) {
	for _, sub := range of.Commands() {
		if !listed(sub) {
			continue
		}
		if title != "" {
			fmt.Fprintf(b, "\n%s\n", title)
			title = ""
		}
		fmt.Fprintf(b, "  %-*s %s\n", sub.NamePadding(), sub.Name(), sub.Short)
	}
}
