package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/owner"
	"github.com/mnem-project/mnem/operation"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

// maxOwners is how many owners in turn a command is given to that end before it does.
const maxOwners = 10

// errOwnersEnd is returned for a command that no owner lived long enough for.
var errOwnersEnd = fmt.Errorf("%w: each process that had it open ended", store.ErrBusy)

// forwardedError ends a command whose line an owner ran to its end.
type forwardedError struct{ code int }

func (e *forwardedError) Error() string { return fmt.Sprintf("ended with exit code %d", e.code) }

// answeredError ends a verb that an owner ran, with what came of it.
type answeredError struct{ err error }

func (e *answeredError) Error() string { return "another process ran it" }

// errElsewhere ends a command line of another process that this one is not the owner for.
var errElsewhere = &forwardedError{owner.Elsewhere}

// runHere are the commands that are not handed to another process before they run: they do not open
// the repository, or hold it themselves.
var runHere = []string{
	"init", "config", "demo", "version", "completion", "key", "hold", "serve", "mcp", "watch",
	"token", "integrate", "unintegrate", "doctor", "policy",
}

// place finds the process that a command is to run in, before it has read or asked anything: where
// another one has the repository open and answers, the command line is handed to that. A command
// that is to run here goes on.
func (c *cli) place(cmd *cobra.Command) error {
	words := strings.Fields(cmd.CommandPath())
	if v := verbOf(strings.Join(words[1:], " ")); v != nil {
		return nil // it does when it has its request, which says more than a command line
	}
	if c.program != "" || len(words) < 2 || cmd.HasSubCommands() || slices.Contains(runHere, words[1]) {
		return nil
	}
	dir, err := c.dir()
	if err != nil {
		return nil // the command says so in its own way
	}
	if own, err := c.shared(cmd.Context(), dir); own != nil || err != nil {
		return c.openHint(err)
	}
	for range maxOwners {
		client, err := dial(dir, c.global.wait)
		if client == nil || err != nil {
			return err
		}
		if err := c.forward(cmd.Context(), client); err != nil {
			return err
		}
	}
	return errOwnersEnd
}

// lookAhead finds the process that has the repository open, for a verb that asks models before it opens
// it. Where another one has it and answers, opening hands the verb to that.
func (c *cli) lookAhead(ctx context.Context) (elsewhere bool, err error) {
	if c.program != "" || c.opened != nil || c.app.forwarded {
		return false, nil
	}
	dir, err := c.dir()
	if err != nil {
		return false, nil // opening says so in its own way
	}
	if h := c.app.Holder; h != nil && h.covers(dir) {
		if c.inUse == nil {
			c.inUse, c.ahead, err = h.reach(ctx, false)
		}
	} else {
		c.ahead, err = dial(dir, c.global.wait)
	}
	return c.ahead != nil, c.openHint(err)
}

// shared returns the repository in dir where this process shares that one and has it open, which
// it has from then on until the command ends. Where another process has it open the command line is
// handed to that, unless it came from another process: that one is told to look for the owner itself.
func (c *cli) shared(ctx context.Context, dir string) (*held, error) {
	h := c.app.Holder
	if c.inUse != nil || h == nil {
		return c.inUse, nil
	}
	if !h.covers(dir) {
		if c.app.forwarded {
			return nil, errElsewhere
		}
		return nil, nil
	}
	for range maxOwners {
		own, client, err := h.reach(ctx, c.app.forwarded)
		if client == nil {
			c.inUse = own
			return own, err
		}
		if err := c.forward(ctx, client); err != nil {
			return nil, err
		}
	}
	return nil, errOwnersEnd
}

// release ends the use of the shared repository, when nothing is read of it any more. err is what
// came of the command: where the repository cannot be written any more it is opened anew.
func (c *cli) release(err error) {
	if c.inUse == nil {
		return
	}
	if errors.Is(err, repo.ErrStopped) {
		c.app.Holder.drop(c.inUse)
	}
	c.inUse.users.Done()
	c.inUse = nil
}

// errOpen is returned where --accept-head is given and a process has the repository open.
func errOpen(pid int) error {
	return hint(fmt.Errorf("%w: --accept-head needs it closed, and process %d has it open", store.ErrBusy, pid),
		"a repository that opens has lost nothing: leave the flag out, or stop that process first")
}

// useShared begins the use of a shared repository.
func (c *cli) useShared(own *held, write bool) (*repo.Repo, func() error, error) {
	c.stdin.forget()
	if c.acceptHead {
		return nil, nil, errOpen(c.app.Holder.app.PID)
	}
	if write && c.app.writes != nil {
		if err := c.app.writes(); err != nil {
			return nil, nil, fmt.Errorf("tell the process that asked: %w", err)
		}
	}
	return own.repo, func() error { return nil }, nil
}

// forward hands the command line to another process, which is done with client, and returns a
// *forwardedError with its exit code. It returns nil where that process ended and the command is
// to be tried anew.
func (c *cli) forward(ctx context.Context, client *owner.Client) error {
	defer func() { _ = client.Close() }() // all was said
	if c.app.forwarded {
		return errElsewhere // it could go round in circles
	}
	if _, pid := client.Owner(); c.acceptHead {
		return errOpen(pid)
	}
	if c.asked != nil {
		err := c.forwardVerb(ctx, client)
		if again, err := c.lost(ctx, err); again || err != nil {
			return err
		}
		return &answeredError{err}
	}
	stdin := c.stdin.again()
	if stdin == nil {
		return errTaken()
	}
	c.out.Reset(c.app.Stdout)
	code, err := client.Run(ctx, c.commandLine(), owner.IO{
		Stdin: stdin, Stdout: c.app.Stdout, Stderr: c.app.Stderr,
	})
	if again, err := c.lost(ctx, err); again || err != nil {
		return err
	}
	if err != nil && code == 0 && !isClosedPipe(err) {
		return skewHint(err)
	}
	return &forwardedError{code}
}

// lost says what to do where an owner ended first: to try again, or what is to be said of it. Where it did
// not there is no error.
func (c *cli) lost(ctx context.Context, err error) (again bool, _ error) {
	var lost *owner.LostError
	switch {
	case !errors.As(err, &lost):
		return false, nil
	case ctx.Err() != nil:
		return false, ctx.Err()
	case lost.Clean:
		return true, nil
	case lost.Writes:
		if c.app.unknown != nil {
			c.app.unknown()
		}
		const what = "the process that had it open ended before it said what came of this command"
		return false, &operation.Error{Outcome: operation.Busy, Unknown: true,
			Message: fmt.Sprintf("%v: %s", store.ErrBusy, what),
			Hint:    "'mnem op log' tells whether the change was made"}
	}
	return false, hint(fmt.Errorf("%w: the process that had it open ended in the middle of the answer",
		store.ErrBusy), "give the command again: it changed nothing")
}

// commandLine is the command line as another process can run it.
func (c *cli) commandLine() *owner.Request {
	req := &owner.Request{
		Args: c.args, Dir: c.app.Dir, User: c.app.User, Config: c.app.Config, Data: c.app.Data,
		Home: c.app.Home, Executable: c.app.Executable, Remote: c.app.Remote, PID: c.app.PID,
		OutTTY: c.app.OutTTY, ErrTTY: c.app.ErrTTY,
	}
	for _, v := range variables() {
		if value := c.app.Getenv(v.Name); value != "" {
			req.Env = append(req.Env, [2]string{v.Name, value})
		}
	}
	for name, value := range map[string]string{
		"MNEM_AUTHOR": c.by.Author, "MNEM_AGENT": c.by.Agent, "MNEM_TASK": c.by.Task, "MNEM_SIGN": c.by.Sign,
		"MNEM_BRANCH": c.by.Branch, "MNEM_STAGE": c.by.Stage, "MNEM_SESSION": c.by.Session,
	} {
		if value != "" || name == "MNEM_SESSION" {
			req.Env = append(req.Env, [2]string{name, value}) // the last counts
		}
	}
	return req
}

// completedElsewhere has the owner complete a command line, and returns what it found.
func (c *cli) completedElsewhere(ctx context.Context, client *owner.Client) []string {
	defer func() { _ = client.Close() }() // all was said
	var out bytes.Buffer
	code, err := client.Run(ctx, c.commandLine(), owner.IO{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: io.Discard,
	})
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if err != nil || code != 0 || !strings.HasPrefix(lines[len(lines)-1], ":") {
		return nil
	}
	return lines[:len(lines)-1] // the last is a number for the shell
}
