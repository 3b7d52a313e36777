// Package integrate connects the clients of agents to a memory: it sets up the entries that start 'mnem mcp', the hooks
// that call 'mnem hook', and the rules that tell agents how to use a memory. Package clients knows the file formats;
// this package decides what to write, whether it may be written, and whether an existing setup is correct.
package integrate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/agent/clients"
	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
)

// Setup describes an integration.
type Setup struct {
	Machine          clients.Machine
	Program          string        // the file of this program
	Level            clients.Level // whose files
	NoHooks, NoRules bool
	Replace          bool // whether an entry may be taken from another repository
	DryRun           bool

	// Global is whether the user's own repository is meant, and Named whether a repository was named.
	Global, Named bool
	// Repo returns the directory of the repository, which must exist; Own returns that of the user's own.
	Repo, Own func() (string, error)
}

func (s *Setup) project() bool { return s.Level == clients.Project }

func (s *Setup) hooks() clients.Setup {
	return clients.Setup{Name: clients.Name, Entry: clients.ServerCommand{Command: s.Program}, OS: runtime.GOOS}
}

// HooksText returns a file that has our hooks only.
func (s *Setup) HooksText(client clients.Client) (string, error) { return client.HooksText(s.hooks()) }

// Names returns the names of clients.
func Names() (names []string) {
	for _, client := range clients.All() {
		names = append(names, client.Name)
	}
	return names
}

// NamesText lists them in a sentence.
func NamesText() string {
	names := Names()
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// File returns the client of a name and its file.
func (s *Setup) File(name string) (clients.Client, string, error) {
	client, ok := clients.Find(name)
	if !ok {
		return client, "", verb.Hintf(&state.NotFoundError{What: "client", Name: name}, "there are %s", NamesText())
	}
	path := client.Path(s.Machine, s.Level)
	if path == "" && s.project() {
		return client, "", verb.Usagef("%s has no file of a project", client.Title)
	}
	if path == "" {
		return client, "", fmt.Errorf("%w: the system names no directory for the file of %s",
			store.ErrNotFound, client.Title)
	}
	return client, path, nil
}

// Entry returns what starts the server for a client.
func (s *Setup) Entry(client clients.Client) (clients.ServerCommand, error) {
	e := clients.ServerCommand{Command: s.Program, Args: []string{"mcp"}}
	if e.Command == "" {
		return e, fmt.Errorf("%w: the system does not name this program's file", store.ErrNotFound)
	}
	switch {
	case s.Global:
		_, err := s.Own()
		e.Args = append(e.Args, globalMemory)
		return e, err
	case s.project() && client.Folder != "":
		e.Args = append(e.Args, "--repo", client.Folder)
		return e, nil
	case client.Here && (s.project() || !s.Named):
		return e, nil
	}
	dir, err := s.Repo()
	e.Args = append(e.Args, "--repo", dir)
	return e, err
}

// mayMove refuses to take a client away from another repository, which the entry names: its agent
// would write into this one without being told.
func (s *Setup) mayMove(client clients.Client, old, now clients.ServerCommand) error {
	was, is := memoryOf(old.Args), memoryOf(now.Args)
	switch {
	case was == "", SameDir(was, is), was != globalMemory && (is == "" || !isRepo(was)):
		return nil
	}
	next := "--force makes it start this one"
	if !s.project() && client.Path(s.Machine, clients.Project) != "" {
		next = "--project integrates this project alone, and " + next
	}
	return verb.Hintf(fmt.Errorf("%w: %s starts mnem for another repository, %s", state.ErrConflict,
		client.Title, was), "%s; with --global it starts the user's own, for all projects", next)
}

// globalMemory stands for the user's own repository.
const globalMemory = "--global"

// memoryOf returns the directory whose repository an entry names, globalMemory, or "" if it names
// none and so is for whichever project it is started in.
func memoryOf(args []string) string {
	if slices.Contains(args, globalMemory) {
		return globalMemory
	}
	if i := slices.Index(args, "--repo"); i >= 0 && i+1 < len(args) && filepath.IsAbs(args[i+1]) {
		return args[i+1]
	}
	return ""
}

func isRepo(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, core.DirName))
	return err == nil
}

// SameDir reports whether two paths lead to the same directory.
func SameDir(a, b string) bool {
	if a == b {
		return true
	}
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// Command is the command line of an entry.
func Command(e clients.ServerCommand) []string { return append([]string{e.Command}, e.Args...) }

func hinted(err error) error {
	if errors.Is(err, clients.ErrDamaged) {
		return verb.Hintf(fmt.Errorf("%w: %w", state.ErrInvalid, err),
			"the file was left alone: repair it, or add by hand what --print prints")
	}
	return err
}

// Edits are the changes to a client's files; nil for a file that is left alone.
type Edits struct {
	Entry, Hooks, Rules *clients.FileEdit
	Kept                string // why rules that are there stay as they are, "" if they do not
}

// All returns the edits in the order in which they are written.
func (e Edits) All() []*clients.FileEdit {
	return slices.DeleteFunc([]*clients.FileEdit{e.Entry, e.Hooks, e.Rules},
		func(c *clients.FileEdit) bool { return c == nil })
}

// Changed reports whether any file would be another one.
func (e Edits) Changed() bool {
	return slices.ContainsFunc(e.All(), (*clients.FileEdit).Changed)
}

// Edits returns what integrates a client by an entry, nil to take its integration away.
func (s *Setup) Edits(client clients.Client, path string, e *clients.ServerCommand) (out Edits, err error) {
	setHooks, setRules := client.SetHooks, client.SetRules
	if e == nil {
		setHooks, setRules = client.RemoveHooks, client.RemoveRules
		out.Entry, err = client.Remove(path, s.hooks())
	} else {
		out.Entry, err = client.Set(path, clients.Name, *e, func(old clients.ServerCommand) error {
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

// keptRules says why rules are left alone, "" if they are not.
func keptRules(client clients.Client, path string) (string, error) {
	state, err := client.Rules(path)
	if state != clients.RulesEdited && state != clients.RulesForeign {
		state = ""
	}
	return state, err
}

// Write writes edits unless it is a dry run, and returns the paths of the files before. If one cannot be
// written those before it are taken back.
func (s *Setup) Write(ctx context.Context, client clients.Client, all Edits) (map[*clients.FileEdit]verb.Text, error) {
	backups := map[*clients.FileEdit]verb.Text{}
	if s.DryRun {
		return backups, nil
	}
	root := client.Root(s.Machine, s.Level)
	var done []*clients.FileEdit
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
				err = verb.Hintf(err, "run the command again")
			}
			return nil, hinted(err)
		}
		backups[change] = verb.Text(backup)
		done = append(done, change)
	}
	return backups, nil
}

// Report returns what was done to a client's files.
func (s *Setup) Report(
	client clients.Client, all Edits, backups map[*clients.FileEdit]verb.Text, command []string,
) Done {
	out := Done{
		Client: client.Name, Level: s.Level, Path: all.Entry.Path, Changed: all.Entry.Changed(), DryRun: s.DryRun,
		Backup: backups[all.Entry], Command: command,
	}
	beside := func(change *clients.FileEdit) Edited {
		return Edited{Path: change.Path, Changed: change.Changed(), Backup: backups[change]}
	}
	if all.Hooks != nil {
		hooks := beside(all.Hooks)
		out.Hooks = &hooks
	}
	if all.Rules != nil {
		out.Rules = &Rules{beside(all.Rules), verb.Text(all.Kept)}
	}
	return out
}

// Done reports the change to a client's file, made or planned.
type Done struct {
	Client  string        `json:"client"`
	Level   clients.Level `json:"level" shape:"user|project"`
	Path    string        `json:"path"`
	Changed bool          `json:"changed"`
	DryRun  bool          `json:"dry_run"`
	Backup  verb.Text     `json:"backup"` // of the file before
	Command []string      `json:"command"`
	Hooks   *Edited       `json:"hooks"` // nil if none are written
	Rules   *Rules        `json:"rules"` // the same
}

// Edited reports the change to a further file of a client, made or planned.
type Edited struct {
	Path    string    `json:"path"`
	Changed bool      `json:"changed"`
	Backup  verb.Text `json:"backup"`
}

// Rules reports the change to a client's rules file, made or planned.
type Rules struct {
	Edited
	Kept verb.Text `json:"kept" shape:"edited|foreign|null"` // why it is left alone
}
