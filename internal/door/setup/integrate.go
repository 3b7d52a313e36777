package setup

import (
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/agent/clients"
	"github.com/mnem-project/mnem/internal/agent/integrate"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/verb"
)

type clientsJSON struct {
	Clients []integrate.State `json:"clients"`
}

type (
	// Integration names what integrate writes to.
	Integration struct {
		Client  string `op:",arg"`
		Project bool   `op:"" doc:"the file of the project, not the user's"`
		DryRun  bool   `op:"" doc:"print what would change and write nothing"`
	}
	integrateRequest struct {
		Integration
		All     bool     `op:"" not:"print list" doc:"integrate each client that is on this machine"`
		Print   bool     `op:"" not:"dry-run list" doc:"print the entry and where it goes, and write nothing"`
		List    bool     `op:"" not:"dry-run" doc:"list the clients, their files and what these have"`
		Without []string `op:",comma" enum:"hooks rules" doc:"leave out {PARTS}: hooks, which record conversations, or rules for agents"`
		Replace bool     `op:"force" doc:"replace an entry that names another repository"`
		Remove  bool     `op:"" not:"print list without force" doc:"remove what integrate wrote; with --all for every client"`
	}
)

// IntegrateCommands are the commands that connect clients.
func IntegrateCommands() []*line.Bound {
	return []*line.Bound{
		reach.Local(verb.Spec{
			Command: "integrate", Right: verb.OwnRight,
			Usage: "CLIENT | integrate --all | integrate --list", Args: "[CLIENT]", Group: line.GroupStart, Title: "Connect an agent's client to this memory over MCP", Complete: "client",
			Doc: "Add an entry that starts 'mnem mcp' to the configuration of an MCP client, and for Claude Code, Codex,\n" +
				"Gemini CLI, OpenCode, Cursor, Copilot CLI and Cline the hooks that call 'mnem hook', unless\n" +
				"--without hooks is given. The rest of the file stays as it is, comments included. The original is kept\n" +
				"next to it, with " + clients.Backup + " after its name. Running it again changes only what is out of date.\n" +
				"A file that cannot be read is left alone.\n\n" +
				"Unless --without rules is given, rules tell agents when to ask the memory and what to keep in it: a\n" +
				"skill of Claude Code, a section of AGENTS.md for Codex, OpenCode and Zed and of GEMINI.md for Gemini\n" +
				"CLI, a rule of Continue, instructions of VS Code, and with --project a rule of Cursor. A rule that you\n" +
				"have edited is yours, and left alone.\n\n" +
				"Clients are\n" + integrate.NamesText() + ".\n" +
				"--all integrates every client whose program, file or directory is on this machine, and reports each.\n\n" +
				"By default the entry is the user's, for all projects: the server uses the repository of the folder that\n" +
				"the client has open. With --repo or --global the entry names one; that for Claude Desktop, which opens no\n" +
				"folders, always does. An entry that names another repository is left alone unless --force is given.\n" +
				"--project writes the project's own file, with this program's path: think before you share it.\n\n" +
				"--remove takes the entry, the hooks and the rules out of a client's files again, and leaves the rest\n" +
				"as it is. A file that integrate made is removed. The memory stays.",
			Example: "  mnem integrate claude-code\n  mnem integrate cursor --print\n  mnem integrate --all\n" +
				"  mnem integrate codex --dry-run\n  mnem integrate --list\n  mnem integrate cursor --remove", Answers: []any{integrate.Done{}, integrationsJSON{}, clientsJSON{}},
		}, runIntegrate),
	}
}

func runIntegrate(ctx context.Context, c *line.Line, q *integrateRequest) error {
	switch {
	case q.List && q.Client != "":
		return line.Usagef("--list takes no client")
	case q.List:
		return listClients(c)
	}
	for _, part := range q.Without {
		if part != "hooks" && part != "rules" {
			return line.Usagef("--without: %q is neither hooks nor rules", part)
		}
	}
	s := Integrating(c, q.Integration)
	s.NoHooks, s.NoRules, s.Replace = slices.Contains(q.Without, "hooks"), slices.Contains(q.Without, "rules"), q.Replace
	if q.All {
		return eachClient(ctx, c, s, q.Integration, !q.Remove)
	}
	return integrateClient(ctx, c, s, q)
}

// machine returns where clients keep their files.
func machine(c *line.Line) clients.Machine {
	m := clients.Machine{
		OS: runtime.GOOS, Home: c.App.Home, Config: c.App.Config, Codex: c.Env("CODEX_HOME"),
		Claude: c.Env("CLAUDE_CONFIG_DIR"),
	}
	if m.Home != "" {
		m.XDG = filepath.Join(m.Home, ".config")
	}
	if xdg := c.Env("XDG_CONFIG_HOME"); filepath.IsAbs(xdg) {
		m.XDG = xdg
	}
	if m.OS != "windows" && m.OS != "darwin" {
		m.Config = m.XDG
	}
	m.Has = func(program string) bool {
		if c.App.LookPath == nil {
			return false
		}
		_, err := c.App.LookPath(program)
		return err == nil
	}
	if dir, err := c.Dir(); err == nil && !c.Global.User {
		m.Project = dir
	}
	return m
}

// Integrating returns what integrates clients, as flags say.
func Integrating(c *line.Line, f Integration) *integrate.Setup {
	s := &integrate.Setup{
		Machine: machine(c), Program: c.App.Executable, Level: clients.User,
		DryRun: f.DryRun, Global: c.Global.User, Named: c.Global.Repo != "" || c.Env("MNEM_REPO") != "",
		Own: c.HasGlobal, Repo: func() (string, error) {
			dir, err := c.Dir()
			if err == nil {
				_, err = c.RepoFile("")
			}
			return dir, err
		},
	}
	if f.Project {
		s.Level = clients.Project
	}
	return s
}

func clientFile(c *line.Line, s *integrate.Setup, name string) (clients.Client, string, error) {
	if name == "" {
		return clients.Client{}, "", line.Usagef("name a client: %s", integrate.NamesText())
	}
	if client, ok := clients.Find(name); ok && s.Level == clients.Project {
		if _, err := c.Dir(); err != nil {
			return client, "", err
		}
		if c.Global.User {
			return client, "", line.Usagef("--project and --global exclude each other")
		}
	}
	return s.File(name)
}

func integrateClient(ctx context.Context, c *line.Line, s *integrate.Setup, q *integrateRequest) error {
	client, path, err := clientFile(c, s, q.Client)
	if err != nil {
		return err
	}
	var entry *clients.ServerCommand // nil to take it out
	var command []string
	if !q.Remove {
		e, err := s.Entry(client)
		if err != nil {
			return err
		}
		if q.Print {
			return printIntegration(c, s, client, path, e)
		}
		entry, command = &e, integrate.Command(e)
	}
	all, err := s.Edits(client, path, entry)
	if err != nil {
		return err
	}
	return applyEdits(ctx, c, s, client, all, command)
}

type integrationsJSON struct {
	Level   clients.Level   `json:"level" shape:"user|project"`
	DryRun  bool            `json:"dry_run"`
	Clients []integrate.Row `json:"clients"`
}

var doneStyles = map[string]string{
	integrate.Written: show.Green, integrate.Taken: show.Green, integrate.NoFile: show.Dim, integrate.NotHere: show.Dim, integrate.Failed: show.Red,
}

// eachClient integrates the clients that are on this machine, or takes all of them back. One that fails does not keep
// the others from it, and its exit code becomes that of the command.
func eachClient(ctx context.Context, c *line.Line, s *integrate.Setup, f Integration, add bool) error {
	if f.Client != "" {
		return line.Usagef("--all takes no client")
	}
	if f.Project {
		if _, _, err := clientFile(c, s, integrate.Names()[0]); err != nil {
			return err // it is not the client's fault
		}
	}
	out := integrationsJSON{Level: s.Level, DryRun: f.DryRun}
	for _, client := range clients.All() {
		row, all, err := s.One(ctx, client, add)
		if err != nil {
			row.State, row.Error = integrate.Failed, verb.Text(err.Error())
			row.Hint = verb.Text(line.HintOf(err, false))
			if c.Exit == 0 {
				c.Exit = line.OutcomeOf(ctx, err).Exit
			}
		}
		out.Clients = append(out.Clients, row)
		switch {
		case c.InJSON || all.Entry == nil:
		case !f.DryRun:
			var command []string
			if add {
				command = []string{c.App.Executable}
			}
			remarkEdits(c, s, client, all, command)
		default:
			printChanges(c, all)
		}
	}
	if c.InJSON {
		return c.PrintJSON(out)
	}
	return printAll(c, out, f, add)
}

func printAll(c *line.Line, out integrationsJSON, f Integration, add bool) error {
	var rows [][]show.Cell
	some := false
	for _, row := range out.Clients {
		said := map[string]string{
			integrate.Unchanged: "there already", integrate.Taken: "taken away", integrate.NoFile: "has no file of a " + string(out.Level),
			integrate.NotHere: "not installed",
		}[row.State]
		switch {
		case said == "":
			said = row.State
		case row.State == integrate.Unchanged && !add:
			said = "nothing there"
		}
		if f.DryRun && (row.State == integrate.Written || row.State == integrate.Taken) {
			said = "would be " + said
		}
		some = some || row.State == integrate.Written
		about := ""
		if row.State == integrate.Failed {
			about = line.OneLine(string(row.Error))
		}
		files := row.Files
		if len(files) > 0 {
			about, files = line.OneLine(files[0]), files[1:]
		}
		rows = append(rows, show.Row(row.Client, show.Bold, said, doneStyles[row.State], about, ""))
		for _, file := range files {
			rows = append(rows, show.Row("", "", "", "", line.OneLine(file), ""))
		}
		if row.Hint != "" {
			rows = append(rows, show.Row("", "", "", "", "→ "+line.OneLine(string(row.Hint)), ""))
		}
	}
	c.PutTable(rows)
	if some && !f.DryRun {
		c.Remark("restart them to use it; 'mnem doctor' checks it")
	}
	return c.Failed()
}

var stateStyles = map[string]string{
	integrate.Integrated: show.Green, integrate.Outdated: show.Yellow, integrate.Damaged: show.Red,
}

func listClients(c *line.Line) error {
	list := Integrating(c, Integration{}).States()
	if c.InJSON {
		return c.PrintJSON(clientsJSON{list})
	}
	rows := [][]show.Cell{show.HeadRow("client", "level", "state", "hooks", "rules", "file")}
	for _, row := range list {
		style := map[string]string{integrate.Integrated: show.Green, integrate.Damaged: show.Red}[row.State]
		rows = append(rows, show.Row(row.Client, show.Bold, string(row.Level), "", row.State, style,
			string(row.Hooks), stateStyles[string(row.Hooks)],
			string(row.Rules), stateStyles[string(row.Rules)], line.OneLine(row.Path), ""))
	}
	return c.Table(rows)
}

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
	put := func(path, text string) {
		c.Remark("goes to %s", line.OneLine(path))
		c.Put("%s\n", plain.Lines(text))
	}
	put(path, text)
	hooks, rules := s.Besides(client)
	if hooks != "" {
		if text, err = s.HooksText(client); err != nil {
			return err
		}
		put(hooks, text)
	}
	if rules != "" {
		put(rules, client.RulesText())
	}
	return c.Failed()
}

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
		printChanges(c, all)
		return c.Failed()
	}
	tellEdits(c, client, all, command)
	remarkEdits(c, s, client, all, command)
	if command != nil && all.Changed() {
		c.Remark("restart %s to use it; 'mnem doctor' checks it", client.Title)
	}
	return c.Failed()
}

// tellEdits says what was written, or taken away if there is no command.
func tellEdits(c *line.Line, client clients.Client, all integrate.Edits, command []string) {
	tell := func(change *clients.FileEdit, format string, args ...any) {
		if change != nil && change.Changed() {
			c.Put(format+"\n", append(args, line.OneLine(change.Path))...)
		}
	}
	switch {
	case command == nil && !all.Changed():
		c.Put("%s has no entry %s in %s\n", client.Title, clients.Name, line.OneLine(all.Entry.Path))
	case command == nil:
		tell(all.Entry, "took %s out of %s", clients.Name)
		tell(all.Hooks, "took the hooks out of %s")
		tell(all.Rules, "took the rules out of %s")
	case !all.Changed():
		c.Put("%s is integrated already, by %s\n", client.Title, line.OneLine(all.Entry.Path))
	default:
		tell(all.Entry, "%s starts '%s', by %s", client.Title, line.OneLine(strings.Join(command, " ")))
		tell(all.Hooks, "%s calls '%s hook', by %s", client.Title, line.OneLine(command[0]))
		tell(all.Rules, "%s is told when to use it, by %s", client.Title)
	}
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

// printChanges prints the lines that edits take out and put in.
func printChanges(c *line.Line, all integrate.Edits) {
	for _, change := range all.All() {
		if !change.Changed() {
			c.Put("nothing would change in %s\n", line.OneLine(change.Path))
			continue
		}
		printChange(c, change)
	}
}

func printChange(c *line.Line, change *clients.FileEdit) {
	old, now := textLines(change.Old), textLines(change.New)
	same := 0
	for same < min(len(old), len(now)) && old[same] == now[same] {
		same++
	}
	old, now = old[same:], now[same:]
	for len(old) > 0 && len(now) > 0 && old[len(old)-1] == now[len(now)-1] {
		old, now = old[:len(old)-1], now[:len(now)-1]
	}
	c.Put("%s, from line %d:\n", line.OneLine(change.Path), same+1)
	for _, l := range old {
		c.Put("%s\n", c.Paint(show.Red, "- "+line.OneLine(l)))
	}
	for _, l := range now {
		c.Put("%s\n", c.Paint(show.Green, "+ "+line.OneLine(l)))
	}
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
