package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/door/line"
)

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

// knownHelp refuses what is neither a command nor a topic.
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
