// Package verbs lists the verbs with how their answers are printed, and runs them for other surfaces than the
// command line.
package verbs

import (
	"bufio"
	"context"
	"io"
	"strings"
	"sync"

	"github.com/mnem-project/mnem/internal/door/answers"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/door/trade"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/asking"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/internal/verb/editing"
	"github.com/mnem-project/mnem/internal/verb/ingesting"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/internal/verb/outlining"
	"github.com/mnem-project/mnem/internal/verb/peers"
	"github.com/mnem-project/mnem/internal/verb/reading"
	"github.com/mnem-project/mnem/internal/verb/remembering"
	"github.com/mnem-project/mnem/internal/verb/table"
	"github.com/mnem-project/mnem/internal/verb/transfer"
	"github.com/mnem-project/mnem/internal/verb/upkeep"
)

// Verbs are the verbs of package table, each with what prints its answers for people, in the order in which other
// surfaces list them: first those with a printer of their own. Those without a command are left out.
func Verbs() []*line.Bound {
	list := append(verbsOfMemory(), verbsOfHistory()...)
	bound := map[*verb.Spec]bool{&reading.Names.Spec: true, &asking.TellBrief.Spec: true}
	for _, v := range list {
		bound[v.Spec] = true
	}
	for _, spec := range table.Table() {
		if !bound[spec] {
			list = append(list, reach.Plain(spec))
		}
	}
	return list
}

func verbsOfMemory() []*line.Bound {
	return []*line.Bound{
		// Start
		reach.Bind(upkeep.Version, answers.Versions),
		// Change the memory
		bindRemember(),
		bindIngest(),
		reach.BindAs(ingesting.Capture, answers.Captured),
		reach.Bind(editing.CommitVerb, answers.Committed),
		reach.Bind(editing.Add, answers.Stage),
		reach.Bind(editing.Rm, answers.Stage),
		reach.Bind(branching.StatusVerb, answers.Status),
		reach.Bind(branching.Reset, answers.Reset),
		reach.Bind(branching.Merge, answers.MergeAnswer),
		reach.Bind(branching.Revert, answers.Merged),
		reach.Bind(branching.CherryPick, answers.Merged),
		reach.Bind(editing.Restore, answers.Committed),
		reach.Bind(editing.Forget, answers.Marked),
		reach.Bind(editing.Mark, answers.Marked),
		bindReview(),
		reach.Bind(editing.Pin, answers.Pinned),
		reach.Bind(remembering.Consolidate, answers.Consolidate),
		reach.Bind(remembering.HalfLife, answers.HalfLives),
		reach.Bind(ingesting.Embed, answers.Embedded),
		reach.BindTable(asking.ProfileVerb, answers.ProfileRow),
		// Read the memory
		reach.BindAs(asking.Retrieve, answers.Answer),
		reach.BindAs(asking.Recall, answers.Recalled),
		reach.BindAs(branching.Show, answers.Shown),
		reach.BindAs(reading.Ls, answers.List),
		reach.Bind(remembering.Cues, answers.Cues),
		reach.Bind(outlining.MapVerb, answers.Map),
		bindLast(),
		reach.Bind(ingesting.Sources, answers.Sources),
		reach.BindAs(reading.Explore, answers.Explored),
		reach.BindAs(branching.Log, answers.Log),
		reach.BindAs(branching.Diff, answers.Diff),
		reach.Bind(branching.Blame, answers.Blame),
	}
}

// verbsOfHistory are those about its versions, sessions and store.
func verbsOfHistory() []*line.Bound {
	return []*line.Bound{
		// Branch, tag and undo
		reach.BindTable(branching.BranchVerb, answers.BranchRow),
		reach.Bind(branching.Switch, answers.Switch),
		reach.BindTable(branching.TagVerb, answers.TagRow),
		reach.Bind(branching.Undo, answers.Undone),
		reach.Bind(branching.OpLog, answers.Op),
		reach.Bind(branching.OpShow, answers.OneOp),
		reach.Bind(branching.OpRestore, answers.Undone),
		reach.Bind(branching.Watch, answers.Watched),
		// Record and replay
		reach.Bind(asking.SessionStart, answers.Session),
		reach.BindTable(asking.SessionList, answers.SessionRow),
		reach.Bind(asking.SessionLog, answers.SessionRecord),
		reach.Bind(asking.SessionAdvance, answers.Session),
		reach.Bind(asking.SessionEnd, answers.Session),
		reach.Bind(upkeep.Replay, answers.Replay),
		// Exchange
		trade.BindRedactions(),
		reach.Bind(transfer.PackSend, answers.PackSent),
		reach.Bind(transfer.Export, answers.Export),
		reach.BindAs(transfer.Import, answers.Import),
		// Care
		reach.Plain(&upkeep.StatsVerb.Spec),
		bindDoctor(),
		reach.Bind(upkeep.Fsck, answers.Fsck),
		reach.Bind(upkeep.GC, answers.GC),
		reach.Bind(upkeep.Purge, answers.Purged),
		reach.Bind(branching.Verify, answers.Verified),
	}
}

// bindLast binds the verb that tells what an agent was given, and says so if that is nothing.
func bindLast() *line.Bound {
	v := reach.Bind(asking.Last, answers.Last)
	v.Around = func(ctx context.Context, c *line.Line, _ any, run func(context.Context) error) error {
		err := run(ctx)
		if err == nil && c.Answers == 0 {
			c.Remark("nothing was given to an agent yet")
		}
		return err
	}
	return v
}

// Operations returns what remote callers may ask: the verbs that are not for this machine alone.
func Operations() (all []operation.Operation) {
	for _, v := range Verbs() {
		if !v.Spec.Local {
			all = append(all, v.Spec.Operations()...)
		}
	}
	return all
}

// runner runs the calls of other surfaces in this process.
type runner struct {
	app    *line.App
	sign   bool
	global line.GlobalFlags // which repository, and how long to wait for it
	waits  bool             // whether a flag says how long
}

// NewRunner returns what runs calls with the environment and configuration of an app, in its directory.
// The app's streams are left alone. sign says whether commits are signed where the configuration says so:
// a server does not sign what others say.
func NewRunner(app *line.App, sign bool) operation.Runner {
	return &runner{app: app, sign: sign, global: line.GlobalFlags{Wait: settings.DefaultWait}}
}

// Runner returns what runs the calls of a server, on the repository that flags name.
func Runner(c *line.Line, h *peers.Holder, sign bool) operation.Runner {
	app := *c.App
	app.Holder = h
	g := line.GlobalFlags{Repo: c.Global.Repo, User: c.Global.User, Wait: c.Global.Wait}
	return &runner{&app, sign, g, c.Doing.Wait}
}

// Run implements operation.Runner: here, or in the process that has the repository open.
func (r *runner) Run(ctx context.Context, call operation.Call, out io.Writer) (operation.Outcome, error) {
	args, err := call.Arguments()
	if err != nil {
		return Failed(ctx, err)
	}
	by := call.Caller
	by.Remote, by.NoSign = true, !r.sign
	ctx = operation.WithCaller(ctx, by)
	results := &faithfulWriter{to: out}
	app := *r.app
	app.Stdin, app.Stdout, app.Stderr = strings.NewReader(""), results, io.Discard
	app.OutTTY, app.ErrTTY = false, false
	buffer := line.OutBuffers.Get().(*bufio.Writer)
	defer line.OutBuffers.Put(buffer)
	buffer.Reset(results)
	defer buffer.Reset(nil)
	c := &line.Line{
		App: &app, Console: line.ConsoleOf(&app, buffer), By: app.Caller(ctx),
		Global: r.global,
	}
	c.InJSON = !call.Text && call.Operation.Answer != operation.MediaCAR
	c.Quiet, c.Doing.Wait = true, r.waits
	if take := call.Answer; take != nil && c.InJSON {
		c.Typed = func(answer any) error { return take(verb.Answer{Of: answer}) }
	}
	defer c.Release(nil) // where it panics: others wait for the end of all uses
	err = runCall(ctx, c, operationVerbs()[call.Operation.Name], args)
	c.Release(err)
	err = line.FirstError(err, c.Out.Flush())
	switch {
	case results.err != nil:
		return operation.Interrupted, results.err
	case err == nil || line.IsClosedPipe(err):
		return operation.WithExit(c.Exit), nil
	}
	return Failed(ctx, err)
}

// Failed returns an error of an operation in the form for its caller.
func Failed(ctx context.Context, err error) (operation.Outcome, error) {
	row, told := line.OutcomeOf(ctx, err), verb.FailureOf(ctx, err, true)
	failed := &operation.Error{
		Outcome: row, Message: told.Message, Hint: line.HintOf(err, true), Place: told.Place, Unknown: told.Unknown,
		Candidates: told.Candidates,
	}
	if row == operation.Interrupted {
		failed.Message = row.Code
	}
	return row, failed
}

// faithfulWriter remembers what became of writing: a command whose reader has gone ends quietly.
type faithfulWriter struct {
	to  io.Writer
	err error
}

func (w *faithfulWriter) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	w.err = line.FirstError(w.err, err)
	return n, err
}

// operationVerbs are the verbs by the names of their operations.
var operationVerbs = sync.OnceValue(func() map[string]*line.Bound {
	of := make(map[string]*line.Bound)
	for _, v := range Verbs() {
		of[v.Spec.Name()] = v
		if v.Spec.Batch != nil {
			of[v.Spec.Name()+"_batch"] = v
		}
	}
	return of
})

func runCall(ctx context.Context, c *line.Line, v *line.Bound, args *operation.Arguments) error {
	req := v.Spec.Request()
	words := strings.Fields(v.Spec.Command)
	var given []string
	for _, f := range v.Spec.Fields() {
		argument, there := args.Values[f.Parameter()]
		switch value, fixed := reach.Fixed(v, &f); {
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
		if err := f.Assign(req, argument); err != nil {
			return err
		}
		if given = append(given, f.Name); !f.Arg {
			words = append(words, "--"+f.Name)
		}
	}
	if b := v.Spec.Batch; b != nil && args.Lines {
		for _, f := range v.Spec.Fields() {
			if f.Name == b.Lines.Flag {
				if err := f.Set(req, []string{line.StdinName}); err != nil {
					return err
				}
			}
		}
		given, words = append(given, b.Lines.Flag), append(words, "--"+b.Lines.Flag)
	}
	for _, name := range reach.AskBoth(c, req, given) {
		given, words = append(given, name), append(words, "--"+name)
	}
	verb.SetGiven(req, given)
	if c.By.Key != "" {
		words = append(words, operation.KeyWord+c.By.Key)
	}
	if args.Body != nil {
		c.App.Stdin = args.Body
	}
	if q, ok := req.(reach.LineReader); ok && args.Lines {
		c.Inputs = []string{line.StdinName}
		q.SetChanges(func(ctx context.Context) (state.Changes, error) { return c.Changes(ctx, c.Inputs) })
	}
	c.Started = true
	c.Doing = line.Doing{Ctx: ctx, Name: v.Spec.Name(), Words: words, Wait: c.Doing.Wait}
	return reach.Run(ctx, v, c, req)
}
