package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/internal/verb/peers"
)

// errRemote is returned where a remote caller wants what only this machine's user may.
var errRemote = errors.New("not for callers from outside")

// runner runs the calls of other surfaces in this process.
type runner struct {
	app    *App
	sign   bool
	global globalFlags // which repository, and how long to wait for it
	waits  bool        // whether a flag says how long
}

// NewRunner returns what runs calls with the environment and configuration of an app, in its directory.
// The app's streams are left alone. sign says whether commits are signed where the configuration says so:
// a server does not sign what others say.
func NewRunner(app *App, sign bool) operation.Runner {
	return &runner{app: app, sign: sign, global: globalFlags{wait: settings.DefaultWait}}
}

// runner returns what runs the calls of a server, on the repository that flags name.
func (c *cli) runner(h *peers.Holder, sign bool) operation.Runner {
	app := *c.app
	app.Holder = h
	g := globalFlags{repo: c.global.repo, user: c.global.user, wait: c.global.wait}
	return &runner{&app, sign, g, c.doing.wait}
}

// Run implements operation.Runner: here, or in the process that has the repository open.
func (r *runner) Run(
	ctx context.Context, call operation.Call, out io.Writer,
) (operation.Outcome, error) {
	args, err := call.Arguments()
	if err != nil {
		return failed(ctx, err)
	}
	by := call.Caller
	by.Remote = true
	if !r.sign {
		by.Sign = "false"
	}
	ctx = operation.WithCaller(ctx, by)
	results := &faithfulWriter{to: out}
	app := *r.app
	app.Stdin, app.Stdout, app.Stderr = strings.NewReader(""), results, io.Discard
	app.OutTTY, app.ErrTTY = false, false
	buffer := outBuffers.Get().(*bufio.Writer)
	defer outBuffers.Put(buffer)
	buffer.Reset(results)
	defer buffer.Reset(nil)
	c := &cli{
		app: &app, stdin: peers.NewReplay(app.Stdin), Console: consoleOf(&app, buffer), by: app.caller(ctx),
		global: r.global,
	}
	c.InJSON = !call.Text && call.Operation.Answer != operation.MediaCAR
	c.Quiet, c.doing.wait = true, r.waits
	defer c.release(nil) // where it panics: others wait for the end of all uses
	err = c.call(ctx, operationVerbs()[call.Operation.Name], args)
	c.release(err)
	if flushErr := c.Out.Flush(); err == nil {
		err = flushErr
	}
	switch {
	case results.err != nil:
		return operation.Interrupted, results.err
	case err == nil || isClosedPipe(err):
		return operation.WithExit(c.exit), nil
	}
	return failed(ctx, err)
}

// failed is an error of an operation as its caller is told of it.
func failed(ctx context.Context, err error) (operation.Outcome, error) {
	row, told := outcomeOf(ctx, err), verb.FailureOf(ctx, err, true)
	failed := &operation.Error{
		Outcome: row, Message: told.Message, Hint: hintOf(err, true), Place: told.Place, Unknown: told.Unknown,
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

// mayName returns an error where a file or directory is named by a remote caller.
func (c *cli) mayName(path string) error {
	if !c.by.Remote || path == stdinName {
		return nil
	}
	return fmt.Errorf("%w: an argument names a file", errRemote)
}

// mayChooseModel returns an error where a model, and so what is told of the memory to which server, is named
// by a remote caller.
func (c *cli) mayChooseModel(spec string) error {
	if !c.by.Remote || spec == "" || spec == modelConfigured {
		return nil
	}
	return fmt.Errorf("%w: an argument names a model", errRemote)
}
