package cli

import (
	"context"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/clients"
	"github.com/mnem-project/mnem/internal/integrate"
	"github.com/mnem-project/mnem/ops"
)

type clientsJSON struct {
	Clients ops.List[integrate.State] `json:"clients"`
}

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
			"Clients are " + integrate.NamesText() + ".\n" +
			"--all integrates each of which the program, the file or something in its directory is on this machine,\n" +
			"and says of each what became of it.\n\n" +
			"By default the entry is the user's, for all projects: the server takes the repository of the folder that\n" +
			"the client has open. With --repo or --global the entry names one; that for Claude Desktop, which opens no\n" +
			"folders, always does. One that names another repository than this is left alone unless --replace is\n" +
			"given. --project writes the project's own file, beside its\n" +
			"repository, with this program's path: think before you share it.",
		Example: "  mnem integrate claude-code\n  mnem integrate cursor --print\n  mnem integrate --all\n" +
			"  mnem integrate codex --dry-run\n  mnem integrate --list",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: integrate.Names(),
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
		ValidArgs: integrate.Names(),
	}
	f.add(cmd, "take what was written for any client")
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		if f.all {
			return c.eachClient(cmd.Context(), f, args, false)
		}
		s := c.integrating(f)
		client, path, err := c.clientFile(s, args)
		if err != nil {
			return err
		}
		all, err := s.Edits(client, path, nil)
		if err != nil {
			return err
		}
		return c.applyEdits(cmd.Context(), s, client, all, nil)
	})
}

func (f *integration) add(cmd *cobra.Command, all string) {
	cmd.Flags().BoolVar(&f.all, "all", false, all)
	cmd.Flags().BoolVar(&f.project, "project", false, "the file of the project, not the user's")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "print what would change and write nothing")
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

// integrating returns what integrates clients, as flags say.
func (c *cli) integrating(f integration) *integrate.Setup {
	s := &integrate.Setup{
		Machine: c.machine(), Program: c.app.Executable, Level: clients.User, NoHooks: f.noHooks, NoRules: f.noRules,
		Replace: f.replace, DryRun: f.dryRun, Global: c.global.user, Named: c.global.repo != "" || c.env("MNEM_REPO") != "",
		Own: c.hasGlobal, Repo: func() (string, error) {
			dir, err := c.dir()
			if err == nil {
				_, err = c.repoFile("")
			}
			return dir, err
		},
	}
	if f.project {
		s.Level = clients.Project
	}
	return s
}

// clientFile returns the client that is named and its file.
func (c *cli) clientFile(s *integrate.Setup, args []string) (clients.Client, string, error) {
	if len(args) == 0 {
		return clients.Client{}, "", usagef("name a client: %s", integrate.NamesText())
	}
	if client, ok := clients.Find(args[0]); ok && s.Level == clients.Project {
		if _, err := c.dir(); err != nil {
			return client, "", err
		}
		if c.global.user {
			return client, "", usagef("--project and --global exclude each other")
		}
	}
	return s.File(args[0])
}

func (c *cli) integrateClient(ctx context.Context, f integration, args []string) error {
	s := c.integrating(f)
	client, path, err := c.clientFile(s, args)
	if err != nil {
		return err
	}
	e, err := s.Entry(client)
	if err != nil {
		return err
	}
	if f.print {
		return c.printIntegration(s, client, path, e)
	}
	all, err := s.Edits(client, path, &e)
	if err != nil {
		return err
	}
	return c.applyEdits(ctx, s, client, all, integrate.Command(e))
}
