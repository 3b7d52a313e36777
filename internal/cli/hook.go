package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/capture"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/retrieve"
	"github.com/mnem-project/mnem/store"
)

const (
	hookName = "hook"
	hooksKey = "hooks"
	// privateKey is the setting by which hooks note nothing.
	privateKey = "private"
	// hookWait is how long a hook waits for another process to let go of the repository.
	hookWait = 50 * time.Millisecond
	// hookItems and hookTokens bound what an agent is given with a prompt.
	hookItems  = 2
	hookTokens = 250
	// hookAsked is how many items are asked for, since some were shown before or are what was said itself.
	hookAsked = 16
	// hookQuery is how much of a prompt is looked for, in bytes: what comes after it was pasted.
	hookQuery = 2000
	// hookWhy is how much is noted of why nothing could be asked, in characters.
	hookWhy = 200
)

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
			"stop, compact or session-end.\n\n" +
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
		Args:    cobra.ExactArgs(2),
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
	limit := capture.MaxInput(host)
	data, err := io.ReadAll(io.LimitReader(c.app.Stdin, limit+1))
	if err != nil {
		return err
	}
	if int64(len(data)) > limit {
		return fmt.Errorf("%w: more than %d bytes", capture.ErrInput, limit)
	}
	call, err := capture.Parse(host, event, data)
	if err != nil {
		return err
	}
	if call.Dir != "" {
		c.app.Dir = call.Dir
	}
	dir, err := c.dir()
	if err != nil {
		return err
	}
	if on, err := c.configured(hooksKey); err != nil || on == "false" {
		return err
	}
	spool := filepath.Join(dir, repo.DirName)
	private, err := c.private(spool, call)
	if err != nil {
		return err
	}
	if !private {
		err = c.noteCall(ctx, dir, call)
	}
	tell := map[capture.Event]func(context.Context, string, *telling) error{
		capture.SessionStart: c.sessionBrief, capture.Prompt: c.known,
	}[call.Event]
	if call.Forgets() {
		err = errors.Join(err, capture.ForgetShown(spool, call))
	}
	if tell == nil {
		return err
	}
	t := &telling{call: call, private: private}
	if err = tell(ctx, dir, t); err != nil {
		t.text, t.items = "", nil
	}
	if t.asked && !private {
		_ = c.noteTold(ctx, spool, t, err) // what is known is said even where nothing can be noted
	}
	return errors.Join(err, c.printf("%s", capture.Output(call.Host, call.Event, t.text)))
}

// private reports whether nothing may be noted of a session, and has that hold from now on where the configuration
// or the environment says so.
func (c *cli) private(spool string, call *capture.Call) (bool, error) {
	on, err := c.configured(privateKey)
	if err != nil {
		return true, err
	}
	if on == "true" || on == "1" {
		return true, capture.MarkPrivate(spool, call)
	}
	return capture.Private(spool, call)
}

// noteCall notes that the transcript of a call has grown.
func (c *cli) noteCall(ctx context.Context, dir string, call *capture.Call) error {
	var e *capture.Entry
	var err error
	if call.Talk != nil {
		e, err = capture.NoteTalk(filepath.Join(dir, repo.DirName), call)
	} else {
		e, err = capture.EntryOf(call, c.app.Home, c.env("CLAUDE_CONFIG_DIR"), c.env("CODEX_HOME"), dir)
	}
	if err != nil {
		return err
	}
	anew := call.Event != capture.SessionStart && call.Event != capture.Prompt
	return capture.Note(ctx, filepath.Join(dir, repo.DirName), e, anew)
}

// telling is what an agent is given at a call.
type telling struct {
	call    *capture.Call
	private bool // whether nothing may be noted
	asked   bool // whether the memory was asked
	answer  *ops.Answer
	items   []ops.AnswerItem // of the answer, that are given
	text    string           // "" for nothing
}

// noteShown notes what was shown in the session.
func (t *telling) noteShown(spool string, shown []graph.ID) error {
	if t.private {
		return nil
	}
	return capture.NoteShown(spool, t.call, shown)
}

func (t *telling) give(item ops.AnswerItem) {
	t.items = append(t.items, item)
	t.text += item.Rendered
}

// noteTold notes what an agent is given, or why it is given nothing.
func (c *cli) noteTold(ctx context.Context, spool string, t *telling, why error) error {
	told := &capture.Told{Time: c.app.clock(), Host: t.call.Host, Session: t.call.Session, Event: t.call.Event}
	if t.answer != nil {
		told.Commit = t.answer.Commit
	}
	if why != nil {
		told.Why = brief(why.Error(), hookWhy)
	}
	if t.text != "" {
		told.Text = fmt.Sprintf("%x", sha256.Sum256([]byte(t.text)))
	}
	for _, item := range t.items {
		told.Items, told.Tokens = append(told.Items, item.ID), told.Tokens+item.Tokens
	}
	if len(t.items) > 0 && t.answer.Draft != nil {
		told.Draft, told.Receipt = t.answer.Draft, t.answer.Draft.CID()
	}
	return capture.NoteTold(ctx, spool, told)
}

// known has an agent be given with a prompt what is sure to bear on it.
func (c *cli) known(ctx context.Context, dir string, t *telling) error {
	query := strings.ToValidUTF8(t.call.Prompt[:min(len(t.call.Prompt), hookQuery)], "")
	if strings.TrimSpace(query) == "" || strings.HasPrefix(query, "/") { // a command of the program
		return nil
	}
	spool := filepath.Join(dir, repo.DirName)
	query, _, err := ops.Redactor(spool).Redact(query) // receipts have it
	if err != nil {
		return err
	}
	words, err := capture.WordsOf(query)
	if err != nil {
		return err
	}
	shown, err := capture.Shown(spool, t.call)
	if err != nil {
		return err
	}
	t.asked = true
	params := map[string]any{"query": query, "limit": hookAsked, "floor": retrieve.FloorAnswer, "explain": true}
	if t.answer, err = c.answered(ctx, dir, params); err != nil {
		return err
	}
	items, tokens := t.answer.Items, 0
	if own := c.beside(); own != "" {
		if more, err := c.answered(ctx, own, params); err == nil { // what the project knows is told without it
			items = slices.Concat(items, more.Items)
		}
	}
	for _, item := range items {
		if retrieve.IsSaid(item.Type) || item.Band != retrieve.BandAnswer || !words.Bear(termsOf(item)) || slices.Contains(shown, item.ID) ||
			len(t.items) == hookItems || tokens+item.Tokens > hookTokens {
			continue
		}
		shown, tokens = append(shown, item.ID), tokens+item.Tokens
		t.give(item)
	}
	if len(t.items) == 0 {
		return nil
	}
	t.text = hookOrigin + t.text
	return t.noteShown(spool, shown) // else it would be said with every prompt
}

// termsOf returns the terms of the question that an item has.
func termsOf(item ops.AnswerItem) (terms []string) {
	if item.ItemWhy == nil {
		return nil
	}
	for _, t := range item.Terms {
		if !t.Added {
			terms = append(terms, t.Term)
		}
	}
	return terms
}

// answered returns the answer to a request that is asked for in time.
func (c *cli) answered(ctx context.Context, dir string, params map[string]any) (out *ops.Answer, err error) {
	err = c.askFor(ctx, dir, &ops.Retrieve.Spec, params, func(answer any) { out = answer.(*ops.Answer) })
	return out, err
}

// askFor asks for an answer, with its receipt, that must come in time.
func (c *cli) askFor(
	ctx context.Context, dir string, spec *ops.Spec, params map[string]any, take func(answer any),
) error {
	asked, err := json.Marshal(params)
	if err != nil {
		return err
	}
	req, err := spec.DecodeRequest(asked, slices.Sorted(maps.Keys(params)))
	if err != nil {
		return err
	}
	switch q := req.(type) {
	case *ops.RetrieveRequest:
		q.Draft = true
	case *ops.BriefRequest:
		q.Draft = true
	}
	ctx, stop := context.WithTimeout(ctx, hookWithin)
	defer stop()
	side := c.aside(ctx, dir)
	side.global.wait, side.doing.wait = hookWait, true
	answered := false
	err = side.askAside(ctx, spec, req, func(answer any) error {
		take(answer)
		answered = true
		return nil
	})
	if err == nil && !answered {
		err = errors.New("no answer")
	}
	return err
}

// mayCapture reports whether what hooks noted is taken in before a verb answers: where it reads the newest
// memory, or what sessions recorded, for the user of this machine, and before texts are erased.
func (c *cli) mayCapture(spec *ops.Spec, req any) bool {
	server := c.by.Remote && c.by.Sign == "false" // whose callers may be allowed to read alone
	reads := spec.Group == "read" && spec.EffectOf(req) == ops.Reads
	reads = reads || spec == &ops.Review.Spec && spec.EffectOf(req) == ops.Reads
	return (reads || readsReceipts(spec)) && !c.quietly && !server && !slices.Contains(ops.GivenOf(req), "at")
}

// readsReceipts reports whether a verb is about receipts of sessions.
func readsReceipts(spec *ops.Spec) bool {
	return slices.Contains([]*ops.Spec{
		&ops.Last.Spec, &ops.Replay.Spec, &ops.SessionLog.Spec, &ops.SessionList.Spec, &ops.Purge.Spec,
	}, spec)
}

// capture takes in what hooks noted. Reading goes on whatever comes of it.
func (c *cli) capture(ctx context.Context, receipts bool) {
	dir, err := c.dir()
	if err != nil {
		return
	}
	spool := filepath.Join(dir, repo.DirName)
	if !capture.Pending(spool) && !(receipts && capture.Unrecorded(spool)) {
		return
	}
	if on, err := c.configured(hooksKey); err != nil || on == "false" {
		return
	}
	if err := c.follow(); err == nil && c.by.Following != nil && c.by.Following.ReadOnly != "" {
		return // it is taken in where there is a branch to write to
	}
	req, err := ops.Capture.DecodeRequest([]byte(`{"some":true}`), []string{"some"})
	if err == nil {
		err = c.aside(ctx, dir).askAside(ctx, &ops.Capture.Spec, req, func(any) error { return nil })
	}
	if err != nil && !errors.Is(err, store.ErrReadOnly) {
		c.remark("what agents said is not taken in yet, 'mnem capture' tells why")
	}
}

// printCaptured prints what became of what hooks noted.
func (c *cli) printCaptured(q *ops.CaptureRequest, a *ops.Captured) error {
	if q.Retire {
		return c.printRetired(a)
	}
	said := fmt.Sprintf("%s of %s", plural(a.Turns, "turn"), plural(a.Sessions, "session"))
	if a.Redacted > 0 {
		said += fmt.Sprintf(", %s taken out", plural(a.Redacted, "credential"))
	}
	if a.Left > 0 {
		said += fmt.Sprintf("; %s left whose transcripts cannot be read now", plural(a.Left, "session"))
	}
	if a.Retired > 0 {
		said += fmt.Sprintf("; %s retired", plural(a.Retired, "turn"))
	}
	if a.Receipts > 0 {
		said += fmt.Sprintf("; %s of what agents were given", plural(a.Receipts, "receipt"))
	}
	if a.Commit.Defined() {
		said += " in commit " + a.Commit.String()
	}
	return c.printf("%s\n", said)
}

// printRetired prints how many turns were retired.
func (c *cli) printRetired(a *ops.Captured) error {
	switch {
	case a.DryRun:
		return c.printf("%s would be retired\n", plural(a.Retired, "turn"))
	case a.Commit.Defined():
		return c.printf("%s retired in commit %s\n", plural(a.Retired, "turn"), a.Commit)
	}
	return c.printf("%s retired\n", plural(a.Retired, "turn"))
}
