// Package reach runs verbs for a command line, in this process or in the one that has the repository open, and
// gives them files, models, signatures and progress of this machine.
package reach

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/agent/capture"
	"github.com/mnem-project/mnem/internal/agent/hooks"
	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/gitdir"
	"github.com/mnem-project/mnem/internal/gitfollow"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/model/embed"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/asking"
	"github.com/mnem-project/mnem/internal/verb/ingesting"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/internal/verb/remembering"
	"github.com/mnem-project/mnem/internal/verb/upkeep"
)

// Ask runs a verb.
func Ask(ctx context.Context, c *line.Line, spec *verb.Spec, req any, emit func(any) error) (err error) {
	inJSON := c.InJSON
	if q, ok := req.(interface{ InJSON() bool }); ok {
		inJSON = inJSON || q.InJSON()
	}
	if at := c.ServerURL(); at != "" && !spec.NoRepo {
		return askServer(ctx, c, at, spec, req)
	}
	if only, err := confined(c, verb.WritingOf(req).Agent); err != nil {
		return err
	} else if only == "" && mayCapture(c, spec, req) {
		Capture(ctx, c, readsReceipts(spec))
	}
	if dir, err := keeper(c, req); err != nil {
		return err
	} else if dir != "" {
		return keepElsewhere(ctx, c, dir, spec, req, emit)
	}
	done, err := c.ReadAhead(ctx, req)
	defer done()
	if err != nil {
		return err
	}
	a := &line.Running{Top: req, Typed: !inJSON || c.Quietly || namesGit(req)}
	c.Asked = a
	defer func() {
		if c.Asked = nil; a.Unshare != nil {
			err = line.FirstError(err, a.Unshare())
		}
	}()
	rest, endless := req.(verb.Resumer)
	if !endless {
		if err = spec.Do(ctx, VerbHost{c}, req, emit); err == nil {
			syncLater(c, spec, req)
		}
		return err
	}
	a.Rest, a.Typed = rest, true
	each := func(answer any) error {
		if !inJSON || !spec.Tells(answer) {
			if err := line.FirstError(emit(answer), c.Out.Flush()); err != nil {
				return err
			}
		}
		a.Over = !rest.Answered(answer)
		return nil
	}
	err = spec.Do(ctx, VerbHost{c}, req, each)
	if errors.Is(ctx.Err(), context.Canceled) && line.OutcomeOf(ctx, err) == operation.Interrupted {
		return nil // to be told to stop is how it ends
	}
	return err
}

func worked(c *line.Line) {
	for _, done := range c.Working {
		done()
	}
	c.Working = nil
}

// Verb makes the command of a verb: a flag for each field of its request.
func Verb(c *line.Line, v *line.Bound) *cobra.Command {
	req := v.Spec.Request()
	words := strings.Fields(v.Spec.Command)
	cmd := &cobra.Command{
		Use:   strings.TrimSpace(words[len(words)-1] + " " + v.Spec.Usage),
		Short: v.Spec.Title, Long: WithModels(v.Spec.Doc), Example: v.Spec.Example, GroupID: v.Spec.Group,
		Args: positional(v), Hidden: v.Spec.Hidden,
	}
	if v.Spec.Complete != "" || !namesFile(v.Spec.Usage) {
		cmd.ValidArgsFunction = arguments(c, v)
	}
	for _, f := range v.Spec.Fields() {
		if err := f.SetDefault(req); err != nil {
			panic(err) // seen by the first test that builds the commands
		}
		if !f.Arg && !f.RemoteOnly && (!f.NoFlag || f.Sets) {
			fieldFlag(c, cmd, &f, req)
		}
	}
	setParameters(c, cmd, v.Spec)
	for _, group := range v.Spec.Exclusive() {
		cmd.MarkFlagsMutuallyExclusive(group...)
	}
	for _, group := range v.Spec.Together {
		cmd.MarkFlagsRequiredTogether(group...)
	}
	cmd = c.Command(cmd, func(cmd *cobra.Command, args []string) error {
		given := givenFlags(cmd)
		if n := cmd.ArgsLenAtDash(); n >= 0 {
			given = append(given, "--")
			if q, ok := req.(interface{ SetDash(int) }); ok {
				q.SetDash(n)
			}
		}
		if fields := argFields(v); len(fields) == 1 && fields[0].Words && len(args) > 0 {
			if len(args) == 1 && args[0] == line.StdinName {
				given = append(given, line.StdinName)
			}
			text, err := longText(cmd.Context(), c, args, fields[0].Most)
			if err != nil {
				return err
			}
			args = []string{text}
		}
		named, err := setArgs(v, req, args)
		if err != nil {
			return err
		}
		if given, err = setNamed(v.Spec, req, append(given, named...)); err != nil {
			return err
		}
		verb.SetGiven(req, append(given, AskBoth(c, req, given)...))
		if q, ok := req.(interface{ AcceptsHead() bool }); ok {
			c.AcceptHead = q.AcceptsHead()
		}
		if q, ok := req.(fileReader); ok {
			if names := q.FileNames(); len(names) > 0 {
				c.Inputs = names
				q.SetChanges(func(ctx context.Context) (state.Changes, error) { return c.Lines(ctx, names) })
			}
		}
		return Run(cmd.Context(), v, c, req)
	})
	if q, ok := req.(interface{ Prompt(args []string) string }); ok {
		prompts(c, cmd, q.Prompt)
	}
	return cmd
}

// prompts lets a command ask a terminal for its standard input before the command may go to another process, which has
// no terminal.
func prompts(c *line.Line, cmd *cobra.Command, prompt func([]string) string) {
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if text := prompt(args); text != "" && c.App.Hidden != nil {
			typed, err := c.App.Hidden(text)
			if err != nil {
				c.Started = true
				return fmt.Errorf("ask for the text: %w", err)
			}
			c.App.Stdin = bytes.NewReader(typed)
		}
		return run(cmd, args)
	}
}

func givenFlags(cmd *cobra.Command) (given []string) {
	cmd.Flags().Visit(func(f *pflag.Flag) { given = append(given, f.Name) })
	return given
}

// LineReader is a request of a verb that reads change lines, fileReader one that names their files.
type LineReader interface {
	SetChanges(read func(context.Context) (state.Changes, error))
}

type fileReader interface {
	LineReader
	FileNames() []string
}

// quoteNames marks the name of a flag's value in its help as cobra does.
var quoteNames = strings.NewReplacer("{", "`", "}", "`")

func fieldFlag(c *line.Line, cmd *cobra.Command, f *verb.Field, req any) {
	flags := cmd.Flags()
	usage := WithModels(quoteNames.Replace(f.Doc)) + f.Note
	switch to := f.Value(req).Addr().Interface().(type) {
	case *string:
		flags.StringVarP(to, f.Name, f.Short, *to, usage)
	case *int:
		flags.IntVarP(to, f.Name, f.Short, *to, usage)
	case *float64:
		flags.Float64VarP(to, f.Name, f.Short, *to, usage)
	case *time.Duration:
		flags.DurationVarP(to, f.Name, f.Short, *to, usage)
	case *graph.OptTime:
		flags.VarP(&timeValue{f, req, to}, f.Name, f.Short, usage)
	case *bool:
		flags.BoolVarP(to, f.Name, f.Short, *to, usage)
	case *[]string:
		if f.Comma {
			flags.StringSliceVarP(to, f.Name, f.Short, *to, usage)
		} else {
			flags.StringArrayVarP(to, f.Name, f.Short, *to, usage)
		}
	}
	if f.Alone {
		flags.Lookup(f.Name).NoOptDefVal = f.True
	}
	if f.NoFlag && f.Sets {
		_ = flags.MarkHidden(f.Name) // it is there
	}
	switch {
	case f.Complete != "":
		completeBy(c, cmd, f.Name, completer(c, f.Complete))
	case f.Enum != nil:
		completeBy(c, cmd, f.Name, fixed(f.Enum))
	case f.Kind != operation.Boolean && !f.Sets && !namesFile(f.Doc):
		completeBy(c, cmd, f.Name, cobra.NoFileCompletions)
	}
}

// timeValue is the flag of a field for a time that may be absent.
type timeValue struct {
	field *verb.Field
	req   any
	to    *graph.OptTime
}

func (v *timeValue) String() string         { return v.to.String() }
func (v *timeValue) Set(value string) error { return v.field.Set(v.req, []string{value}) }
func (v *timeValue) Type() string           { return "time" }

// argFields are the fields that positional arguments fill here.
func argFields(v *line.Bound) (list []verb.Field) {
	for _, f := range v.Spec.Fields() {
		if f.Arg && !f.RemoteOnly {
			list = append(list, f)
		}
	}
	return list
}

// positional says which positional arguments there may be, those that Usage names, and which flags go together.
func positional(v *line.Bound) cobra.PositionalArgs {
	check := line.Positionals(line.FirstOf(v.Spec.Args, v.Spec.Usage))
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return err
		}
		return v.CheckFlags(cmd)
	}
}

// setArgs assigns positional arguments and returns the fields' names. A list takes what the fields around it leave.
func setArgs(v *line.Bound, req any, args []string) (given []string, err error) {
	fields := argFields(v)
	for i := range fields {
		n := min(1, len(args))
		if fields[i].Kind == operation.Strings {
			n = max(0, len(args)-(len(fields)-i-1))
		}
		if n == 0 {
			continue
		}
		if err := fields[i].Set(req, args[:n]); err != nil {
			return nil, err
		}
		args, given = args[n:], append(given, fields[i].Name)
	}
	return given, nil
}

// Fixed returns the value that a field has for every remote caller, if it is fixed.
func Fixed(v *line.Bound, f *verb.Field) (value string, ok bool) {
	if v.Spec.Body != "" && f.Arg && !f.Remote {
		return verb.Itself, true
	}
	for _, flag := range v.Spec.Fixed {
		if value, ok = strings.CutPrefix(flag, "--"+f.Name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// VerbHost is the command line as verbs see it.
type VerbHost struct{ C *line.Line }

// Open implements verb.Host.
func (h VerbHost) Open(ctx context.Context, job *verb.Job, fn func(context.Context) error) (err error) {
	a := h.C.Asked
	outer := a.Job
	a.Job = job
	defer func() { a.Job = outer }()
	// A program that asks by standard input may pause between two questions: others may use the repository then.
	q, asks := a.Top.(interface{ ReadsOnce() bool })
	converses := asks && q.ReadsOnce() && !h.C.Steady()
	if a.Unshare == nil && (h.C.Long && job.Write || a.Rest != nil || converses) {
		if a.Unshare, err = share(h.C); err != nil {
			return err
		}
	}
	err = withRepo(ctx, h.C, job.Write, func(ctx context.Context, _ *core.Repo) error { return fn(ctx) })
	if elsewhere, ok := errors.AsType[*answeredError](err); ok {
		return elsewhere.err
	}
	return err
}

// Repo implements verb.Host.
func (h VerbHost) Repo() *core.Repo { return h.C.Opened }

// Permit implements verb.Host.
func (h VerbHost) Permit(agent string, rights []string) error {
	return permit(h.C, line.FirstOf(agent, h.C.Agent()), rights)
}

// Only implements verb.Host.
func (h VerbHost) Only(agent string) (only string, err error) { return confined(h.C, agent) }

// Stamp implements verb.Host. Flags take precedence over the configuration.
func (h VerbHost) Stamp(_ *verb.Spec, w *verb.Writing) (state.Stamp, error) {
	c := h.C
	c.Global.Writing = *w
	if _, err := c.Dir(); err != nil && w.Signs { // if there is no repository nothing else is worth a word
		return state.Stamp{}, err
	}
	var err error
	if c.Asked.Stamp, err = c.Stamp(); err == nil && w.Signs && !w.DryRun {
		c.Asked.Stamp.Sign, err = signer(c, c.Asked.Stamp.Time)
	}
	return c.Asked.Stamp, err
}

// Now implements verb.Host.
func (h VerbHost) Now() (graph.Time, error) { return h.C.Now() }

// Trusted implements verb.Host.
func (h VerbHost) Trusted() (commit.Verifier, error) { return h.C.Trusted() }

// Working implements verb.Host.
func (h VerbHost) Working(what string) func() {
	p := h.C.Progress()
	p.Start(what)
	h.C.Working = append(h.C.Working, p.Done)
	return func() { worked(h.C) }
}

// Defaults implements verb.Host.
func (h VerbHost) Defaults(w *verb.Writing) {
	w.Branch = line.FirstOf(w.Branch, h.C.By.Branch)
	w.Stage = line.FirstOf(w.Stage, h.C.By.Stage)
}

// Require implements verb.Host.
func (h VerbHost) Require(rule string, given bool) (func(iter.Seq2[commit.LogEntry, error]) error, error) {
	return requireSigned(h.C, rule, given)
}

// Progress implements verb.Host.
func (h VerbHost) Progress() (set func(what string, done, total int), done func()) {
	p := h.C.Progress()
	h.C.Working = append(h.C.Working, p.Done)
	return p.Set, p.Done
}

// Setting implements verb.Caller.
func (h VerbHost) Setting(variable, key string) (string, error) {
	if variable == "MNEM_SESSION" {
		return h.C.By.Session, nil // answers are recorded only where the caller says
	}
	if v := h.C.Env(variable); v != "" {
		return v, nil
	}
	return h.C.Setting(key)
}

// Embedder implements verb.Caller.
func (h VerbHost) Embedder(spec string, progress func(done, total int)) (verb.Embedder, error) {
	if err := there(h.C); err != nil {
		return nil, err
	}
	e, err := Embedder(h.C, spec, "--model", embed.OpenOptions{Progress: progress})
	return documents{e}, err
}

// OpenRoot implements verb.Host.
func (h VerbHost) OpenRoot(dir string) (*os.Root, error) {
	path, err := h.C.Absolute(dir), h.C.MayName(dir)
	if dir == "" {
		path, err = h.C.Dir()
	}
	if err != nil {
		return nil, err
	}
	return regular.OpenDir(path)
}

// Create implements verb.Host.
func (h VerbHost) Create(ctx context.Context, name string, write func(io.Writer) error) error {
	switch {
	case name != line.StdinName:
		if err := h.C.MayName(name); err != nil {
			return err
		}
		return h.C.WriteOut(ctx, h.C.Absolute(name), write)
	case h.C.App.OutTTY:
		return line.Usagef("standard output is a terminal: name a file with -o FILE")
	}
	return write(h.C.Out)
}

// Read implements verb.Host.
func (h VerbHost) Read(ctx context.Context, name string) (*verb.File, error) {
	return h.C.Seekable(ctx, name)
}

// Human implements verb.Host.
func (h VerbHost) Human() bool { return !h.C.InJSON }

// Bind binds a verb to what prints its answers.
func Bind[Req, Res any](v *verb.Verb[Req, Res], print func(*show.Console, Res) error) *line.Bound {
	return &line.Bound{Spec: &v.Spec, Print: func(c *show.Console, _, answer any) error {
		return print(c, answer.(Res))
	}}
}

// BindAs is bind for answers that are printed as the request says.
func BindAs[Req, Res any](v *verb.Verb[Req, Res], print func(*show.Console, *Req, Res) error) *line.Bound {
	return &line.Bound{Spec: &v.Spec, Print: func(c *show.Console, req, answer any) error {
		return print(c, req.(*Req), answer.(Res))
	}}
}

// BindTable is bind for a stream whose answers are rows of one table.
func BindTable[Req, Res any](v *verb.Verb[Req, Res], row func(*show.Console, Res) []show.Cell) *line.Bound {
	return &line.Bound{Spec: &v.Spec, Row: func(c *show.Console, answer any) []show.Cell {
		return row(c, answer.(Res))
	}}
}

// Plain binds a verb whose answers are printed by their names: one as names and values, any number as a table.
func Plain(spec *verb.Spec) *line.Bound {
	if spec.Stream() {
		return &line.Bound{Spec: spec, Row: show.FieldRow}
	}
	return &line.Bound{Spec: spec, Print: func(c *show.Console, _, answer any) error { return show.Fields(c, answer) }}
}

// Run runs a verb with a request of its own and prints the answers.
func Run(ctx context.Context, v *line.Bound, c *line.Line, req any) error {
	if err := permits(c, v, req); err != nil {
		return err
	}
	once := func(ctx context.Context) error { return answer(ctx, v, c, req) }
	if v.Around != nil {
		return v.Around(ctx, c, req, once)
	}
	return once(ctx)
}

func answer(ctx context.Context, v *line.Bound, c *line.Line, req any) error {
	c.Answers, c.Long = 0, v.Spec.Long
	var rows [][]show.Cell
	err := Ask(ctx, c, v.Spec, req, func(answer any) error {
		c.Answers++
		worked(c)
		if namesGit(req) {
			if err := nameGit(ctx, c, answer); err != nil {
				return err
			}
		}
		switch {
		case c.InJSON:
			return c.PrintJSON(answer)
		case v.Row == nil:
			return v.Print(&c.Console, req, answer)
		}
		if r := v.Row(&c.Console, answer); r != nil {
			rows = append(rows, r)
		}
		return nil
	})
	worked(c)
	if news, ok := errors.AsType[*verb.News](err); ok {
		c.Exit, err = news.Outcome.Exit, nil
	}
	return line.FirstError(err, c.Table(rows))
}

// Local declares a command of this program that is no verb: it is about files, keys and servers of this machine. Its
// flags, arguments, help and completion follow from its request, as those of verbs do.
func Local[Req any](spec verb.Spec, run func(context.Context, *line.Line, *Req) error) *line.Bound {
	around := func(ctx context.Context, c *line.Line, req any, _ func(context.Context) error) error {
		if q, ok := req.(verb.Checker); ok {
			if err := q.Check(); err != nil {
				return err
			}
		}
		c.Global.Writing = verb.WritingOf(req)
		return run(ctx, c, req.(*Req))
	}
	return &line.Bound{Spec: verb.Here(spec, reflect.TypeFor[Req](), false), Around: around}
}

// LocalLines is local for a command that prints any number of answers, one a line as JSON.
func LocalLines[Req any](spec verb.Spec, run func(context.Context, *line.Line, *Req) error) *line.Bound {
	v := Local(spec, run)
	v.Spec = verb.Here(spec, reflect.TypeFor[Req](), true)
	return v
}

// longText returns the text of arguments, or the first bytes of standard input for "-": most, 0 for a memory's.
func longText(ctx context.Context, c *line.Line, args []string, most int) (string, error) {
	if len(args) != 1 || args[0] != line.StdinName {
		return strings.Join(args, " "), nil
	}
	if most == 0 {
		most = 4 * memory.MaxText
	}
	in := line.NewPatientReader(ctx, c.App.Stdin)
	data, err := io.ReadAll(io.LimitReader(in, int64(most)))
	return string(data), err
}

// mayCapture reports whether what hooks noted is taken in before a verb answers: where it reads the newest
// memory, or what sessions recorded, for the user of this machine, and before texts are erased.
func mayCapture(c *line.Line, spec *verb.Spec, req any) bool {
	server := c.By.Remote && c.By.NoSign // whose callers may be allowed to read alone
	reads := spec.Group == "read" && spec.EffectOf(req) == verb.Reads
	reads = reads || (spec == &remembering.Review.Spec || spec == &remembering.Cues.Spec) && spec.EffectOf(req) == verb.Reads
	return (reads || readsReceipts(spec)) && !c.Quietly && !server && !slices.Contains(verb.GivenOf(req), "at")
}

// readsReceipts reports whether a verb is about receipts of sessions.
func readsReceipts(spec *verb.Spec) bool {
	return slices.Contains([]*verb.Spec{
		&asking.Last.Spec, &upkeep.Replay.Spec, &asking.SessionLog.Spec, &asking.SessionList.Spec, &upkeep.Purge.Spec,
	}, spec)
}

// Capture takes in what hooks noted. Reading goes on whatever comes of it.
func Capture(ctx context.Context, c *line.Line, receipts bool) {
	dir, err := c.Dir()
	if err != nil {
		return
	}
	spool := filepath.Join(dir, core.DirName)
	if !capture.Pending(spool) && !(receipts && capture.Unrecorded(spool)) {
		return
	}
	if on, err := c.Configured(hooks.OnKey); err != nil || on == "false" {
		return
	}
	if err := c.Follow(); err == nil && c.By.Following != nil && c.By.Following.ReadOnly != "" {
		return // it is taken in where there is a branch to write to
	}
	req, err := ingesting.Capture.DecodeRequest([]byte(`{"some":true}`), []string{"some"})
	if err == nil {
		err = AskAside(ctx, Aside(ctx, c, dir), &ingesting.Capture.Spec, req, func(any) error { return nil })
	}
	if err != nil && !errors.Is(err, store.ErrReadOnly) {
		c.Remark("what agents said is not taken in yet, 'mnem capture' tells why")
	}
}

// namesGit reports whether a request asks which commits of git there were at the time.
func namesGit(req any) bool {
	q, ok := req.(interface{ NamesGit() bool })
	return ok && q.NamesGit()
}

// nameGit writes into an answer at which commit HEAD of the git work tree was when commits of the memory were made.
func nameGit(ctx context.Context, c *line.Line, answer any) error {
	if c.GitTree == nil {
		tree, err := c.WorkTree()
		if errors.Is(err, gitdir.ErrNone) {
			return line.Hint(line.Usagef("--git: %w", err), "run it in a git work tree, or leave out --git")
		}
		if err != nil {
			return err
		}
		c.GitTree = tree
	}
	return gitfollow.Name(ctx, c.GitTree, answer)
}
