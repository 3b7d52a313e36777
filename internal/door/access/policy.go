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
	Only       verb.Text `json:"only"`   // the branch that the agents are confined to
	Signed     bool      `json:"signed"` // whether commits that others signed may be taken off
}

type verdictJSON struct {
	Allowed   bool   `json:"allowed"` // always: what is not is an error
	Agent     string `json:"agent"`
	Operation string `json:"operation"`
}

type policyRequest struct {
	Agents     []string `op:"agent" doc:"the {NAME} of an agent; with --write a pattern (repeatable; default with --write: *)"`
	Operations []string `op:"operation,arg"`
	Types      []string `op:"type" doc:"the {TYPE} of nodes; with --write a pattern (repeatable; default with --write: *)"`
	Edges      []string `op:"edge" doc:"the {TYPE} of edges; with --write a pattern (repeatable; default with --write: *)"`
	Write      bool     `op:",writes" doc:"write a policy with one rule"`
	verb.Params
}

// PolicyCommand is the command for what agents may do.
func PolicyCommand() *line.Bound {
	return reach.Local(verb.Spec{
		Command: "config policy", Right: verb.PeopleOnly, Effect: verb.Reads,
		Usage: "[--write] [--agent NAME OP… [--type TYPE…] [--edge TYPE…]]", Args: "[OP…]",
		Title: "Show, test or start the policy of what agents may change",
		Doc: "The file .mnem/policy.json says which agents may do which operations on which types of nodes and\n" +
			"edges. Without it, everything is allowed. With it, agents may do what a rule allows and nothing\n" +
			"else, through the command line, MCP and HTTP alike. A file that cannot be read allows agents\n" +
			"nothing. Reading is always allowed.\n\n" +
			"Without flags print the rules, each in a line: what one of them allows is allowed. The exit code is 1\n" +
			"if the file cannot be read. With --agent and an operation OP say whether that agent may do that, on nodes of\n" +
			"each --type and on edges of each --edge that leave nodes of the first --type: exit code 7 if it may not.\n" +
			"--write writes a file with one rule to edit, by default: all agents may write what undo takes back, on\n" +
			"all types, and neither erase, collect garbage, undo what others did, nor move branches.\n\n" +
			"A caller is an agent if it names itself with --agent or MNEM_AGENT, or calls a server. People who\n" +
			"name no agent are not bound. So a policy restrains agents that follow the rules; it cannot stop a\n" +
			"program that reads and writes the repository's files itself.\n\n" +
			"  {\"version\": 1, \"rules\": [{\n" +
			"    \"agents\": [\"claude*\"], \"operations\": [\"remember\", \"commit\"],\n" +
			"    \"types\": [\"Note\", \"Decision\"], \"edges\": [\"*\"]}]}\n\n" +
			"With \"signed\": true the operations may remove commits from branches and tags that another key has\n" +
			"signed, as amend, undo, reset and branch --force do. Without it, and without a policy, no agent may.\n" +
			"Changing settings, keys or tokens is an operation like the others.\n\n" +
			"Lists have patterns, in which * matches anything. Edges are those that leave nodes of these types;\n" +
			"without \"edges\", all their types. Operations are commands that write, with _ between words; asking\n" +
			"about an unknown one lists them.",
		Example: "  mnem config policy\n" +
			"  mnem config policy --write commit remember --agent 'claude*' --type Note\n" +
			"  mnem config policy commit --agent claude-code --type Note",
		Answers: []any{policyJSON{}, verdictJSON{}},
	}, configPolicy)
}

func configPolicy(ctx context.Context, c *line.Line, q *policyRequest) error {
	switch {
	case q.Write:
		return policyInit(c, q)
	case q.Given("agent") != (len(q.Operations) > 0):
		return line.Usagef("--agent and an operation go together")
	case len(q.Agents) > 1 || len(q.Operations) > 1:
		return line.Usagef("ask about one agent and one operation, or give --write")
	case !q.Given("agent") && len(q.Types)+len(q.Edges) > 0:
		return line.Usagef("--type and --edge go with --agent and an operation")
	case len(q.Edges) > 0 && len(q.Types) == 0:
		return line.Usagef("--edge needs --type: edges belong to the nodes that they leave")
	case q.Given("agent"):
		return askPolicy(c, q.Agents[0], q.Operations[0], q)
	}
	return policyShow(c)
}

func policyShow(c *line.Line) error {
	out, err := ReadPolicy(c)
	if err != nil {
		return err
	}
	return show.Answer(&c.Console, out, printPolicy)
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
			"agents may change nothing until it is repaired or removed; see 'mnem config policy --help'")
	}
	if p == nil {
		return out, nil
	}
	out.Present, out.Unknown = true, p.Unknown(writingOperations())
	for _, r := range p.Rules {
		out.Rules = append(out.Rules, ruleJSON{
			verb.Text(r.Note), r.Agents, r.Operations, r.Types, r.Edges, verb.Text(r.Only), r.Signed,
		})
	}
	return out, nil
}

// writingOperations returns what policies speak of: verbs, and what changes settings, keys and tokens.
func writingOperations() []string {
	return slices.Sorted(slices.Values(append(table.Governed(), Configuring...)))
}

func printPolicy(c *show.Console, out *policyJSON) error {
	if !out.Present {
		return c.Printf("no policy: agents may do everything ('mnem config policy --write' makes %s)\n",
			line.OneLine(out.Path))
	}
	list := func(patterns []string) show.Cell {
		if len(patterns) == 0 {
			return show.CellOf("(none)", show.Dim)
		}
		return show.CellOf(line.OneLine(strings.Join(patterns, " ")), "")
	}
	rows := [][]show.Cell{show.HeadRow("rule", "agents", "operations", "types", "edges", "only", "signed")}
	for i, r := range out.Rules {
		rows = append(rows, []show.Cell{
			show.CellOf(fmt.Sprint(i+1), ""), list(r.Agents), list(r.Operations), list(r.Types), list(r.Edges),
			show.CellOf(line.OneLine(string(r.Only)), ""), show.CellOf(yesNo(r.Signed), ""),
		})
	}
	if len(out.Rules) == 0 {
		c.Put("the policy has no rule: agents may change nothing\n")
	} else {
		c.PutTable(rows)
	}
	for _, o := range out.Unknown {
		c.Remark("note: %q fits no operation; see 'mnem config policy --help'", line.OneLine(o))
	}
	return c.Failed()
}

func askPolicy(c *line.Line, agent, operation string, q *policyRequest) error {
	path, err := c.RepoFile(policy.FileName)
	if err != nil {
		return err
	}
	if known := writingOperations(); !slices.Contains(known, operation) {
		return line.Hint(fmt.Errorf("%w: policies speak of no %q", state.ErrInvalid, operation),
			"they speak of %s", strings.Join(known, ", "))
	}
	p, _ := policy.Read(path) // a damaged one refuses, and says why
	if err := p.Allows(agent, operation, q.Types, q.Edges); err != nil {
		return verb.PolicyHint(err)
	}
	return c.Say(verdictJSON{Allowed: true, Agent: agent, Operation: operation}, "allowed\n")
}

// startingOperations are the operations that agents may do by the rule that 'mnem config policy --write' writes.
var startingOperations = []string{"add", "commit", "consolidate", "forget", "mark", "remember", "restore", "rm"}

func policyInit(c *line.Line, q *policyRequest) error {
	path, err := c.RepoFile(policy.FileName)
	if err != nil {
		return err
	}
	or := func(given []string, usual ...string) []string {
		if len(given) == 0 {
			return usual
		}
		return given
	}
	data := policy.Encode(policy.Rule{
		Agents: or(q.Agents, "*"), Operations: or(q.Operations, startingOperations...),
		Types: or(q.Types, "*"), Edges: or(q.Edges, "*"),
	})
	if _, err := policy.Parse(data); err != nil {
		return fmt.Errorf("%w: %w", state.ErrInvalid, err)
	}
	if err := filestate.Create(path, data); errors.Is(err, fs.ErrExist) {
		return line.Hint(line.Already(err, "policy %s", path), "edit it; 'mnem config policy' checks it")
	} else if err != nil {
		return fmt.Errorf("write policy: %w", err)
	}
	c.Remark("wrote %s", line.OneLine(path))
	return policyShow(c)
}

// Configuring are the names of the commands that are no verbs and need a right: they change no memory but what
// governs it, or bring it elsewhere, as settings, keys, tokens and remotes do.
var Configuring = []string{
	"config_set", "config_unset", "git_follow", "git_sync", "git_prune", "git_hook",
	"integrate", "key_new", "key_import", "key_rm", "key_trust", "key_revoke",
	"remote_add", "remote_readers", "remote_rm", "serve_token_new", "serve_token_revoke", "fetch",
	"push", "sync",
}
