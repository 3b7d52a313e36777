package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/clients"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

// serverName is the name of the entry in clients' files.
const serverName = clients.Name

// integrationJSON is what was, or would be, done to a client's file.
type integrationJSON struct {
	Client  string           `json:"client"`
	Level   clients.Level    `json:"level" shape:"user|project"`
	Path    string           `json:"path"`
	Changed bool             `json:"changed"`
	DryRun  bool             `json:"dry_run"`
	Backup  ops.Text         `json:"backup"` // of the file before
	Command ops.List[string] `json:"command"`
	Hooks   *editedJSON      `json:"hooks"` // nil where none are written
	Rules   *rulesJSON       `json:"rules"` // the same
}

// editedJSON is what was, or would be, done to a file beside that of the entry.
type editedJSON struct {
	Path    string   `json:"path"`
	Changed bool     `json:"changed"`
	Backup  ops.Text `json:"backup"`
}

// rulesJSON is what was, or would be, done to the file that tells agents how to use the memory.
type rulesJSON struct {
	editedJSON
	Kept ops.Text `json:"kept" shape:"edited|foreign|null"` // why it is left alone
}

// clientJSON is a client's file and what it has.
type clientJSON struct {
	Client  string           `json:"client"`
	Title   string           `json:"title"`
	Level   clients.Level    `json:"level" shape:"user|project"`
	Path    string           `json:"path"`
	State   string           `json:"state" shape:"integrated|absent|damaged"`
	Command ops.List[string] `json:"command"`                                               // that starts the server, empty where there is none
	Hooks   ops.Text         `json:"hooks" shape:"integrated|outdated|absent|damaged|null"` // null where there can be none
	Rules   ops.Text         `json:"rules" shape:"integrated|outdated|edited|foreign|absent|damaged|null"`
	file    string           // that has the hooks
	rules   string           // that has the rules
}

type clientsJSON struct {
	Clients ops.List[clientJSON] `json:"clients"`
}

const (
	stateIntegrated = "integrated"
	stateAbsent     = "absent"
	stateDamaged    = "damaged"
	stateOutdated   = "outdated"
)

// integration are the flags of integrate and unintegrate.
type integration struct {
	project, print, dryRun, list, replace, noHooks, noRules, all bool
}

func (c *cli) integrateCommand() *cobra.Command {
	var f integration
	cmd := &cobra.Command{
		Use:     "integrate CLIENT | integrate --all | integrate --list",
		GroupID: groupStart,
		Short:   "Connect an agent's client to this memory over MCP",
		Long: "Add to the configuration of an MCP client what starts 'mnem mcp', and to that of Claude Code, Codex,\n" +
			"Gemini CLI, OpenCode and Cursor what calls 'mnem hook', unless --no-hooks is given. Leave the rest of\n" +
			"the file as it is, comments included. The file as it was stays beside it, with " + clients.Backup + "\n" +
			"after its name. Doing it again changes nothing but what is out of date. A file that cannot be\n" +
			"read is left alone.\n\n" +
			"Agents are told when to ask the memory and what to keep in it, unless --no-rules is given: by a skill\n" +
			"of Claude Code, a section of AGENTS.md for Codex, OpenCode and Zed and of GEMINI.md for Gemini CLI, a rule\n" +
			"of Continue, instructions of VS Code, and with --project by a rule of Cursor. Once you have edited that\n" +
			"it is yours, and left alone.\n\n" +
			"Clients are " + clientNames() + ".\n" +
			"--all integrates each of which the program, the file or something in its directory is on this machine,\n" +
			"and says of each what became of it.\n\n" +
			"By default the entry is the user's, for all projects. Claude Code, Codex, Gemini CLI and OpenCode\n" +
			"start servers in the directory they work in, whose repository is then used; for others the entry names\n" +
			"that of --repo, --global or the working directory. One that names another repository than this is\n" +
			"left alone unless --replace is given. --project writes the project's own file, beside its\n" +
			"repository, with this program's path: think before you share it.",
		Example: "  mnem integrate claude-code\n  mnem integrate cursor --print\n  mnem integrate --all\n" +
			"  mnem integrate codex --dry-run\n  mnem integrate --list",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: clientList(),
	}
	f.add(cmd, "integrate each client that is on this machine")
	cmd.Flags().BoolVar(&f.print, "print", false, "print the entry and where it goes, and write nothing")
	cmd.Flags().BoolVar(&f.list, "list", false, "list the clients, their files and what these have")
	cmd.Flags().BoolVar(&f.noHooks, "no-hooks", false, "write no hooks: the memory is filled by tools alone")
	cmd.Flags().BoolVar(&f.noRules, "no-rules", false, "do not tell agents how to use the memory")
	cmd.Flags().BoolVar(&f.replace, "replace", false, "replace an entry that names another repository")
	cmd.MarkFlagsMutuallyExclusive("print", "dry-run", "list")
	cmd.MarkFlagsMutuallyExclusive("all", "print", "list")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		if f.list {
			if len(args) > 0 {
				return usagef("--list takes no client")
			}
			return c.listClients()
		}
		if f.all {
			return c.eachClient(cmd.Context(), f, args, true)
		}
		return c.integrateClient(cmd.Context(), f, args)
	})
}

func (c *cli) unintegrateCommand() *cobra.Command {
	var f integration
	cmd := &cobra.Command{
		Use:     "unintegrate CLIENT | unintegrate --all",
		GroupID: groupStart,
		Short:   "Remove what integrate wrote",
		Long: "Take the entry, the hooks and the rules that 'mnem integrate' made out of the files of a client, and\n" +
			"leave the rest of the files as it is. A file that integrate made is removed. Rules that you have\n" +
			"edited are left alone. The memory stays.",
		Example:   "  mnem unintegrate claude-code\n  mnem unintegrate cursor --project --dry-run",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: clientList(),
	}
	f.add(cmd, "take what was written for any client")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		if f.all {
			return c.eachClient(cmd.Context(), f, args, false)
		}
		client, path, err := c.clientFile(f, args)
		if err != nil {
			return err
		}
		all, err := c.removals(client, f, path)
		if err != nil {
			return damagedHint(err)
		}
		return c.applyEdits(cmd.Context(), client, f, all, nil)
	})
}

func (f *integration) add(cmd *cobra.Command, all string) {
	cmd.Flags().BoolVar(&f.all, "all", false, all)
	cmd.Flags().BoolVar(&f.project, "project", false, "the file of the project, not the user's")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "print what would change and write nothing")
}

func clientList() []string {
	var names []string
	for _, client := range clients.All() {
		names = append(names, client.Name)
	}
	return names
}

func clientNames() string {
	names := clientList()
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// level returns whose file is meant.
func (f *integration) level() clients.Level {
	if f.project {
		return clients.Project
	}
	return clients.User
}

// machine returns where clients keep their files.
func (c *cli) machine() clients.Machine {
	m := clients.Machine{
		OS: runtime.GOOS, Home: c.app.Home, Config: c.app.Config, Codex: c.env("CODEX_HOME"),
		Claude: c.env("CLAUDE_CONFIG_DIR"),
	}
	if m.Home != "" {
		m.XDG = filepath.Join(m.Home, ".config")
	}
	if xdg := c.env("XDG_CONFIG_HOME"); filepath.IsAbs(xdg) {
		m.XDG = xdg
	}
	if m.OS != "windows" && m.OS != "darwin" {
		m.Config = m.XDG
	}
	m.Has = func(program string) bool {
		if c.app.LookPath == nil {
			return false
		}
		_, err := c.app.LookPath(program)
		return err == nil
	}
	if dir, err := c.dir(); err == nil && !c.global.user {
		m.Project = dir
	}
	return m
}

// clientFile returns the client that is named and its file.
func (c *cli) clientFile(f integration, args []string) (clients.Client, string, error) {
	if len(args) == 0 {
		return clients.Client{}, "", usagef("name a client: %s", clientNames())
	}
	client, ok := clients.Find(args[0])
	if !ok {
		return client, "", hint(&repo.NotFoundError{What: "client", Name: args[0]},
			"there are %s", clientNames())
	}
	if f.project {
		if _, err := c.dir(); err != nil {
			return client, "", err
		}
		if c.global.user {
			return client, "", usagef("--project and --global exclude each other")
		}
	}
	path := client.Path(c.machine(), f.level())
	if path == "" && f.project {
		return client, "", usagef("%s has no file of a project", client.Title)
	}
	if path == "" {
		return client, "", fmt.Errorf("%w: the system names no directory for the file of %s",
			store.ErrNotFound, client.Title)
	}
	return client, path, nil
}

// serverEntry returns what starts the server for a client.
func (c *cli) serverEntry(client clients.Client, f integration) (clients.Entry, error) {
	e := clients.Entry{Command: c.app.Executable, Args: []string{"mcp"}}
	if e.Command == "" {
		return e, fmt.Errorf("%w: the system does not name this program's file", store.ErrNotFound)
	}
	named := c.global.repo != "" || c.env("MNEM_REPO") != ""
	switch {
	case c.global.user:
		_, err := c.hasGlobal()
		e.Args = append(e.Args, "--global")
		return e, err
	case client.Here && (f.project || !named):
		return e, nil
	case f.project && client.Folder != "":
		e.Args = append(e.Args, "--repo", client.Folder)
		return e, nil
	}
	dir, err := c.dir()
	if err != nil {
		return e, err
	}
	if _, err := c.repoFile(""); err != nil {
		return e, err
	}
	e.Args = append(e.Args, "--repo", dir)
	return e, nil
}

func (c *cli) integrateClient(ctx context.Context, f integration, args []string) error {
	client, path, err := c.clientFile(f, args)
	if err != nil {
		return err
	}
	e, err := c.serverEntry(client, f)
	if err != nil {
		return err
	}
	if f.print {
		return c.printIntegration(client, f, path, e)
	}
	all, err := c.additions(client, f, path, e)
	if err != nil {
		return damagedHint(err)
	}
	return c.applyEdits(ctx, client, f, all, words(e))
}

// mayMove refuses to take a client away from another repository, which the entry names: its agent
// would write into this one without being told.
func (c *cli) mayMove(client clients.Client, f integration, old, now clients.Entry) error {
	was, is := memoryOf(old.Args), memoryOf(now.Args)
	switch {
	case was == "", sameDir(was, is), was != globalMemory && (is == "" || !isRepo(was)):
		return nil
	}
	next := "--replace makes it start this one"
	if !f.project && client.Path(c.machine(), clients.Project) != "" {
		next = "--project integrates this project alone, and " + next
	}
	return hint(fmt.Errorf("%w: %s starts mnem for another repository, %s", repo.ErrConflict,
		client.Title, was), "%s; with --global it starts the user's own, for all projects", next)
}

// globalMemory stands for the user's own repository.
const globalMemory = "--global"

// memoryOf returns the directory whose repository an entry names, globalMemory, or "" where it names
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
	_, err := os.Stat(filepath.Join(dir, repo.DirName))
	return err == nil
}

// sameDir reports whether two paths lead to the same directory.
func sameDir(a, b string) bool {
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

func words(e clients.Entry) []string { return append([]string{e.Command}, e.Args...) }

func damagedHint(err error) error {
	if errors.Is(err, clients.ErrDamaged) {
		return hint(fmt.Errorf("%w: %w", repo.ErrInvalid, err),
			"the file was left alone: repair it, or add by hand what --print prints")
	}
	return err
}
