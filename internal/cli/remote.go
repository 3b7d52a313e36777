package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mnem-project/mnem/operation"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/retrieve"
)

// errRemote is returned where somebody else's command line wants what only this machine's user may.
var errRemote = errors.New("not for callers from outside")

// runner runs the calls of other surfaces as command lines in this process.
type runner struct {
	app  *App
	sign bool
}

// NewRunner returns what runs calls as command lines of an app: with its environment and
// configuration, in its directory. The app's streams are left alone. sign says whether commits are
// signed where the configuration says so: a server does not sign what others say.
func NewRunner(app *App, sign bool) operation.Runner {
	return &runner{app, sign}
}

// served is the app as callers see it: what flags say of the repository counts for each of them.
func (c *cli) served() *App {
	app := *c.app
	env := map[string]string{}
	if c.global.repo != "" {
		env["MNEM_REPO"] = c.absolute(c.global.repo)
	}
	if c.global.wait != defaultWait {
		env["MNEM_WAIT"] = c.global.wait.String()
	}
	app.Getenv = func(name string) string { return firstOf(env[name], c.app.Getenv(name)) }
	return &app
}

// maxErrors is how many bytes of messages a call may leave; what comes after is dropped.
const maxErrors = 64 << 10

// Run implements operation.Runner.
func (r *runner) Run(
	ctx context.Context, call operation.Call, out io.Writer,
) (operation.Outcome, error) {
	args, body, err := call.CommandLine()
	if err != nil {
		return operation.Usage, err
	}
	form := "--json"
	if call.Text || call.Operation.Answer == operation.MediaCAR {
		form = "--json-errors"
	}
	args = slices.Insert(args, len(call.Operation.Command), form, "--quiet")
	if body == nil {
		body = strings.NewReader("")
	}
	results, messages := &faithfulWriter{to: out}, &boundedBuffer{}
	app := *r.app
	app.Stdin, app.Stdout, app.Stderr = body, results, messages
	app.OutTTY, app.ErrTTY, app.Remote = false, false, true
	by := call.Caller
	by.Remote = true
	if !r.sign {
		by.Sign = "false"
	}
	ctx = operation.WithCaller(ctx, by)
	unknown := false
	app.unknown = func() { unknown = true }
	exit := 0
	if v := verbNamed(call.Operation.Name); v != nil {
		var failed error
		if exit, failed = app.call(ctx, v, call, args); failed != nil && results.err == nil {
			var told *operation.Error
			if errors.As(failed, &told) {
				told.Unknown = unknown
			}
			return outcomeOf(ctx, failed), failed
		}
	} else {
		exit = app.Run(ctx, args)
	}
	switch {
	case results.err != nil:
		return operation.Interrupted, results.err
	case exit == operation.OK.Exit:
		return operation.OK, nil
	}
	if failed := readError(messages.b.Bytes()); failed != nil {
		failed.Unknown = unknown
		return failed.Outcome, failed
	}
	return operation.WithExit(exit), nil
}

// call runs a verb in this process, or has the one run it that has the repository open. It returns the exit
// code and what went wrong.
func (a *App) call(
	ctx context.Context, v *verb, call operation.Call, args []string,
) (int, error) {
	values, err := call.Arguments()
	if err != nil {
		return 0, err
	}
	stdin := newReplayed(a.Stdin)
	c := &cli{
		app: a, args: args, stdin: stdin, out: bufio.NewWriterSize(a.Stdout, outBuffer), by: a.caller(ctx),
	}
	c.global.json = !call.Text && call.Operation.Answer != operation.MediaCAR
	c.global.jsonErrors, c.global.quiet = true, true
	c.global.wait = defaultWait
	err = c.call(ctx, v, values)
	c.release(err)
	if flushErr := c.out.Flush(); err == nil {
		err = flushErr
	}
	if err == nil || isClosedPipe(err) {
		return c.exit, nil
	}
	row := outcomeOf(ctx, err)
	failed := &operation.Error{Outcome: row, Message: ops.MessageOf(err, true), Hint: hintOf(err, true),
		Candidates: ops.CandidatesOf(err)}
	var done *operation.Error
	failed.Unknown = errors.As(err, &done) && done.Unknown
	if row == operation.Interrupted {
		failed.Message = row.Code
	}
	return row.Exit, failed
}

// readError finds the structured form of an error at the end of messages, nil for none.
func readError(messages []byte) *operation.Error {
	lines := bytes.Split(bytes.TrimSpace(messages), []byte("\n"))
	var got errorJSON
	if json.Unmarshal(lines[len(lines)-1], &got) != nil || got.Error.Code == "" {
		return nil
	}
	row, known := operation.WithCode(got.Error.Code)
	if !known {
		row = operation.Failed // another release holds the repository
	}
	return &operation.Error{Outcome: row, Message: got.Error.Message, Hint: got.Error.Hint,
		Candidates: got.Error.Candidates}
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

// boundedBuffer keeps the end of what is written to it: an error is the last thing said.
type boundedBuffer struct{ b bytes.Buffer }

func (w *boundedBuffer) Write(p []byte) (int, error) {
	if w.b.Len()+len(p) > maxErrors {
		w.b.Reset()
	}
	w.b.Write(p[max(0, len(p)-maxErrors):])
	return len(p), nil
}

// mayName returns an error where a command line that names a file or directory is somebody else's.
func (c *cli) mayName(path string) error {
	if !c.app.Remote || path == stdinName {
		return nil
	}
	return fmt.Errorf("%w: an argument names a file", errRemote)
}

// mayChooseModel returns an error where a command line that names a model, and so what is told of the
// memory to which server, is a remote caller's.
func (c *cli) mayChooseModel(spec string) error {
	if !c.app.Remote || spec == "" || spec == modelConfigured || spec == retrieve.RerankLocal {
		return nil
	}
	return fmt.Errorf("%w: an argument names a model", errRemote)
}

// callable returns an error where somebody else's command line has what the table of operations
// does not. Whoever made it has seen to that already.
func (c *cli) callable(cmd *cobra.Command, args []string) error {
	if !c.app.Remote {
		return nil
	}
	path := strings.Join(strings.Fields(cmd.CommandPath())[1:], " ")
	if v := verbOf(path); v != nil && !v.spec.Local {
		for _, o := range v.spec.Operations() {
			if allows(o, cmd, args) {
				return nil
			}
		}
	}
	return fmt.Errorf("%w: 'mnem %s' with such arguments", errRemote, path)
}

// allows reports whether flags and words are such as callers may give.
func allows(o operation.Operation, cmd *cobra.Command, args []string) bool {
	hasWords := slices.ContainsFunc(o.Params, func(p operation.Param) bool {
		return p.Flag == "" && p.Kind != operation.Lines
	})
	if !hasWords && !slices.Equal(args, nil) && !slices.Equal(args, []string{stdinName}) {
		return false
	}
	ok := true
	cmd.Flags().Visit(func(f *pflag.Flag) {
		ok = ok && (slices.Contains([]string{"json", "json-errors", "quiet"}, f.Name) ||
			slices.Contains(o.Command, "--"+f.Name+"="+f.Value.String()) ||
			slices.ContainsFunc(o.Params, func(p operation.Param) bool {
				return takes(p, f)
			}))
	})
	return ok
}

// takes reports whether a parameter is of a flag with its value.
func takes(p operation.Param, f *pflag.Flag) bool {
	value := f.Value.String()
	switch {
	case p.Flag != f.Name:
		return false
	case p.Kind == operation.Lines:
		return value == stdinName
	case p.True != "" && value == p.True:
		return true
	case p.Kind == operation.String && p.Enum != nil:
		return slices.Contains(p.Enum, value)
	}
	return p.True == ""
}
