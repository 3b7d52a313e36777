package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/owner"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/internal/verb/peers"
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
func (c *cli) openRepo(ctx context.Context, write bool) (*core.Repo, func() error, error) {
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
func (c *cli) reach(ctx context.Context, dir string, opt core.Options) (
	_ *core.Repo, done func() error, client *owner.Client, err error,
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

// forwardVerb has another process run the verb that is asked for, and prints its answers as they come.
func (c *cli) forwardVerb(ctx context.Context, client *owner.Client) error {
	if err := c.followThere(client); err != nil {
		return err
	}
	call, err := c.callOf()
	if err != nil {
		return err
	}
	by := &peers.Caller{
		Key: func() string {
			key, ok := c.ownKey()
			if !ok {
				return ""
			}
			return key.String()
		},
		Trusted: func() ([]byte, error) {
			list, err := c.trusted()
			if err != nil {
				return nil, err
			}
			return list.Encode()
		},
		Sign: c.asked.stamp.Sign, Input: c.input(ctx), Tell: c.tidings(), Flush: c.Out.Flush,
		Models: host{c}.Models, Global: host{c}.Global, Create: host{c}.Create, Root: host{c}.root,
		Embedder: func(spec string) (verb.Embedder, error) { return host{c}.Embedder(spec, nil) },
		File: func(name string) (io.Reader, string, error) {
			in, err := c.file(ctx, name)
			return in, shownFile(name), err
		},
		Read: func(r io.Reader) error {
			if !c.asked.typed {
				_, err := io.Copy(struct{ io.Writer }{c.Out}, r) // an error of reading is none of writing
				return err
			}
			return c.asked.spec.ReadAnswers(r, c.asked.emit)
		},
	}
	return peers.Ask(ctx, client, call, by)
}

// callOf returns what another process is asked for: the request, with what the environment and the
// configuration say of it.
func (c *cli) callOf() (*peers.Call, error) {
	a := c.asked
	if err := onceStdin(c.inputs); err != nil {
		return nil, err
	}
	request, err := a.spec.EncodeRequest(a.req)
	if err != nil {
		return nil, err
	}
	call := &peers.Call{
		Verb: a.spec.Name(), Request: request, Given: verb.GivenOf(a.req), Words: c.doing.words,
		Caller: c.by, Human: !c.InJSON, Typed: a.typed, Progress: c.progress().visible(),
	}
	for _, name := range c.inputs {
		call.Inputs = append(call.Inputs, shownFile(name))
	}
	call.Caller.Sign = "false"
	now := a.stamp.Time
	if a.spec.Authored(a.req) {
		by := &a.stamp
		call.Caller.Author, call.Caller.Agent, call.Caller.Task = by.Author, by.Agent, by.Task
		if by.Sign != nil {
			call.Caller.Sign = "true"
		}
		call.Collect = c.collecting()
	} else if now, err = c.now(); err != nil {
		return nil, err
	}
	call.Caller.Time = now.String()
	if call.Accesses, err = c.countsAccesses(); err != nil {
		return nil, err
	}
	takesIn := func(f verb.Field) bool { return f.Name == "require-signed" }
	if slices.ContainsFunc(a.spec.Fields(), takesIn) {
		call.RequireSigned, err = c.configured("require-signed")
	}
	return call, err
}

// input opens the files that another process reads for the verb.
func (c *cli) input(ctx context.Context) func(number int) (io.Reader, error) {
	return func(number int) (io.Reader, error) {
		if number >= len(c.inputs) {
			return nil, fmt.Errorf("%w: input %d of %d", owner.ErrProtocol, number, len(c.inputs))
		}
		return c.file(ctx, c.inputs[number])
	}
}

// file opens a file for another process, of standard input all of it.
func (c *cli) file(ctx context.Context, name string) (io.Reader, error) {
	if name != stdinName || c.whole[name] != nil {
		in, _, err := c.open(ctx, name)
		return in, err
	}
	in := c.stdin.Again()
	if in == nil {
		return nil, hint(fmt.Errorf("%w: another process took it while standard input was read", store.ErrBusy),
			"give the command again")
	}
	return in, nil
}

// shownFile is what messages call a file.
func shownFile(name string) string {
	if name == stdinName {
		return stdinShown
	}
	return name
}

// tidings returns what shows what another process says while it works.
func (c *cli) tidings() func(*peers.Tidings) {
	p := c.progress()
	c.working = append(c.working, p.done)
	return func(t *peers.Tidings) {
		switch {
		case t.Start != "":
			p.start(t.Start)
		case t.What != "":
			p.set(t.What, t.Done, t.Total)
		case t.Say != "":
			p.say(t.Say)
		case t.End:
			p.done()
		case t.Collected != nil:
			c.collected(t.Collected)
		case t.Remark != "":
			c.Remark("%s", line(t.Remark))
		}
	}
}
