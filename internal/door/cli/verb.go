package cli

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/model/embed"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/internal/verb/peers"
)

// running is a verb that runs: here, or where the repository is open.
type running struct {
	spec  *verb.Spec
	req   any
	emit  func(answer any) error
	typed bool        // whether emit is given answers, and not JSON printed as it comes
	stamp state.Stamp // of a verb that writes, once it is made

	rest verb.Resumer // the request of a verb without an end, nil of others
	over bool         // whether no more answers are wanted
}

// ask runs a verb.
func (c *cli) ask(ctx context.Context, spec *verb.Spec, req any, emit func(any) error) error {
	inJSON := c.InJSON
	if q, ok := req.(interface{ InJSON() bool }); ok {
		inJSON = inJSON || q.InJSON()
	}
	if at := c.serverURL(); at != "" && !spec.NoRepo {
		return c.askServer(ctx, at, spec, req)
	}
	if c.mayCapture(spec, req) {
		c.capture(ctx, readsReceipts(spec))
	}
	if dir, err := c.keeper(req); err != nil {
		return err
	} else if dir != "" {
		return c.keepElsewhere(ctx, dir, spec, req, emit)
	}
	done, err := c.readAhead(ctx, req)
	defer done()
	if err != nil {
		return err
	}
	a := &running{spec: spec, req: req, emit: emit, typed: !inJSON || c.quietly || namesGit(req)}
	c.asked = a
	defer func() {
		if c.asked = nil; c.ahead != nil {
			_ = c.ahead.Close() // nothing was sent
		}
	}()
	rest, endless := req.(verb.Resumer)
	if !endless {
		return spec.Do(ctx, host{c}, req, emit)
	}
	a.rest, a.typed = rest, true
	a.emit = func(answer any) error {
		if !inJSON || !spec.Tells(answer) {
			if err := firstError(emit(answer), c.Out.Flush()); err != nil {
				return err
			}
		}
		a.over = !rest.Answered(answer)
		return nil
	}
	err = spec.Do(ctx, host{c}, req, a.emit)
	if errors.Is(ctx.Err(), context.Canceled) && outcomeOf(ctx, err) == operation.Interrupted {
		return nil // to be told to stop is how it ends
	}
	return err
}

// worked ends what shows that something takes its time.
func (c *cli) worked() {
	for _, done := range c.working {
		done()
	}
	c.working = nil
}

// operationVerbs are the verbs by the names of their operations.
var operationVerbs = sync.OnceValue(func() map[string]*bound {
	of := make(map[string]*bound)
	for _, v := range verbs() {
		of[v.spec.Name()] = v
		if v.spec.Batch != nil {
			of[v.spec.Name()+"_batch"] = v
		}
	}
	return of
})

// verb makes the command of a verb: a flag for each field of its request.
func (c *cli) verb(v *bound) *cobra.Command {
	req := v.spec.Request()
	words := strings.Fields(v.spec.Command)
	cmd := &cobra.Command{
		Use:   strings.TrimSpace(words[len(words)-1] + " " + v.spec.Usage),
		Short: v.spec.Title, Long: withModels(v.spec.Doc), Example: v.spec.Example, GroupID: v.spec.Group,
		Args: v.positional(),
	}
	if v.spec.Complete != "" {
		cmd.ValidArgsFunction = c.arguments(v)
	}
	for _, f := range v.spec.Fields() {
		if err := f.SetDefault(req); err != nil {
			panic(err) // seen by the first test that builds the commands
		}
		if !f.Arg {
			c.fieldFlag(cmd, &f, req)
		}
	}
	for _, f := range v.spec.Fields() {
		for _, other := range f.Not {
			cmd.MarkFlagsMutuallyExclusive(other, f.Name)
		}
	}
	for _, group := range v.spec.Exclude {
		cmd.MarkFlagsMutuallyExclusive(group...)
	}
	for _, group := range v.spec.Together {
		cmd.MarkFlagsRequiredTogether(group...)
	}
	cmd = c.command(cmd, func(cmd *cobra.Command, args []string) error {
		given := givenFlags(cmd)
		if n := cmd.ArgsLenAtDash(); n >= 0 {
			given = append(given, "--")
			if q, ok := req.(interface{ SetDash(int) }); ok {
				q.SetDash(n)
			}
		}
		if fields := v.args(); len(fields) == 1 && fields[0].Words && len(args) > 0 {
			if len(args) == 1 && args[0] == stdinName {
				given = append(given, stdinName)
			}
			text, err := c.longText(cmd.Context(), args, fields[0].Most)
			if err != nil {
				return err
			}
			args = []string{text}
		}
		named, err := v.setArgs(req, args)
		if err != nil {
			return err
		}
		given = append(given, named...)
		verb.SetGiven(req, append(given, c.askBoth(req, given)...))
		if q, ok := req.(interface{ AcceptsHead() bool }); ok {
			c.acceptHead = q.AcceptsHead()
		}
		if q, ok := req.(fileReader); ok {
			if names := q.FileNames(); len(names) > 0 {
				c.inputs = names
				q.SetChanges(func(ctx context.Context) (state.Changes, error) { return c.lines(ctx, names) })
			}
		}
		return v.run(cmd.Context(), c, req)
	})
	if q, ok := req.(interface{ Prompt() string }); ok {
		c.prompts(cmd, q.Prompt)
	}
	return cmd
}

// prompts lets a command ask a terminal for what it reads as standard input, before another process may be
// given the command, which has none.
func (c *cli) prompts(cmd *cobra.Command, prompt func() string) {
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if text := prompt(); text != "" && len(args) == 0 {
			if err := c.askHidden(text); err != nil {
				c.started = true
				return err
			}
		}
		return run(cmd, args)
	}
}

// givenFlags returns the names of the flags that were given.
func givenFlags(cmd *cobra.Command) (given []string) {
	cmd.Flags().Visit(func(f *pflag.Flag) { given = append(given, f.Name) })
	return given
}

// lineReader is a request of a verb that reads change lines, fileReader one that names their files.
type lineReader interface {
	SetChanges(read func(context.Context) (state.Changes, error))
}

type fileReader interface {
	lineReader
	FileNames() []string
}

// quoteNames marks the name of a flag's value in its help as cobra does.
var quoteNames = strings.NewReplacer("{", "`", "}", "`")

// fieldFlag adds the flag of a field.
func (c *cli) fieldFlag(cmd *cobra.Command, f *verb.Field, req any) {
	flags := cmd.Flags()
	usage := withModels(quoteNames.Replace(f.Doc)) + f.Note
	switch to := f.Value(req).Addr().Interface().(type) {
	case *string:
		flags.StringVarP(to, f.Name, f.Short, *to, usage)
	case *int:
		flags.IntVarP(to, f.Name, f.Short, *to, usage)
	case *float64:
		flags.Float64VarP(to, f.Name, f.Short, *to, usage)
	case *time.Duration:
		flags.DurationVarP(to, f.Name, f.Short, *to, usage)
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
	if f.Alias != "" {
		flag := flags.Lookup(f.Name)
		name, _ := pflag.UnquoteUsage(flag)
		flags.Var(flag.Value, f.Alias, "`"+name+"`: another name of --"+f.Name)
	}
	if f.Hidden {
		_ = flags.MarkHidden(f.Name) // it is there
		if f.Alias != "" {
			_ = flags.MarkHidden(f.Alias)
		}
	}
	switch {
	case f.Complete != "":
		c.completeBy(cmd, f.Name, c.completer(f.Complete))
	case f.Enum != nil:
		c.completeBy(cmd, f.Name, fixed(f.Enum))
	}
}

// args are the fields that positional arguments fill here.
func (v *bound) args() (list []verb.Field) {
	for _, f := range v.spec.Fields() {
		if f.Arg && !f.RemoteOnly {
			list = append(list, f)
		}
	}
	return list
}

// positional says which positional arguments there may be, those that Usage names, and which flags go together.
func (v *bound) positional() cobra.PositionalArgs {
	check := Positionals(firstOf(v.spec.Args, v.spec.Usage))
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return err
		}
		return v.checkFlags(cmd)
	}
}

// setArgs gives positional arguments to their fields, whose names it returns: a list takes what the fields
// around it leave.
func (v *bound) setArgs(req any, args []string) (given []string, err error) {
	fields := v.args()
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

// fixed returns what a field is for every remote caller, if it is.
func (v *bound) fixed(f *verb.Field) (value string, ok bool) {
	if v.spec.Body != "" && f.Arg && !f.Remote {
		return verb.Itself, true
	}
	for _, flag := range v.spec.Fixed {
		if value, ok = strings.CutPrefix(flag, "--"+f.Name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// call runs a verb with the arguments of a remote caller.
func (c *cli) call(ctx context.Context, v *bound, args *operation.Arguments) error {
	req := v.spec.Request()
	words := strings.Fields(v.spec.Command)
	var given []string
	for _, f := range v.spec.Fields() {
		values, there := args.Values[f.Parameter()]
		switch value, fixed := v.fixed(&f); {
		case fixed:
			if err := f.Set(req, []string{value}); err != nil {
				return err
			}
			continue
		case !f.Remote || !there:
			if err := f.SetDefault(req); err != nil {
				return err
			}
			continue
		}
		if err := f.Set(req, values); err != nil {
			return err
		}
		if given = append(given, f.Name); !f.Arg {
			words = append(words, "--"+f.Name)
		}
	}
	if b := v.spec.Batch; b != nil && args.Lines {
		for _, f := range v.spec.Fields() {
			if f.Name == b.Lines.Flag {
				if err := f.Set(req, []string{stdinName}); err != nil {
					return err
				}
			}
		}
		given, words = append(given, b.Lines.Flag), append(words, "--"+b.Lines.Flag)
	}
	for _, name := range c.askBoth(req, given) {
		given, words = append(given, name), append(words, "--"+name)
	}
	verb.SetGiven(req, given)
	if args.Body != nil {
		c.stdin, c.steady = peers.NewReplay(args.Body), false
		c.app.Stdin = c.stdin.Again()
	}
	if q, ok := req.(lineReader); ok && args.Lines {
		c.inputs = []string{stdinName}
		q.SetChanges(func(ctx context.Context) (state.Changes, error) { return c.changes(ctx, c.inputs) })
	}
	c.started = true
	c.doing = doing{ctx: ctx, name: v.spec.Name(), words: words, wait: c.doing.wait}
	return v.run(ctx, c, req)
}

// host is the command line as verbs see it.
type host struct{ c *cli }

// Open implements verb.Host.
func (h host) Open(
	ctx context.Context, write bool, fn func(context.Context) error,
) (err error) {
	if h.c.long && write || h.c.asked.rest != nil || h.c.converses() {
		done, err := h.c.share()
		if err != nil {
			return err
		}
		defer func() { err = firstError(err, done()) }()
	}
	err = h.c.withRepo(write, func(ctx context.Context, _ *core.Repo) error { return fn(ctx) })
	var elsewhere *answeredError
	if errors.As(err, &elsewhere) {
		return elsewhere.err
	}
	return err
}

// converses reports whether a verb answers what another program asks through standard input, which may pause between
// two questions: other processes use the repository meanwhile.
func (c *cli) converses() bool {
	q, ok := c.asked.req.(interface{ ReadsOnce() bool })
	return ok && q.ReadsOnce() && !c.steady
}

// Elsewhere implements verb.Host.
func (h host) Elsewhere(ctx context.Context) (bool, error) { return h.c.lookAhead(ctx) }

// Repo implements verb.Host.
func (h host) Repo() *core.Repo { return h.c.opened }

// Permit implements verb.Host.
func (h host) Permit(agent string, rights []string) error {
	return h.c.permit(firstOf(agent, h.c.agent()), rights)
}

// Stamp implements verb.Host. What was given on the command line goes before what is configured.
func (h host) Stamp(_ *verb.Spec, w *verb.Writing) (state.Stamp, error) {
	c := h.c
	c.take(*w)
	if _, err := c.dir(); err != nil && w.Signs { // where there is no repository nothing else is worth a word
		return state.Stamp{}, err
	}
	var err error
	if c.asked.stamp, err = c.stamp(); err == nil && w.Signs && !w.DryRun {
		c.asked.stamp.Sign, err = c.signer(c.asked.stamp.Time)
	}
	return c.asked.stamp, err
}

// Now implements verb.Host.
func (h host) Now() (graph.Time, error) { return h.c.now() }

// Trusted implements verb.Host.
func (h host) Trusted() (commit.Verifier, error) { return h.c.trusted() }

// Accesses implements verb.Host.
func (h host) Accesses() (func(graph.ID) int64, error) { return h.c.accesses() }

// Working implements verb.Host.
func (h host) Working(what string) func() {
	p := h.c.progress()
	p.start(what)
	h.c.working = append(h.c.working, p.done)
	return func() { h.c.worked() }
}

// Defaults implements verb.Host.
func (h host) Defaults(w *verb.Writing) {
	w.Branch = firstOf(w.Branch, h.c.by.Branch)
	w.Stage = firstOf(w.Stage, h.c.by.Stage)
}

// Require implements verb.Host.
func (h host) Require(rule string, given bool) (
	func(iter.Seq2[commit.LogEntry, error]) error, error,
) {
	h.c.signing.require = given
	return h.c.requireSigned(rule)
}

// Progress implements verb.Host.
func (h host) Progress() (set func(what string, done, total int), done func()) {
	p := h.c.progress()
	h.c.working = append(h.c.working, p.done)
	return p.set, p.done
}

// Setting implements verb.Host.
func (h host) Setting(variable, key string) (string, error) {
	if variable == "MNEM_SESSION" {
		return h.c.by.Session, nil // answers are recorded where the caller says, and else nowhere
	}
	if v := h.c.env(variable); v != "" {
		return v, nil
	}
	return h.c.setting(key)
}

// Embedder implements verb.Host.
func (h host) Embedder(spec string, progress func(done, total int)) (verb.Embedder, error) {
	e, err := h.c.embedder(spec, "--model", embed.Options{Progress: progress})
	if err != nil {
		return nil, err
	}
	return documents{e}, nil
}

// OpenRoot implements verb.Host.
func (h host) OpenRoot(dir string) (*os.Root, error) {
	path, err := h.root(dir)
	if err != nil {
		return nil, err
	}
	return regular.OpenDir(path)
}

// root returns the path of a directory, "" for the one that holds the repository.
func (h host) root(dir string) (string, error) {
	if dir == "" {
		return h.c.dir()
	}
	return h.c.absolute(dir), h.c.mayName(dir)
}

// Create implements verb.Host.
func (h host) Create(ctx context.Context, name string, write func(io.Writer) error) error {
	switch {
	case name != stdinName:
		if err := h.c.mayName(name); err != nil {
			return err
		}
		return writeOut(ctx, h.c.absolute(name), write)
	case h.c.app.OutTTY:
		return usagef("standard output is a terminal: name a file with -o FILE")
	}
	return write(h.c.Out)
}

// Read implements verb.Host.
func (h host) Read(ctx context.Context, name string) (*verb.File, error) {
	return h.c.seekable(ctx, name)
}

// Human implements verb.Host.
func (h host) Human() bool { return !h.c.InJSON }
