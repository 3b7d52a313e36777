package integrate

import (
	"context"
	"errors"
	"slices"

	"github.com/mnem-project/mnem/internal/clients"
	"github.com/mnem-project/mnem/internal/filestate"
	"github.com/mnem-project/mnem/ops"
)

// Edits are what is done to the files of a client; nil for those that are left alone.
type Edits struct {
	Entry, Hooks, Rules *clients.Change
	Kept                string // why rules that are there stay as they are, "" where they do not
}

// All returns the edits in the order in which they are written.
func (e Edits) All() []*clients.Change {
	return slices.DeleteFunc([]*clients.Change{e.Entry, e.Hooks, e.Rules},
		func(c *clients.Change) bool { return c == nil })
}

// Changed reports whether any file would be another one.
func (e Edits) Changed() bool {
	return slices.ContainsFunc(e.All(), (*clients.Change).Changed)
}

// Edits returns what integrates a client by an entry, nil to take its integration away.
func (s *Setup) Edits(client clients.Client, path string, e *clients.Entry) (out Edits, err error) {
	setHooks, setRules := client.SetHooks, client.SetRules
	if e == nil {
		setHooks, setRules = client.RemoveHooks, client.RemoveRules
		out.Entry, err = client.Remove(path, s.hooks())
	} else {
		out.Entry, err = client.Set(path, clients.Name, *e, func(old clients.Entry) error {
			if s.Replace {
				return nil
			}
			return s.mayMove(client, old, *e)
		})
	}
	hooks, rules := s.Besides(client)
	if err == nil && hooks != "" {
		out.Hooks, err = setHooks(hooks, s.hooks())
	}
	if err == nil && rules != "" {
		if out.Rules, err = setRules(rules); err == nil {
			out.Kept, err = keptRules(client, rules)
		}
	}
	return out, hinted(err)
}

// Besides returns the files of hooks and of rules, "" for those that there are not or that are not wanted.
func (s *Setup) Besides(client clients.Client) (hooks, rules string) {
	m := s.Machine
	if !s.NoHooks {
		hooks = client.HooksPath(m, s.Level)
	}
	if !s.NoRules {
		rules = client.RulesPath(m, s.Level)
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

// Write writes edits unless it is a dry run, and returns the paths of the files before. Where one cannot be
// written those before it are taken back.
func (s *Setup) Write(
	ctx context.Context, client clients.Client, all Edits,
) (map[*clients.Change]ops.Text, error) {
	backups := map[*clients.Change]ops.Text{}
	if s.DryRun {
		return backups, nil
	}
	root := client.Root(s.Machine, s.Level)
	var done []*clients.Change
	for _, change := range all.All() {
		change.Root = root
		if change == all.Rules {
			change.Root = client.RulesRoot(s.Machine, s.Level)
		}
		backup, err := change.Write(ctx)
		if err != nil {
			for _, written := range slices.Backward(done) {
				err = errors.Join(err, written.Undo(context.WithoutCancel(ctx)))
			}
			if errors.Is(err, filestate.ErrMoved) {
				err = ops.Hintf(err, "run the command again")
			}
			return nil, hinted(err)
		}
		backups[change] = ops.Text(backup)
		done = append(done, change)
	}
	return backups, nil
}

// Report returns what was done to a client's files.
func (s *Setup) Report(
	client clients.Client, all Edits, backups map[*clients.Change]ops.Text, command []string,
) Done {
	out := Done{
		Client: client.Name, Level: s.Level, Path: all.Entry.Path, Changed: all.Entry.Changed(), DryRun: s.DryRun,
		Backup: backups[all.Entry], Command: command,
	}
	beside := func(change *clients.Change) Edited {
		return Edited{Path: change.Path, Changed: change.Changed(), Backup: backups[change]}
	}
	if all.Hooks != nil {
		hooks := beside(all.Hooks)
		out.Hooks = &hooks
	}
	if all.Rules != nil {
		out.Rules = &Rules{beside(all.Rules), ops.Text(all.Kept)}
	}
	return out
}

// Done is what was, or would be, done to a client's file.
type Done struct {
	Client  string           `json:"client"`
	Level   clients.Level    `json:"level" shape:"user|project"`
	Path    string           `json:"path"`
	Changed bool             `json:"changed"`
	DryRun  bool             `json:"dry_run"`
	Backup  ops.Text         `json:"backup"` // of the file before
	Command ops.List[string] `json:"command"`
	Hooks   *Edited          `json:"hooks"` // nil where none are written
	Rules   *Rules           `json:"rules"` // the same
}

// Edited is what was, or would be, done to a file beside that of the entry.
type Edited struct {
	Path    string   `json:"path"`
	Changed bool     `json:"changed"`
	Backup  ops.Text `json:"backup"`
}

// Rules is what was, or would be, done to the file that tells agents how to use the memory.
type Rules struct {
	Edited
	Kept ops.Text `json:"kept" shape:"edited|foreign|null"` // why it is left alone
}
