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
	"github.com/mnem-project/mnem/internal/filestate"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

// serverName is the name of the entry in clients' files.
const serverName = "mnem"

// integrationJSON is what was, or would be, done to a client's file.
type integrationJSON struct {
	Client  string           `json:"client"`
	Level   clients.Level    `json:"level" shape:"user|project"`
	Path    string           `json:"path"`
	Changed bool             `json:"changed"`
	DryRun  bool             `json:"dry_run"`
	Backup  ops.Text         `json:"backup"` // of the file before
	Command ops.List[string] `json:"command"`
}

// clientJSON is a client's file and what it has.
type clientJSON struct {
	Client  string           `json:"client"`
	Title   string           `json:"title"`
	Level   clients.Level    `json:"level" shape:"user|project"`
	Path    string           `json:"path"`
	State   string           `json:"state" shape:"integrated|absent|damaged"`
	Command ops.List[string] `json:"command"` // that starts the server, empty where there is none
}

type clientsJSON struct {
	Clients ops.List[clientJSON] `json:"clients"`
}

const (
	stateIntegrated = "integrated"
	stateAbsent     = "absent"
	stateDamaged    = "damaged"
)

// integration are the flags of integrate and unintegrate.
type integration struct {
	project, print, dryRun, list, replace bool
}

func (c *cli) integrateCommand() *cobra.Command {
	var f integration
	cmd := &cobra.Command{
		Use:     "integrate CLIENT | integrate --list",
		GroupID: groupStart,
		Short:   "Make a client's agent use this memory, by MCP",
		Long: "Add to the configuration of an MCP client what starts 'mnem mcp', and leave the rest of the\n" +
			"file as it is, comments included. The file as it was stays beside it, with " + clients.Backup + "\n" +
			"after its name. Doing it again changes nothing but what is out of date. A file that cannot be\n" +
			"read is left alone.\n\n" +
			"Clients are " + clientNames() + ".\n\n" +
			"By default the entry is the user's, for all projects. Claude Code, Codex and Gemini CLI start\n" +
			"servers in the directory they work in, whose repository is then used; for others the entry names\n" +
			"that of --repo, --global or the working directory. One that names another repository than this is\n" +
			"left alone unless --replace is given. --project writes the project's own file, beside its\n" +
			"repository, with this program's path: think before you share it.",
		Example: "  mnem integrate claude-code\n  mnem integrate cursor --print\n" +
			"  mnem integrate codex --dry-run\n  mnem integrate --list",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: clientList(),
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.print, "print", false, "print the entry and where it goes, and write nothing")
	cmd.Flags().BoolVar(&f.list, "list", false, "list the clients, their files and what these have")
	cmd.Flags().BoolVar(&f.replace, "replace", false, "replace an entry that names another repository")
	cmd.MarkFlagsMutuallyExclusive("print", "dry-run", "list")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		if f.list {
			if len(args) > 0 {
				return usagef("--list takes no client")
			}
			return c.listClients()
		}
		return c.integrateClient(cmd.Context(), f, args)
	})
}

func (c *cli) unintegrateCommand() *cobra.Command {
	var f integration
	cmd := &cobra.Command{
		Use:     "unintegrate CLIENT",
		GroupID: groupStart,
		Short:   "Take back what integrate wrote",
		Long: "Take the entry that 'mnem integrate' made out of the configuration of a client, and leave the\n" +
			"rest of the file as it is. A file that integrate made is removed. The memory stays.",
		Example:   "  mnem unintegrate claude-code\n  mnem unintegrate cursor --project --dry-run",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: clientList(),
	}
	f.add(cmd)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		client, path, err := c.clientFile(f, args)
		if err != nil {
			return err
		}
		change, err := client.Remove(path, serverName)
		if err != nil {
			return damagedHint(err)
		}
		return c.applyChange(cmd.Context(), client, f, change, nil)
	})
}

func (f *integration) add(cmd *cobra.Command) {
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
		return c.printf("%s", printable(text)+"\n")
	}
	change, err := client.Set(path, serverName, e, func(old clients.Entry) error {
		if f.replace {
			return nil
		}
		return c.mayMove(client, f, old, e)
	})
	if err != nil {
		return damagedHint(err)
	}
	return c.applyChange(ctx, client, f, change, words(e))
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

// applyChange writes the change of a client's file, or prints it in a dry run.
func (c *cli) applyChange(
	ctx context.Context, client clients.Client, f integration, change *clients.Change, command []string,
) error {
	out := integrationJSON{
		Client: client.Name, Level: f.level(), Path: change.Path, DryRun: f.dryRun,
		Command: command,
	}
	if !f.dryRun {
		backup, err := change.Write(ctx)
		if errors.Is(err, filestate.ErrMoved) {
			err = hint(err, "run the command again")
		}
		if err != nil {
			return damagedHint(err)
		}
		out.Backup = ops.Text(backup)
	}
	out.Changed = change.Changed()
	switch {
	case c.global.json:
		return c.printJSON(out)
	case f.dryRun:
		return c.printChange(change)
	case !out.Changed && command == nil:
		return c.printf("%s has no entry %s in %s\n", client.Title, serverName, line(change.Path))
	case !out.Changed:
		return c.printf("%s is integrated already, by %s\n", client.Title, line(change.Path))
	case command == nil:
		return c.printf("took %s out of %s\n", serverName, line(change.Path))
	}
	if err := c.printf("%s starts '%s', by %s\n", client.Title, line(strings.Join(command, " ")),
		line(change.Path)); err != nil {
		return err
	}
	c.remark("restart %s to use it; 'mnem doctor' checks it", client.Title)
	return nil
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

// clientStates returns each file of each client that there can be here, and what it has.
func (c *cli) clientStates() (out ops.List[clientJSON]) {
	m := c.machine()
	for _, client := range clients.All() {
		for _, level := range []clients.Level{clients.User, clients.Project} {
			path := client.Path(m, level)
			if path == "" {
				continue
			}
			row := clientJSON{
				Client: client.Name, Title: client.Title, Level: level, Path: path, State: stateAbsent,
			}
			e, ok, err := client.Get(path, serverName)
			switch {
			case err != nil:
				row.State = stateDamaged
			case ok:
				row.State, row.Command = stateIntegrated, words(e)
			}
			out = append(out, row)
		}
	}
	return out
}

func (c *cli) listClients() error {
	list := c.clientStates()
	if c.global.json {
		return c.printJSON(clientsJSON{list})
	}
	head := func(s string) cell { return cell{s, styleDim} }
	rows := [][]cell{{head("client"), head("level"), head("state"), head("file")}}
	for _, row := range list {
		style := map[string]string{stateIntegrated: styleGreen, stateDamaged: styleRed}[row.State]
		rows = append(rows, []cell{
			{row.Client, styleBold}, {string(row.Level), ""}, {row.State, style}, {line(row.Path), ""},
		})
	}
	return c.table(slices.Clip(rows))
}
