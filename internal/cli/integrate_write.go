package cli

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/clients"
	"github.com/mnem-project/mnem/internal/filestate"
	"github.com/mnem-project/mnem/ops"
)

// edits are what is done to the files of a client; nil for those that are left alone.
type edits struct {
	entry, hooks, rules *clients.Change
	kept                string // why rules that are there stay as they are, "" where they do not
}

// all returns the edits in the order in which they are written.
func (e edits) all() []*clients.Change {
	return slices.DeleteFunc([]*clients.Change{e.entry, e.hooks, e.rules},
		func(c *clients.Change) bool { return c == nil })
}

func (e edits) changed() bool {
	return slices.ContainsFunc(e.all(), (*clients.Change).Changed)
}

// additions returns the edits that integrate a client.
func (c *cli) additions(client clients.Client, f integration, path string, e clients.Entry) (out edits, err error) {
	out.entry, err = client.Set(path, serverName, e, func(old clients.Entry) error {
		if f.replace {
			return nil
		}
		return c.mayMove(client, f, old, e)
	})
	if err != nil {
		return out, err
	}
	hooks, rules := c.besides(client, f)
	if hooks != "" {
		if out.hooks, err = client.SetHooks(hooks, c.hookSetup()); err != nil {
			return out, err
		}
	}
	if rules != "" {
		if out.rules, err = client.SetRules(rules); err != nil {
			return out, err
		}
		out.kept, err = keptRules(client, rules)
	}
	return out, err
}

// removals returns the edits that take a client's integration away.
func (c *cli) removals(client clients.Client, f integration, path string) (out edits, err error) {
	if out.entry, err = client.Remove(path, c.hookSetup()); err != nil {
		return out, err
	}
	hooks, rules := c.besides(client, f)
	if hooks != "" {
		if out.hooks, err = client.RemoveHooks(hooks, c.hookSetup()); err != nil {
			return out, err
		}
	}
	if rules != "" {
		if out.rules, err = client.RemoveRules(rules); err != nil {
			return out, err
		}
		out.kept, err = keptRules(client, rules)
	}
	return out, err
}

// besides returns the files of hooks and of rules, "" for those that there are not or that are not wanted.
func (c *cli) besides(client clients.Client, f integration) (hooks, rules string) {
	m := c.machine()
	if !f.noHooks {
		hooks = client.HooksPath(m, f.level())
	}
	if !f.noRules {
		rules = client.RulesPath(m, f.level())
	}
	return hooks, rules
}

// keptRules says why rules are left alone, "" where they are not.
func keptRules(client clients.Client, path string) (string, error) {
	state, err := client.Rules(path)
	if state != clients.RulesEdited && state != clients.RulesForeign {
		state = ""
	}
	return state, err
}

// hookSetup is what hooks run.
func (c *cli) hookSetup() clients.Setup {
	return clients.Setup{Name: serverName, Entry: clients.Entry{Command: c.app.Executable}, OS: runtime.GOOS}
}

// printIntegration prints what would be written into files of their own, and where it goes.
func (c *cli) printIntegration(client clients.Client, f integration, path string, e clients.Entry) error {
	text, err := client.Text(serverName, e)
	if err != nil {
		return err
	}
	if c.global.json {
		return c.printJSON(integrationJSON{
			Client: client.Name, Level: f.level(), Path: path, DryRun: true, Command: words(e),
		})
	}
	c.remark("goes to %s", line(path))
	if err := c.printf("%s", printable(text)+"\n"); err != nil {
		return err
	}
	hooks, rules := c.besides(client, f)
	if hooks != "" {
		if text, err = client.HooksText(c.hookSetup()); err != nil {
			return err
		}
		c.remark("goes to %s", line(hooks))
		if err := c.printf("%s", printable(text)+"\n"); err != nil {
			return err
		}
	}
	if rules == "" {
		return nil
	}
	c.remark("goes to %s", line(rules))
	return c.printf("%s", printable(client.RulesText())+"\n")
}

// applyEdits writes the edits of a client's files, all or none, or prints them in a dry run.
func (c *cli) applyEdits(
	ctx context.Context, client clients.Client, f integration, all edits, command []string,
) error {
	backups, err := c.writeEdits(ctx, client, f, all)
	if err != nil {
		return err
	}
	if c.global.json {
		return c.printJSON(edited(client, f, all, backups, command))
	}
	if f.dryRun {
		for _, change := range all.all() {
			if err := c.printChange(change); err != nil {
				return err
			}
		}
		return nil
	}
	if err := c.tellEdits(client, all, command); err != nil {
		return err
	}
	c.remarkEdits(client, f, all, command)
	if command != nil && all.changed() {
		c.remark("restart %s to use it; 'mnem doctor' checks it", client.Title)
	}
	return nil
}

// edited returns what was done to a client's files.
func edited(
	client clients.Client, f integration, all edits, backups map[*clients.Change]ops.Text, command []string,
) integrationJSON {
	out := integrationJSON{
		Client: client.Name, Level: f.level(), Path: all.entry.Path, Changed: all.entry.Changed(), DryRun: f.dryRun,
		Backup: backups[all.entry], Command: command,
	}
	beside := func(change *clients.Change) editedJSON {
		return editedJSON{Path: change.Path, Changed: change.Changed(), Backup: backups[change]}
	}
	if all.hooks != nil {
		hooks := beside(all.hooks)
		out.Hooks = &hooks
	}
	if all.rules != nil {
		out.Rules = &rulesJSON{beside(all.rules), ops.Text(all.kept)}
	}
	return out
}

// writeEdits writes edits unless it is a dry run, and returns the paths of the files before. Where one cannot be
// written those before it are taken back.
func (c *cli) writeEdits(
	ctx context.Context, client clients.Client, f integration, all edits,
) (map[*clients.Change]ops.Text, error) {
	backups := map[*clients.Change]ops.Text{}
	if f.dryRun {
		return backups, nil
	}
	root := client.Root(c.machine(), f.level())
	var done []*clients.Change
	for _, change := range all.all() {
		change.Root = root
		if change == all.rules {
			change.Root = client.RulesRoot(c.machine(), f.level())
		}
		backup, err := change.Write(ctx)
		if err != nil {
			for _, written := range slices.Backward(done) {
				err = errors.Join(err, written.Undo(context.WithoutCancel(ctx)))
			}
			if errors.Is(err, filestate.ErrMoved) {
				err = hint(err, "run the command again")
			}
			return nil, damagedHint(err)
		}
		backups[change] = ops.Text(backup)
		done = append(done, change)
	}
	return backups, nil
}

// tellEdits says what was written, or taken away where there is no command.
func (c *cli) tellEdits(client clients.Client, all edits, command []string) (err error) {
	tell := func(change *clients.Change, format string, args ...any) {
		if err == nil && change != nil && change.Changed() {
			err = c.printf(format+"\n", append(args, line(change.Path))...)
		}
	}
	switch {
	case command == nil && !all.changed():
		return c.printf("%s has no entry %s in %s\n", client.Title, serverName, line(all.entry.Path))
	case command == nil:
		tell(all.entry, "took %s out of %s", serverName)
		tell(all.hooks, "took the hooks out of %s")
		tell(all.rules, "took the rules out of %s")
	case !all.changed():
		return c.printf("%s is integrated already, by %s\n", client.Title, line(all.entry.Path))
	default:
		tell(all.entry, "%s starts '%s', by %s", client.Title, line(strings.Join(command, " ")))
		tell(all.hooks, "%s calls '%s hook', by %s", client.Title, line(command[0]))
		tell(all.rules, "%s is told when to use it, by %s", client.Title)
	}
	return err
}

// remarkEdits says what is left to the user.
func (c *cli) remarkEdits(client clients.Client, f integration, all edits, command []string) {
	if all.rules != nil {
		switch path := line(all.rules.Path); all.kept {
		case clients.RulesEdited:
			c.remark("%s was edited, and is left alone", path)
		case clients.RulesForeign:
			if command != nil {
				c.remark("%s is not of mnem, and is left alone", path)
			}
		}
	}
	if command == nil || !all.changed() {
		return
	}
	if all.rules != nil {
		if instead := client.RulesInstead(all.rules.Path); instead != "" {
			c.remark("%s reads %s in place of %s", client.Title, line(instead), line(all.rules.Path))
		}
	}
	if all.rules == nil && !f.noRules && client.RulesPath(c.machine(), clients.Project) != "" {
		c.remark("%s has files of rules in projects alone: --project writes one", client.Title)
	}
	if all.hooks != nil && all.hooks.Changed() && client.Name == "codex" {
		c.remark("Codex runs no hook before it is trusted: open /hooks in it")
	}
}

// printChange prints the lines that a change takes out and puts in.
func (c *cli) printChange(change *clients.Change) error {
	if !change.Changed() {
		return c.printf("nothing would change in %s\n", line(change.Path))
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
	if err := c.printf("%s, from line %d:\n", line(change.Path), same+1); err != nil {
		return err
	}
	for _, l := range old {
		if err := c.printf("%s\n", c.paint(styleRed, "- "+line(l))); err != nil {
			return err
		}
	}
	for _, l := range now {
		if err := c.printf("%s\n", c.paint(styleGreen, "+ "+line(l))); err != nil {
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
