package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/agent/capture"
	"github.com/mnem-project/mnem/internal/agent/hooks"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/door/verbs"
	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
)

const hookName = "hook"

// hookWithin bounds how long a hook waits for an answer: an agent's user is waiting. Tests that ask
// for answers give it more, since they share their machine.
var hookWithin = 500 * time.Millisecond

func hookCommand(c *line.Line) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "hook HOST EVENT",
		GroupID: line.GroupChange,
		Hidden:  true,
		Short:   "Handle an event of an agent's program",
		Long: "Programs that run agents call this when something happens, with JSON on standard input. HOST is\n" +
			"claude-code, codex, gemini, cursor, opencode, copilot-cli or cline; EVENT is session-start, prompt,\n" +
			"stop, compact or session-end, or the host's own name for it, such as UserPromptSubmit.\n\n" +
			"A hook notes that a transcript has grown; the next command that reads imports it ('mnem capture'\n" +
			"does so at once). When a session starts, the hook answers with pinned memories ('mnem pin'),\n" +
			"contradictions and news since the last session, at most 500 tokens. With a prompt it answers with at\n" +
			"most two memories that clearly bear on it, 250 tokens, each once in a session, and often with none.\n" +
			"'mnem session last' prints what it was. It never waits for another process. If anything fails it\n" +
			"prints nothing, and its exit code is 0.\n\n" +
			"MNEM_HOOKS=false, or 'mnem config set hooks false', turns hooks off. With MNEM_PRIVATE=true, or\n" +
			"'mnem config set private true' for a project, they note nothing, and still give the agent what is\n" +
			"known. docs/agents.md says how to set up programs.",
		Example: "  mnem hook claude-code stop <hook.json",
		Args:    line.Positionals("HOST EVENT"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			switch len(args) {
			case 0:
				return capture.Hosts(), cobra.ShellCompDirectiveNoFileComp
			case 1:
				return capture.Events(), cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
	}
	return c.Command(cmd, func(cmd *cobra.Command, args []string) error {
		return hook(cmd.Context(), c, args[0], args[1])
	})
}

// isHook reports whether a command line calls a hook, whatever flags of all commands stand before it.
func isHook(args []string) bool {
	first := slices.Index(args, hookName)
	if first <= 0 {
		return first == 0
	}
	if rest, err := afterFlags(args); err == nil {
		return len(rest) > 0 && rest[0] == hookName
	}
	// A flag that is wrong: the host is told nothing if it may have meant a hook.
	return !slices.ContainsFunc(commands(slices.Concat(verbs.Verbs(), locals())), func(name string) bool {
		return name != hookName && slices.Contains(args[:first], name)
	})
}

// quietHook runs the command hook so that it can do no harm to the program that calls it.
func quietHook(ctx context.Context, a *line.App, args []string) (exit int) {
	defer func() { _ = recover() }() // an agent's program shows its user what a hook says of itself
	var out bytes.Buffer
	quiet := *a
	quiet.Stdout, quiet.Stderr = &out, io.Discard
	if runCommand(ctx, &quiet, args) == 0 {
		_, _ = a.Stdout.Write(out.Bytes())
	}
	return 0
}

func hook(ctx context.Context, c *line.Line, host, event string) error {
	h := &hooks.Environment{
		Ask: func(
			ctx context.Context, dir string, v *verb.Spec, req any, wait time.Duration, emit func(any) error,
		) error {
			side := reach.Aside(ctx, c, dir)
			side.Global.Wait, side.Doing.Wait = wait, true
			return reach.AskAside(ctx, side, v, req, emit)
		},
		Find: func(from string) (string, error) {
			c.App.Dir = line.FirstOf(from, c.App.Dir)
			return c.Dir()
		},
		Own: func() string { return reach.GlobalDir(c) }, Configured: c.Configured, Getenv: c.App.Getenv, Home: c.App.Home, Now: c.App.Clock,
		Within: hookWithin,
	}
	said, err := h.Call(ctx, host, event, c.App.Stdin)
	return errors.Join(err, c.Printf("%s", said))
}

type guardRuleJSON struct {
	Rule    string `json:"rule"`
	Refuses bool   `json:"refuses"` // what it finds; else it is reported
	About   string `json:"about"`
}

type guardFindingJSON struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"` // in bytes, from 1
	Start   int    `json:"start"`  // in bytes of the file, as is end
	End     int    `json:"end"`
	Rule    string `json:"rule"`
	Refuses bool   `json:"refuses"`
}

type secretsRequest struct {
	Files []string `op:",arg"`
}

func secretsCommand() *line.Bound {
	return reach.LocalLines(verb.Spec{
		Command: "config secrets", Right: verb.NoRight,
		Usage: "[FILE…|-]", Title: "List the rules that find credentials, or scan files by them",
		Doc: "Everything that is written is searched for credentials first: whichever command writes it, and\n" +
			"for every caller of a server. What has the prefix of a provider's keys, a checksum, or the form\n" +
			"of a private key is refused, exit code 7, with its line and rule; --allow-secret RULE writes it\n" +
			"all the same. What may be a password, or is irregular and called a key, is reported. In commits\n" +
			"of more than 1000 changes everything is only reported, but with --strict; and merges and imports\n" +
			"keep their bytes, and report.\n\n" +
			"Without FILE, list the rules: their names, as --allow-secret takes them, whether what they find is\n" +
			"refused or reported, and what it is. Most are those of gitleaks, under the MIT licence.\n\n" +
			"With FILEs, search these for credentials and store nothing; \"-\" is standard input. Each finding is a\n" +
			"line: the file, line and column, the rule, and whether it would be refused. The credential itself is\n" +
			"not printed. The exit code is 7 if one would be refused. No repository is needed.\n\n" +
			"With --json, one object a line.",
		Example: "  mnem config secrets\n  echo 'the password: Xk39-dq2' | mnem config secrets -",
		Answers: []any{guardRuleJSON{}, guardFindingJSON{}},
	}, secrets)
}

func secrets(ctx context.Context, c *line.Line, q *secretsRequest) error {
	if len(q.Files) == 0 {
		return guardRules(c)
	}
	refused := 0
	for _, arg := range q.Files {
		n, err := guardFile(ctx, c, arg)
		if err != nil {
			return err
		}
		refused += n
	}
	if refused > 0 {
		return line.Hint(fmt.Errorf("%w: %s", state.ErrSecret, line.Plural(refused, "finding")),
			"take them out before the text is remembered")
	}
	return nil
}

// guardFile prints what is found in a file and returns how much of it would be refused.
func guardFile(ctx context.Context, c *line.Line, arg string) (refused int, err error) {
	in, name, err := c.Open(ctx, arg)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	data, err := io.ReadAll(io.LimitReader(in, graph.MaxContent+1))
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", name, err)
	}
	if len(data) > graph.MaxContent {
		return 0, line.Hint(fmt.Errorf("%w: %s: more than %d bytes", state.ErrInvalid, name, graph.MaxContent),
			"check it in parts")
	}
	text := string(data)
	at, lineNo, begin := 0, 1, 0
	for _, f := range guard.Find(text) {
		lineNo += strings.Count(text[at:f.Start], "\n")
		if i := strings.LastIndexByte(text[at:f.Start], '\n'); i >= 0 {
			begin = at + i + 1
		}
		at = f.Start
		out := guardFindingJSON{
			File: name, Line: lineNo, Column: f.Start - begin + 1, Start: f.Start, End: f.End,
			Rule: f.Rule, Refuses: f.Level == guard.Refuses,
		}
		if out.Refuses {
			refused++
		}
		if err := show.Answer(&c.Console, out, printFinding); err != nil {
			return 0, err
		}
	}
	return refused, nil
}

func printFinding(c *show.Console, f guardFindingJSON) error {
	what := "reported"
	if f.Refuses {
		what = c.Paint(show.Red, "refused")
	}
	return c.Printf("%s:%d:%d  %s  %s\n", line.OneLine(f.File), f.Line, f.Column, what, f.Rule)
}

func guardRules(c *line.Line) error {
	var rules []guardRuleJSON
	for _, r := range guard.Rules() {
		rules = append(rules, guardRuleJSON{r.ID, r.Level == guard.Refuses, r.About})
	}
	return show.PrintList(&c.Console, rules, func(r guardRuleJSON) []show.Cell {
		does := map[bool]string{true: "refused", false: "reported"}[r.Refuses]
		return show.Row(r.Rule, show.Cyan, does, "", line.OneLine(r.About), show.Dim)
	})
}
