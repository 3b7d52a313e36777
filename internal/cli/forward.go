package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/internal/owner"
	"github.com/mnem-project/mnem/operation"
	"github.com/mnem-project/mnem/peers"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

// maxOwners is how many owners in turn a verb is given to that end before it does.
const maxOwners = 10

// errOwnersEnd is returned for a verb that no owner lived long enough for.
var errOwnersEnd = fmt.Errorf("%w: each process that had it open ended", store.ErrBusy)

// answeredError ends a verb that an owner ran, with what came of it.
type answeredError struct{ err error }

func (e *answeredError) Error() string { return "another process ran it" }

// lookAhead finds the process that has the repository open, for a verb that asks models before it opens
// it. Where another one has it and answers, opening hands the verb to that.
func (c *cli) lookAhead(ctx context.Context) (elsewhere bool, err error) {
	if c.program != "" || c.opened != nil {
		return false, nil
	}
	dir, err := c.dir()
	if err != nil {
		return false, nil // opening says so in its own way
	}
	if h := c.app.Holder; h != nil && h.Covers(dir) {
		if c.inUse == nil {
			c.inUse, c.ahead, err = h.Reach(ctx)
		}
	} else {
		c.ahead, err = peers.Dial(dir, c.global.wait)
	}
	return c.ahead != nil, c.openHint(err)
}

// openRepo returns the repository of a command, and what ends its use of it: the one that this process
// shares, which it has until the command ends, or one of its own. Where another process has it open and
// answers, that runs the verb.
func (c *cli) openRepo(ctx context.Context, write bool) (*repo.Repo, func() error, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, nil, err
	}
	opt, err := c.options()
	if err != nil {
		return nil, nil, err
	}
	opt.ReadOnly = !write
	endless := c.asked != nil && c.asked.rest != nil
	for tries := 0; endless || tries < maxOwners; tries++ {
		r, done, client, err := c.reach(ctx, dir, opt)
		switch {
		case err != nil && endless && tries > 0 && peers.Passes(ctx, err):
			continue
		case err != nil:
			return nil, nil, c.openHint(err)
		case client == nil:
			c.stdin.Forget()
			return r, done, nil
		}
		if err := c.forward(ctx, client); err != nil {
			return nil, nil, err
		}
	}
	return nil, nil, errOwnersEnd
}

// reach opens the repository in dir or begins a use of the shared one, or else connects to the process that
// has it.
func (c *cli) reach(ctx context.Context, dir string, opt repo.Options) (
	_ *repo.Repo, done func() error, client *owner.Client, err error,
) {
	if client, c.ahead = c.ahead, nil; client != nil {
		return nil, nil, client, nil
	}
	if h := c.app.Holder; c.inUse == nil && h != nil && h.Covers(dir) {
		if c.inUse, client, err = h.Reach(ctx); c.inUse == nil {
			return nil, nil, client, err
		}
	}
	if c.inUse != nil {
		if c.acceptHead {
			err = errOpen(c.app.PID)
		}
		return c.inUse.Repo, func() error { return nil }, nil, err
	}
	r, client, err := peers.Reach(ctx, dir, opt)
	if r == nil {
		return nil, nil, client, err
	}
	return r, r.Close, nil, nil
}

// release ends the use of the shared repository, when nothing is read of it any more. err is what
// came of the command.
func (c *cli) release(err error) {
	if c.inUse != nil {
		c.inUse.Done(err)
		c.inUse = nil
	}
}

// errOpen is returned where --accept-head is given and a process has the repository open.
func errOpen(pid int) error {
	return hint(fmt.Errorf("%w: --accept-head needs it closed, and process %d has it open", store.ErrBusy, pid),
		"a repository that opens has lost nothing: leave the flag out, or stop that process first")
}

// forward has another process run the verb, which is done with client, and returns an *answeredError with
// what came of it. It returns nil where that process ended and the verb is to be tried anew.
func (c *cli) forward(ctx context.Context, client *owner.Client) error {
	defer func() { _ = client.Close() }() // all was said
	if c.asked == nil {
		return hint(fmt.Errorf("%w: another process has it open", store.ErrBusy),
			"stop that process, or run outside of the repository")
	}
	if _, pid := client.Owner(); c.acceptHead {
		return errOpen(pid)
	}
	err := c.forwardVerb(ctx, client)
	if again, err := c.lost(ctx, err); again || err != nil {
		return err
	}
	return &answeredError{err}
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
	case c.asked.over:
		return false, &answeredError{}
	case lost.Clean || c.asked.rest != nil:
		return true, nil
	case lost.Writes:
		const what = "the process that had it open ended before it said what came of this command"
		return false, &operation.Error{Outcome: operation.Busy, Unknown: true,
			Message: fmt.Sprintf("%v: %s", store.ErrBusy, what),
			Hint:    "'mnem op log' tells whether the change was made"}
	}
	return false, hint(fmt.Errorf("%w: the process that had it open ended in the middle of the answer",
		store.ErrBusy), "give the command again: it changed nothing")
}
