package setup

import (
	"context"
	"strings"

	"github.com/mnem-project/mnem/internal/agent/clients"
	"github.com/mnem-project/mnem/internal/agent/integrate"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/show"
)

// printIntegration prints what would be written into files of their own, and where it goes.
func printIntegration(c *line.Line, s *integrate.Setup, client clients.Client, path string, e clients.ServerCommand) error {
	text, err := client.Text(clients.Name, e)
	if err != nil {
		return err
	}
	if c.InJSON {
		return c.PrintJSON(integrate.Done{
			Client: client.Name, Level: s.Level, Path: path, DryRun: true, Command: integrate.Command(e),
		})
	}
	c.Remark("goes to %s", line.OneLine(path))
	if err := c.Printf("%s", plain.Lines(text)+"\n"); err != nil {
		return err
	}
	hooks, rules := s.Besides(client)
	if hooks != "" {
		if text, err = s.HooksText(client); err != nil {
			return err
		}
		c.Remark("goes to %s", line.OneLine(hooks))
		if err := c.Printf("%s", plain.Lines(text)+"\n"); err != nil {
			return err
		}
	}
	if rules == "" {
		return nil
	}
	c.Remark("goes to %s", line.OneLine(rules))
	return c.Printf("%s", plain.Lines(client.RulesText())+"\n")
}

// applyEdits writes the edits of a client's files, all or none, or prints them in a dry run.
func applyEdits(
	ctx context.Context, c *line.Line, s *integrate.Setup, client clients.Client, all integrate.Edits, command []string,
) error {
	backups, err := s.Write(ctx, client, all)
	if err != nil {
		return err
	}
	if c.InJSON {
		return c.PrintJSON(s.Report(client, all, backups, command))
	}
	if s.DryRun {
		for _, change := range all.All() {
			if err := printChange(c, change); err != nil {
				return err
			}
		}
		return nil
	}
	if err := tellEdits(c, client, all, command); err != nil {
		return err
	}
	remarkEdits(c, s, client, all, command)
	if command != nil && all.Changed() {
		c.Remark("restart %s to use it; 'mnem doctor' checks it", client.Title)
	}
	return nil
}

// tellEdits says what was written, or taken away if there is no command.
func tellEdits(c *line.Line, client clients.Client, all integrate.Edits, command []string) (err error) {
	tell := func(change *clients.FileEdit, format string, args ...any) {
		if err == nil && change != nil && change.Changed() {
			err = c.Printf(format+"\n", append(args, line.OneLine(change.Path))...)
		}
	}
	switch {
	case command == nil && !all.Changed():
		return c.Printf("%s has no entry %s in %s\n", client.Title, clients.Name, line.OneLine(all.Entry.Path))
	case command == nil:
		tell(all.Entry, "took %s out of %s", clients.Name)
		tell(all.Hooks, "took the hooks out of %s")
		tell(all.Rules, "took the rules out of %s")
	case !all.Changed():
		return c.Printf("%s is integrated already, by %s\n", client.Title, line.OneLine(all.Entry.Path))
	default:
		tell(all.Entry, "%s starts '%s', by %s", client.Title, line.OneLine(strings.Join(command, " ")))
		tell(all.Hooks, "%s calls '%s hook', by %s", client.Title, line.OneLine(command[0]))
		tell(all.Rules, "%s is told when to use it, by %s", client.Title)
	}
	return err
}

// remarkEdits says what is left to the user.
func remarkEdits(c *line.Line, s *integrate.Setup, client clients.Client, all integrate.Edits, command []string) {
	if all.Rules != nil {
		switch path := line.OneLine(all.Rules.Path); all.Kept {
		case clients.RulesEdited:
			c.Remark("%s was edited, and is left alone", path)
		case clients.RulesForeign:
			if command != nil {
				c.Remark("%s is not of mnem, and is left alone", path)
			}
		}
	}
	if command == nil || !all.Changed() {
		return
	}
	if all.Rules != nil {
		if instead := client.RulesInstead(all.Rules.Path); instead != "" {
			c.Remark("%s reads %s in place of %s", client.Title, line.OneLine(instead), line.OneLine(all.Rules.Path))
		}
	}
	if all.Rules == nil && !s.NoRules && client.RulesPath(s.Machine, clients.Project) != "" {
		c.Remark("%s has files of rules in projects alone: --project writes one", client.Title)
	}
	if all.Hooks != nil && all.Hooks.Changed() && client.Name == "codex" {
		c.Remark("Codex runs no hook before it is trusted: open /hooks in it")
	}
}

// printChange prints the lines that a change takes out and puts in.
func printChange(c *line.Line, change *clients.FileEdit) error {
	if !change.Changed() {
		return c.Printf("nothing would change in %s\n", line.OneLine(change.Path))
	}
	old, now := textLines(change.Old), textLines(change.New)
	same := 0
	for same < min(len(old), len(now)) && old[same] == now[same] {
		same++
	}
	old, now = old[same:], now[same:]
	for len(old) > 0 && len(now) > 0 && old[len(old)-1] == now[len(now)-1] {
		old, now = old[:len(old)-1], now[:len(now)-1]
	}
	if err := c.Printf("%s, from line %d:\n", line.OneLine(change.Path), same+1); err != nil {
		return err
	}
	for _, l := range old {
		if err := c.Printf("%s\n", c.Paint(show.Red, "- "+line.OneLine(l))); err != nil {
			return err
		}
	}
	for _, l := range now {
		if err := c.Printf("%s\n", c.Paint(show.Green, "+ "+line.OneLine(l))); err != nil {
			return err
		}
	}
	return nil
}

func textLines(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	all := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for i, l := range all {
		all[i] = strings.TrimSuffix(l, "\r")
	}
	return all
}
