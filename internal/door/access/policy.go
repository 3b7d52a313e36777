package access

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/policy"
	"github.com/mnem-project/mnem/internal/verb/table"
)

// policyJSON is the policy of a repository.
type policyJSON struct {
	Path    string     `json:"path"`
	Present bool       `json:"present"`
	Rules   []ruleJSON `json:"rules"`
	// Unknown are patterns of operations that fit no command that writes.
	Unknown []string `json:"unknown"`
}

type ruleJSON struct {
	Note       verb.Text `json:"note"`
	Agents     []string  `json:"agents"`
	Operations []string  `json:"operations"`
	Types      []string  `json:"types"`
	Edges      []string  `json:"edges"`
	Signed     bool      `json:"signed"` // whether commits that others signed may be taken off
}

// verdictJSON is the policy's verdict on one change.
type verdictJSON struct {
	Allowed   bool   `json:"allowed"` // always: what is not is an error
	Agent     string `json:"agent"`
	Operation string `json:"operation"`
}

type operationsJSON struct {
	Operations []string `json:"operations"`
}

type (
	// policyQuestion is the request of 'mnem policy check'.
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
		Operations []string `op:"operation" default:"add commit consolidate forget mark remember restore rm" doc:"the operations' {PATTERN} (repeatable)"`
		Types      []string `op:"type" default:"*" doc:"the nodes' types' {PATTERN} (repeatable)"`
		Edges      []string `op:"edge" default:"*" doc:"the edges' types' {PATTERN} (repeatable)"`
	}
)

// PolicyCommands are the commands for what agents may do.
func PolicyCommands() []*line.Bound {
	return []*line.Bound{
		reach.Local(verb.Spec{
			Command: "policy init", Right: verb.PeopleOnly, Title: "Write a starting policy",
			Doc: "Write .mnem/policy.json with one rule, to be edited then: by default all agents may write\n" +
				"what undo takes back, on all types, and neither erase, collect garbage, undo what others did,\n" +
				"nor move branches.",
			Example: "  mnem policy init --agent 'claude*' --operation commit --operation remember --type Note",
			Answers: []any{policyJSON{}},
		}, policyInit),
		reach.Local(verb.Spec{
			Command: "policy show", Right: verb.NoRight, Title: "Print the policy of the repository",
			Doc: "Print the rules of .mnem/policy.json, each in a line: what one of them allows is allowed. Patterns\n" +
				"of operations that fit no command are told of on the side.",
			Example: "  mnem policy show\n  mnem policy show --json", Answers: []any{policyJSON{}},
		}, policyShow),
		reach.Local(verb.Spec{
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
		}, policyCheck),
	}
}

func policyShow(_ context.Context, c *line.Line, _ *struct{}) error {
	out, err := ReadPolicy(c)
	if err != nil {
		return err
	}
	return show.Answer(&c.Console, out, func(_ *show.Console, p *policyJSON) error { return printPolicy(c, p) })
}

// ReadPolicy reads the policy strictly.
func ReadPolicy(c *line.Line) (*policyJSON, error) {
	path, err := c.RepoFile(policy.FileName)
	if err != nil {
		return nil, err
	}
	out := &policyJSON{Path: path}
	p, err := policy.Read(path)
	if err != nil {
		return nil, line.Hint(fmt.Errorf("%w: %w", state.ErrInvalid, err),
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

// writingOperations returns the names of what policies speak of, in order: verbs, and what changes settings,
// keys and tokens.
func writingOperations() []string {
	names := append(table.Governed(), Configuring...)
	slices.Sort(names)
	return names
}

func printPolicy(c *line.Line, out *policyJSON) error {
	if !out.Present {
		return c.Printf("no policy: agents may do everything ('mnem policy init' makes %s)\n",
			line.OneLine(out.Path))
	}
	list := func(patterns []string) show.Cell {
		if len(patterns) == 0 {
			return show.CellOf("(none)", show.Dim)
		}
		return show.CellOf(line.OneLine(strings.Join(patterns, " ")), "")
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
		c.Remark("note: %q fits no operation; 'mnem policy check --operations' lists them", line.OneLine(o))
	}
	return nil
}

func policyCheck(ctx context.Context, c *line.Line, q *policyQuestion) error {
	switch {
	case q.Operations:
		names := writingOperations()
		return c.Say(operationsJSON{names}, "%s\n", strings.Join(names, "\n"))
	case q.Given("agent") != q.Given("operation"):
		return line.Usagef("--agent and --operation go together")
	case !q.Given("agent") && len(q.Types)+len(q.Edges) > 0:
		return line.Usagef("--type and --edge go with --agent and --operation")
	case len(q.Edges) > 0 && len(q.Types) == 0:
		return line.Usagef("--edge needs --type: edges belong to the nodes that they leave")
	case q.Given("agent"):
		return askPolicy(c, q)
	}
	return policyShow(ctx, c, nil)
}

// askPolicy prints what the policy says about one change.
func askPolicy(c *line.Line, q *policyQuestion) error {
	path, err := c.RepoFile(policy.FileName)
	if err != nil {
		return err
	}
	if !slices.Contains(writingOperations(), q.Operation) {
		return line.Hint(fmt.Errorf("%w: --operation: policies speak of no %q", state.ErrInvalid, q.Operation),
			"'mnem policy check --operations' lists them")
	}
	p, _ := policy.Read(path) // a damaged one refuses, and says why
	err = p.Allows(q.Agent, q.Operation, q.Types, q.Edges)
	if err != nil {
		return verb.PolicyHint(err)
	}
	return c.Say(verdictJSON{Allowed: true, Agent: q.Agent, Operation: q.Operation}, "allowed\n")
}

func policyInit(ctx context.Context, c *line.Line, q *policyInitRequest) error {
	path, err := c.RepoFile(policy.FileName)
	if err != nil {
		return err
	}
	data := policy.Encode(policy.Rule{Agents: q.Agents, Operations: q.Operations, Types: q.Types, Edges: q.Edges})
	if _, err := policy.Parse(data); err != nil {
		return fmt.Errorf("%w: %w", state.ErrInvalid, err)
	}
	if err := filestate.Create(path, data); errors.Is(err, fs.ErrExist) {
		return line.Hint(line.Already(err, "policy %s", path), "edit it; 'mnem policy check' checks it")
	} else if err != nil {
		return fmt.Errorf("write policy: %w", err)
	}
	c.Remark("wrote %s", line.OneLine(path))
	return policyShow(ctx, c, nil)
}

// Configuring are the names of the commands that are no verbs and need a right: they change no memory but what
// governs it, or bring it elsewhere, as settings, keys, tokens and remotes do.
var Configuring = []string{
	"config_set", "config_unset", "git_follow", "git_unfollow", "git_sync", "git_prune", "git_hook",
	"integrate", "key_new", "key_import", "key_rm", "key_trust", "key_revoke", "key_untrust",
	"remote_add", "remote_set_url", "remote_readers", "remote_prune", "remote_rm", "serve_token_new", "serve_token_revoke", "fetch", "pull",
	"push", "sync",
}
