package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/policy"
	"github.com/mnem-project/mnem/internal/verb/table"
)

// policyJSON is the policy of a repository.
type policyJSON struct {
	Path    string              `json:"path"`
	Present bool                `json:"present"`
	Rules   verb.List[ruleJSON] `json:"rules"`
	// Unknown are patterns of operations that fit no command that writes.
	Unknown verb.List[string] `json:"unknown"`
}

type ruleJSON struct {
	Note       verb.Text         `json:"note"`
	Agents     verb.List[string] `json:"agents"`
	Operations verb.List[string] `json:"operations"`
	Types      verb.List[string] `json:"types"`
	Edges      verb.List[string] `json:"edges"`
	Signed     bool              `json:"signed"` // whether commits that others signed may be taken off
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

type (
	// policyQuestion is what 'mnem policy check' is asked.
	policyQuestion struct {
		Agent      string   `op:"" doc:"ask about the agent of this {NAME}"`
		Operation  string   `op:"" doc:"ask about this {OP}eration"`
		Types      []string `op:"type" doc:"ask about nodes of this {TYPE} (repeatable)"`
		Edges      []string `op:"edge" doc:"ask about edges of this {TYPE} (repeatable)"`
		Operations bool     `op:"" doc:"list the operations that policies speak of"`
		verb.Params
	}
	policyInitRequest struct {
		Agents     []string `op:"agent" default:"*" doc:"the agents' {PATTERN} (repeatable)"`
		Operations []string `op:"operation" default:"add commit consolidate contradict expire forget link remember restore retire rm set stale supersede unlink" doc:"the operations' {PATTERN} (repeatable)"`
		Types      []string `op:"type" default:"*" doc:"the nodes' types' {PATTERN} (repeatable)"`
		Edges      []string `op:"edge" default:"*" doc:"the edges' types' {PATTERN} (repeatable)"`
	}
)

func policyCommands() []*bound {
	return []*bound{
		local(verb.Spec{
			Command: "policy init", Right: verb.PeopleOnly, Title: "Write a starting policy",
			Doc: "Write .mnem/policy.json with one rule, to be edited then: by default all agents may write\n" +
				"what undo takes back, on all types, and neither erase, collect garbage, undo what others did,\n" +
				"nor move branches.",
			Example: "  mnem policy init --agent 'claude*' --operation commit --operation remember --type Note",
			Answers: []any{policyJSON{}},
		}, (*cli).policyInit),
		local(verb.Spec{
			Command: "policy show", Right: verb.NoRight, Title: "Print the policy of the repository",
			Doc: "Print the rules of .mnem/policy.json, each in a line: what one of them allows is allowed. Patterns\n" +
				"of operations that fit no command are told of on the side.",
			Example: "  mnem policy show\n  mnem policy show --json", Answers: []any{policyJSON{}},
		}, (*cli).policyShow),
		local(verb.Spec{
			Command: "policy check", Right: verb.NoRight,
			Usage: "[--agent NAME --operation OP [--type TYPE…] [--edge TYPE…]]", Args: "[flags]",
			Title: "Validate the policy, or test it for one agent",
			Doc: "Check that the policy can be read: exit code 1 where it cannot. With --agent and --operation\n" +
				"say whether that is allowed to that agent, on nodes of each --type and on edges of each --edge\n" +
				"that leave nodes of the first --type: exit code 7 where it is not.",
			Example: "  mnem policy check\n" +
				"  mnem policy check --agent codex --operation commit --type Note --type Person\n" +
				"  mnem policy check --operations",
			Answers: []any{policyJSON{}, verdictJSON{}, operationsJSON{}},
		}, (*cli).policyCheck),
	}
}

func (c *cli) policyShow(_ context.Context, _ *struct{}) error {
	out, err := c.readPolicy()
	if err != nil {
		return err
	}
	return show.Answer(&c.Console, out, c.printPolicy)
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
		return nil, hint(fmt.Errorf("%w: %w", state.ErrInvalid, err),
			"agents may change nothing until it is repaired or removed; see 'mnem policy --help'")
	}
	if p == nil {
		return out, nil
	}
	out.Present, out.Unknown = true, p.Unknown(writingOperations())
	for _, r := range p.Rules {
		out.Rules = append(out.Rules, ruleJSON{
			verb.Text(r.Note), r.Agents, r.Operations, r.Types, r.Edges, r.Signed,
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
	path := filepath.Join(dir, core.DirName)
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
	names := append(table.Governed(), configuring...)
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

func (c *cli) policyCheck(ctx context.Context, q *policyQuestion) error {
	switch {
	case q.Operations:
		names := writingOperations()
		return c.Say(operationsJSON{names}, "%s\n", strings.Join(names, "\n"))
	case q.Given("agent") != q.Given("operation"):
		return usagef("--agent and --operation go together")
	case !q.Given("agent") && len(q.Types)+len(q.Edges) > 0:
		return usagef("--type and --edge go with --agent and --operation")
	case len(q.Edges) > 0 && len(q.Types) == 0:
		return usagef("--edge needs --type: edges belong to the nodes that they leave")
	case q.Given("agent"):
		return c.askPolicy(q)
	}
	return c.policyShow(ctx, nil)
}

// askPolicy prints what the policy says about one change.
func (c *cli) askPolicy(q *policyQuestion) error {
	path, err := c.repoFile(policy.FileName)
	if err != nil {
		return err
	}
	if !slices.Contains(writingOperations(), q.Operation) {
		return hint(fmt.Errorf("%w: --operation: policies speak of no %q", state.ErrInvalid, q.Operation),
			"'mnem policy check --operations' lists them")
	}
	p, _ := policy.Read(path) // a damaged one refuses, and says why
	err = p.Allows(q.Agent, q.Operation, q.Types, q.Edges)
	if err != nil {
		return verb.PolicyHint(err)
	}
	return c.Say(verdictJSON{Allowed: true, Agent: q.Agent, Operation: q.Operation}, "allowed\n")
}

func (c *cli) policyInit(ctx context.Context, q *policyInitRequest) error {
	path, err := c.repoFile(policy.FileName)
	if err != nil {
		return err
	}
	data := policy.Encode(policy.Rule{Agents: q.Agents, Operations: q.Operations, Types: q.Types, Edges: q.Edges})
	if _, err := policy.Parse(data); err != nil {
		return fmt.Errorf("%w: %w", state.ErrInvalid, err)
	}
	if err := filestate.Create(path, data); errors.Is(err, fs.ErrExist) {
		return hint(already(err, "policy %s", path), "edit it; 'mnem policy check' checks it")
	} else if err != nil {
		return fmt.Errorf("write policy: %w", err)
	}
	c.Remark("wrote %s", line(path))
	return c.policyShow(ctx, nil)
}

// operationName is how policies name a command: "op_restore", "cherry_pick".
func operationName(cmd *cobra.Command) string {
	words := strings.Fields(cmd.CommandPath())[1:]
	return strings.ReplaceAll(strings.Join(words, "_"), "-", "_")
}

// policyPath returns the path of the repository's policy.
func (c *cli) policyPath() (string, error) {
	dir, err := c.dir()
	return filepath.Join(dir, core.DirName, policy.FileName), err
}

// guard refuses a command that the repository's policy does not allow the agent of a stamp, and adds to
// the stamp what refuses the changes that it does not allow; nothing for people, and a guard of changes
// where there is a policy. It is asked for whatever writes, by stamp.
func (c *cli) guard(by *state.Stamp, name string) error {
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
	return verb.Guard(by, path, name, table.Recording(name), c.ownKey)
}

// configuring are the names of the commands that are no verbs and need a right: they change no memory but what
// governs it, or bring it elsewhere, as settings, keys, tokens and remotes do.
var configuring = []string{
	"config_set", "config_unset", "git_follow", "git_unfollow", "git_sync", "git_prune", "git_hook",
	"integrate", "unintegrate", "key_new", "key_import", "key_rm", "key_trust", "key_revoke", "key_untrust",
	"remote_add", "remote_set_url", "remote_prune", "remote_rm", "token_new", "token_revoke", "fetch", "pull",
	"push", "sync", "backup",
}

// permit refuses operations that the policy does not allow an agent, "" for a person, who is not bound. Who calls a
// server is an agent, named or not.
func (c *cli) permit(agent string, rights []string) error {
	if len(rights) == 0 || agent == "" && !c.by.Remote {
		return nil
	}
	path, err := c.policyPath()
	if errors.Is(err, store.ErrNotFound) {
		return nil // the command says so where it needs a repository
	}
	if err != nil {
		return err
	}
	return verb.Permit(path, agent, rights)
}

// permits refuses a command that the policy does not allow the caller, before it does anything around its verb. A
// server decides for its own repository.
func (c *cli) permits(v *bound, req any) error {
	agent := firstOf(verb.WritingOf(req).Agent, c.agent())
	switch {
	case v.spec.Right == verb.PeopleOnly && (agent != "" || c.by.Remote):
		return hint(fmt.Errorf("%w: agents do not write policies", policy.ErrDenied),
			"do it as a person, without MNEM_AGENT")
	case c.serverURL() != "" && !v.spec.Local:
		return nil
	}
	return c.permit(agent, v.spec.Rights(req))
}
