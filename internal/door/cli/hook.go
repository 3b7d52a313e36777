package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/agent/capture"
	"github.com/mnem-project/mnem/internal/agent/hooks"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/asking"
	"github.com/mnem-project/mnem/internal/verb/ingesting"
	"github.com/mnem-project/mnem/internal/verb/remembering"
	"github.com/mnem-project/mnem/internal/verb/upkeep"
)

const hookName = "hook"

// hookWithin is how long a hook waits for an answer in all: an agent's user waits meanwhile. Tests that ask
// what is answered give it more, since they share their machine.
var hookWithin = 500 * time.Millisecond

func (c *cli) hookCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "hook HOST EVENT",
		GroupID: groupChange,
		Short:   "Handle an event of an agent's program",
		Long: "What programs that run agents call when something happens: they say it in JSON on standard\n" +
			"input. HOST is claude-code, codex, gemini, cursor or opencode; EVENT is session-start, prompt,\n" +
			"stop, compact or session-end, or the host's own name of it, as UserPromptSubmit.\n\n" +
			"A hook notes that a transcript has grown; the next command that reads takes it in ('mnem capture'\n" +
			"does at once). When a session starts it answers with what is pinned ('mnem pin'), what contradicts\n" +
			"itself and what is news since the last session, 500 tokens, and with a prompt with at most two\n" +
			"memories that bear on it, 250 tokens, each once in a session, and with nothing where none is sure\n" +
			"to. 'mnem last' prints what it was. It waits for nobody, and whatever goes wrong it prints nothing\n" +
			"and its exit code is 0.\n\n" +
			"MNEM_HOOKS=false, or 'mnem config set hooks false', turns hooks off. With MNEM_PRIVATE=true, or\n" +
			"'mnem config set private true' for a project, they note nothing, and still tell what is known.\n" +
			"docs/hooks.md tells how programs are set up.",
		Example: "  mnem hook claude-code stop <hook.json",
		Args:    Positionals("HOST EVENT"),
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
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		return c.hook(cmd.Context(), args[0], args[1])
	})
}

// isHook reports whether a command line calls a hook, whatever flags of all commands stand before it.
func isHook(args []string) bool {
	first := slices.Index(args, hookName)
	if first <= 0 {
		return first == 0
	}
	side := &cobra.Command{}
	(&cli{app: &App{Getenv: func(string) string { return "" }}}).rootFlags(side)
	flags := side.PersistentFlags()
	flags.SetInterspersed(false)
	if flags.Parse(args) == nil {
		return flags.Arg(0) == hookName
	}
	// A flag that is wrong: the host is told nothing if it may have meant a hook.
	return !slices.ContainsFunc(commands(slices.Concat(verbs(), locals())), func(name string) bool {
		return name != hookName && slices.Contains(args[:first], name)
	})
}

// hook runs the command hook so that it can do no harm to the program that calls it.
func (a *App) hook(ctx context.Context, args []string) (exit int) {
	defer func() { _ = recover() }() // an agent's program shows its user what a hook says of itself
	var out bytes.Buffer
	quiet := *a
	quiet.Stdout, quiet.Stderr = &out, io.Discard
	if quiet.runCommand(ctx, args) == 0 {
		_, _ = a.Stdout.Write(out.Bytes())
	}
	return 0
}

func (c *cli) hook(ctx context.Context, host, event string) error {
	h := &hooks.Host{
		Ask: func(
			ctx context.Context, dir string, v *verb.Spec, req any, wait time.Duration, emit func(any) error,
		) error {
			side := c.aside(ctx, dir)
			side.global.wait, side.doing.wait = wait, true
			return side.askAside(ctx, v, req, emit)
		},
		Find: func(from string) (string, error) {
			c.app.Dir = firstOf(from, c.app.Dir)
			return c.dir()
		},
		Beside: c.beside, Configured: c.configured, Getenv: c.app.Getenv, Home: c.app.Home, Now: c.app.clock,
		Within: hookWithin,
	}
	said, err := h.Call(ctx, host, event, c.app.Stdin)
	return errors.Join(err, c.Printf("%s", said))
}

// bindLast binds the verb that tells what an agent was given, and says so where that is nothing.
func bindLast() *bound {
	v := bind(asking.Last, (*show.Console).Last)
	v.around = func(ctx context.Context, c *cli, _ any, run func(context.Context) error) error {
		err := run(ctx)
		if err == nil && c.Answers == 0 {
			c.Remark("nothing was given to an agent yet")
		}
		return err
	}
	return v
}

// mayCapture reports whether what hooks noted is taken in before a verb answers: where it reads the newest
// memory, or what sessions recorded, for the user of this machine, and before texts are erased.
func (c *cli) mayCapture(spec *verb.Spec, req any) bool {
	server := c.by.Remote && c.by.Sign == "false" // whose callers may be allowed to read alone
	reads := spec.Group == "read" && spec.EffectOf(req) == verb.Reads
	reads = reads || spec == &remembering.Review.Spec && spec.EffectOf(req) == verb.Reads
	return (reads || readsReceipts(spec)) && !c.quietly && !server && !slices.Contains(verb.GivenOf(req), "at")
}

// readsReceipts reports whether a verb is about receipts of sessions.
func readsReceipts(spec *verb.Spec) bool {
	return slices.Contains([]*verb.Spec{
		&asking.Last.Spec, &upkeep.Replay.Spec, &asking.SessionLog.Spec, &asking.SessionList.Spec, &upkeep.Purge.Spec,
	}, spec)
}

// capture takes in what hooks noted. Reading goes on whatever comes of it.
func (c *cli) capture(ctx context.Context, receipts bool) {
	dir, err := c.dir()
	if err != nil {
		return
	}
	spool := filepath.Join(dir, core.DirName)
	if !capture.Pending(spool) && !(receipts && capture.Unrecorded(spool)) {
		return
	}
	if on, err := c.configured(hooks.OnKey); err != nil || on == "false" {
		return
	}
	if err := c.follow(); err == nil && c.by.Following != nil && c.by.Following.ReadOnly != "" {
		return // it is taken in where there is a branch to write to
	}
	req, err := ingesting.Capture.DecodeRequest([]byte(`{"some":true}`), []string{"some"})
	if err == nil {
		err = c.aside(ctx, dir).askAside(ctx, &ingesting.Capture.Spec, req, func(any) error { return nil })
	}
	if err != nil && !errors.Is(err, store.ErrReadOnly) {
		c.Remark("what agents said is not taken in yet, 'mnem capture' tells why")
	}
}
