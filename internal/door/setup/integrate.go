package setup

import (
	"context"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/mnem-project/mnem/internal/agent/clients"
	"github.com/mnem-project/mnem/internal/agent/integrate"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
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

// clientFile returns the client that is named and its file.
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
	if q.Remove {
		all, err := s.Edits(client, path, nil)
		if err != nil {
			return err
		}
		return applyEdits(ctx, c, s, client, all, nil)
	}
	e, err := s.Entry(client)
	if err != nil {
		return err
	}
	if q.Print {
		return printIntegration(c, s, client, path, e)
	}
	all, err := s.Edits(client, path, &e)
	if err != nil {
		return err
	}
	return applyEdits(ctx, c, s, client, all, integrate.Command(e))
}
