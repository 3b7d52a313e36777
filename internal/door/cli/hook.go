package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/agent/capture"
	"github.com/mnem-project/mnem/internal/agent/hooks"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/verbs"
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
