package verbs

import (
	"bufio"
	"context"
	"io"
	"strings"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/internal/verb/peers"
)

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
func (r *runner) Run(
	ctx context.Context, call operation.Call, out io.Writer,
) (operation.Outcome, error) {
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
	if flushErr := c.Out.Flush(); err == nil {
		err = flushErr
	}
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
	if err != nil && w.err == nil {
		w.err = err
	}
	return n, err
}
