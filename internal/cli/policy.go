package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/filestate"
	"github.com/mnem-project/mnem/internal/show"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/policy"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

// policyJSON is the policy of a repository.
type policyJSON struct {
	Path    string             `json:"path"`
	Present bool               `json:"present"`
	Rules   ops.List[ruleJSON] `json:"rules"`
	// Unknown are patterns of operations that fit no command that writes.
	Unknown ops.List[string] `json:"unknown"`
}

type ruleJSON struct {
	Note       ops.Text         `json:"note"`
	Agents     ops.List[string] `json:"agents"`
	Operations ops.List[string] `json:"operations"`
	Types      ops.List[string] `json:"types"`
	Edges      ops.List[string] `json:"edges"`
	Signed     bool             `json:"signed"` // whether commits that others signed may be taken off
}

// verdictJSON is what the policy says about one change.
type verdictJSON struct {
	Allowed   bool   `json:"allowed"` // always: what is not is an error
	Agent     string `json:"agent"`
	Operation string `json:"operation"`
}

type operationsJSON struct {
	Operations []string `json:"operations"`
}

func (c *cli) policyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "policy",
		GroupID: groupCare,
		Short:   "Say what agents may change",
		Long: "The file .mnem/policy.json says which agents may do which operations on which types of nodes\n" +
			"and edges. Where there is none, everybody may do everything. Where there is one, agents may do\n" +
			"what a rule allows and nothing else, whichever way they take: the command line, MCP or HTTP. A\n" +
			"file that cannot be read allows agents nothing. Reading is always allowed.\n\n" +
			"An agent is whoever says so, by --agent or MNEM_AGENT, and every caller of a server. People,\n" +
			"who say nothing, are not bound. So a policy keeps agents that play by the rules within them;\n" +
			"a program that may read and write the files of the repository itself is stopped by nothing.\n\n" +
			"  {\"version\": 1, \"rules\": [{\n" +
			"    \"agents\": [\"claude*\"], \"operations\": [\"remember\", \"commit\"],\n" +
			"    \"types\": [\"Note\", \"Decision\"], \"edges\": [\"*\"]}]}\n\n" +
			"With \"signed\": true the operations may take commits off branches and tags that the key of\n" +
			"somebody else has signed, as amend, undo, reset and branch --force do. Without it, and without\n" +
			"a policy, no agent may. To change settings, keys or tokens is an operation like the others.\n\n" +
			"Lists have patterns, where * stands for anything. Edges are those that leave nodes of these\n" +
			"types; without \"edges\" all types of them. Operations are commands that write, words joined by\n" +
			"_: " + "'mnem policy check --operations' lists them.",
		Example: "  mnem policy init\n  mnem policy show\n" +
			"  mnem policy check --agent claude-code --operation commit --type Note",
	}
	return c.parent(cmd, c.policyInit(), c.policyShow(), c.policyCheck())
}

func (c *cli) policyShow() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print the policy of the repository",
		Long: "Print the rules of .mnem/policy.json, each in a line: what one of them allows is allowed. Patterns\n" +
			"of operations that fit no command are told of on the side.",
		Example: "  mnem policy show\n  mnem policy show --json",
		Args:    cobra.NoArgs,
	}
	return c.command(cmd, func(*cobra.Command, []string) error {
		out, err := c.readPolicy()
		if err != nil {
			return err
		}
		return show.Answer(&c.Console, out, c.printPolicy)
	})
}

// readPolicy reads the policy strictly.
func (c *cli) readPolicy() (*policyJSON, error) {
	path, err := c.repoFile(policy.FileName)
	if err != nil {
		return nil, err
	}
	out := &policyJSON{Path: path}
	p, err := policy.Read(path)
	if err != nil {
		return nil, hint(fmt.Errorf("%w: %w", repo.ErrInvalid, err),
			"agents may change nothing until it is repaired or removed; see 'mnem policy --help'")
	}
	if p == nil {
		return out, nil
	}
	out.Present, out.Unknown = true, p.Unknown(writingOperations())
	for _, r := range p.Rules {
		out.Rules = append(out.Rules, ruleJSON{
			ops.Text(r.Note), r.Agents, r.Operations, r.Types, r.Edges, r.Signed,
		})
	}
	return out, nil
}

// repoFile returns the path of a file of the repository, which must exist.
func (c *cli) repoFile(name string) (string, error) {
	dir, err := c.dir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, repo.DirName)
	if _, err := os.Stat(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = hint(fmt.Errorf("%w: there is no repository in %s", store.ErrNotFound, dir),
				"run 'mnem init' to make a repository there")
		}
		return "", err
	}
	return filepath.Join(path, name), nil
}

// writingOperations returns the names of what policies speak of, in order: verbs, and what changes settings,
// keys and tokens.
func writingOperations() []string {
	names := append(ops.Governed(), configuring()...)
	slices.Sort(names)
	return names
}

func (c *cli) printPolicy(out *policyJSON) error {
	if !out.Present {
		return c.Printf("no policy: agents may do everything ('mnem policy init' makes %s)\n",
			line(out.Path))
	}
	list := func(patterns []string) show.Cell {
		if len(patterns) == 0 {
			return show.CellOf("(none)", show.Dim)
		}
		return show.CellOf(line(strings.Join(patterns, " ")), "")
	}
	rows := [][]show.Cell{show.HeadRow("rule", "agents", "operations", "types", "edges", "signed")}
	for i, r := range out.Rules {
		rows = append(rows, []show.Cell{
			show.CellOf(fmt.Sprint(i+1), ""), list(r.Agents), list(r.Operations), list(r.Types), list(r.Edges),
			show.CellOf(map[bool]string{true: "yes", false: "no"}[r.Signed], ""),
		})
	}
	if len(out.Rules) == 0 {
		rows = nil
		if err := c.Printf("the policy has no rule: agents may change nothing\n"); err != nil {
			return err
		}
	}
	if err := c.Table(rows); err != nil {
		return err
	}
	for _, o := range out.Unknown {
		c.Remark("note: %q fits no operation; 'mnem policy check --operations' lists them", line(o))
	}
	return nil
}

// policyQuestion are the flags of policy check.
type policyQuestion struct {
	agent, operation string
	types, edges     []string
	list             bool
}

func (c *cli) policyCheck() *cobra.Command {
	var q policyQuestion
	cmd := &cobra.Command{
		Use:   "check [--agent NAME --operation OP [--type TYPE…] [--edge TYPE…]]",
		Short: "Validate the policy, or test it for one agent",
		Long: "Check that the policy can be read: exit code 1 where it cannot. With --agent and --operation\n" +
			"say whether that is allowed to that agent, on nodes of each --type and on edges of each --edge\n" +
			"that leave nodes of the first --type: exit code 7 where it is not.",
		Example: "  mnem policy check\n" +
			"  mnem policy check --agent codex --operation commit --type Note --type Person\n" +
			"  mnem policy check --operations",
		Args: cobra.NoArgs,
	}
	f := cmd.Flags()
	f.StringVar(&q.agent, "agent", "", "ask about the agent of this `NAME`")
	f.StringVar(&q.operation, "operation", "", "ask about this `OP`eration")
	f.StringArrayVar(&q.types, "type", nil, "ask about nodes of this `TYPE` (repeatable)")
	f.StringArrayVar(&q.edges, "edge", nil, "ask about edges of this `TYPE` (repeatable)")
	f.BoolVar(&q.list, "operations", false, "list the operations that policies speak of")
	return c.command(cmd, func(cmd *cobra.Command, _ []string) error {
		given := cmd.Flags().Changed
		switch {
		case q.list:
			return c.printOperations()
		case given("agent") != given("operation"):
			return usagef("--agent and --operation go together")
		case !given("agent") && len(q.types)+len(q.edges) > 0:
			return usagef("--type and --edge go with --agent and --operation")
		case len(q.edges) > 0 && len(q.types) == 0:
			return usagef("--edge needs --type: edges belong to the nodes that they leave")
		case given("agent"):
			return c.askPolicy(q)
		}
		out, err := c.readPolicy()
		if err != nil {
			return err
		}
		return show.Answer(&c.Console, out, c.printPolicy)
	})
}

func (c *cli) printOperations() error {
	names := writingOperations()
	return c.Say(operationsJSON{names}, "%s\n", strings.Join(names, "\n"))
}

// askPolicy prints what the policy says about one change.
func (c *cli) askPolicy(q policyQuestion) error {
	path, err := c.repoFile(policy.FileName)
	if err != nil {
		return err
	}
	if !slices.Contains(writingOperations(), q.operation) {
		return hint(fmt.Errorf("%w: --operation: policies speak of no %q", repo.ErrInvalid, q.operation),
			"'mnem policy check --operations' lists them")
	}
	p, _ := policy.Read(path) // a damaged one refuses, and says why
	err = p.Allows(q.agent, q.operation, q.types, q.edges)
	if err != nil {
		return ops.PolicyHint(err)
	}
	return c.Say(verdictJSON{Allowed: true, Agent: q.agent, Operation: q.operation}, "allowed\n")
}

func (c *cli) policyInit() *cobra.Command {
	var r policy.Rule
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a starting policy",
		Long: "Write .mnem/policy.json with one rule, to be edited then: by default all agents may write\n" +
			"what undo takes back, on all types, and neither erase, collect garbage, undo what others did,\n" +
			"nor move branches.",
		Example: "  mnem policy init --agent 'claude*' --operation commit --operation remember --type Note",
		Args:    cobra.NoArgs,
	}
	f := cmd.Flags()
	f.StringArrayVar(&r.Agents, "agent", []string{"*"}, "the agents' `PATTERN` (repeatable)")
	f.StringArrayVar(&r.Operations, "operation", []string{
		"add", "commit", "consolidate", "contradict", "expire", "forget", "link", "remember", "restore",
		"retire", "rm", "set", "stale", "supersede", "unlink",
	}, "the operations' `PATTERN` (repeatable)")
	f.StringArrayVar(&r.Types, "type", []string{"*"}, "the nodes' types' `PATTERN` (repeatable)")
	f.StringArrayVar(&r.Edges, "edge", []string{"*"}, "the edges' types' `PATTERN` (repeatable)")
	return c.command(cmd, func(*cobra.Command, []string) error {
		path, err := c.repoFile(policy.FileName)
		if err != nil {
			return err
		}
		if c.by.Agent != "" {
			return hint(fmt.Errorf("%w: agents do not write policies", policy.ErrDenied),
				"do it as a person, without MNEM_AGENT")
		}
		data := policy.Encode(r)
		if _, err := policy.Parse(data); err != nil {
			return fmt.Errorf("%w: %w", repo.ErrInvalid, err)
		}
		if err := filestate.Create(path, data); errors.Is(err, fs.ErrExist) {
			return hint(already(err, "policy %s", path), "edit it; 'mnem policy check' checks it")
		} else if err != nil {
			return fmt.Errorf("write policy: %w", err)
		}
		out, err := c.readPolicy()
		if err != nil {
			return err
		}
		c.Remark("wrote %s", line(path))
		return show.Answer(&c.Console, out, c.printPolicy)
	})
}

// operationName is how policies name a command: "op_restore", "cherry_pick".
func operationName(cmd *cobra.Command) string {
	words := strings.Fields(cmd.CommandPath())[1:]
	return strings.ReplaceAll(strings.Join(words, "_"), "-", "_")
}

// policyPath returns the path of the repository's policy.
func (c *cli) policyPath() (string, error) {
	dir, err := c.dir()
	return filepath.Join(dir, repo.DirName, policy.FileName), err
}

// guard refuses a command that the repository's policy does not allow the agent of a stamp, and adds to
// the stamp what refuses the changes that it does not allow; nothing for people, and a guard of changes
// where there is a policy. It is asked for whatever writes, by stamp.
func (c *cli) guard(by *repo.Stamp, name string) error {
	if by.Agent == "" && !c.by.Remote { // who calls a server is an agent, named or not
		return nil
	}
	path, err := c.policyPath()
	if errors.Is(err, store.ErrNotFound) {
		return nil // the command says so where it needs a repository
	}
	if err != nil {
		return err
	}
	return ops.Guard(by, path, name, c.ownKey)
}

// configuring are the operations that change no memory but what governs it, or bring it elsewhere: settings,
// keys, tokens and other repositories. Policies speak of them as well.
func configuring() []string {
	return []string{
		"config_set", "config_unset", "fetch", "git_follow", "git_hook", "git_unfollow", "key_import", "key_new",
		"key_revoke", "key_rm", "key_trust", "key_untrust", "pull", "push", "remote_add", "remote_prune", "remote_redactions", "remote_rm",
		"remote_set_url", "sync", "token_new",
		"token_revoke",
	}
}

// configures refuses such a command to an agent whom the policy does not allow it.
func (c *cli) configures(cmd *cobra.Command) error {
	agent, name := c.by.Agent, operationName(cmd)
	if agent == "" || !slices.Contains(configuring(), name) {
		return nil
	}
	path, err := c.policyPath()
	if errors.Is(err, store.ErrNotFound) {
		return nil // the command says so where it needs a repository
	}
	if err == nil {
		_, err = ops.PolicyFor(path, agent, name)
	}
	return err
}
