package cli

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/mnem-project/mnem/internal/owner"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/peers"
	"github.com/mnem-project/mnem/store"
)

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
		Sign: c.asked.stamp.Sign, Input: c.input(ctx), Tell: c.tidings(), Flush: c.out.Flush,
		Models: host{c}.Models, Global: host{c}.Global, Create: host{c}.Create, Root: host{c}.root,
		Embedder: func(spec string) (ops.Embedder, error) { return host{c}.Embedder(spec, nil) },
		File: func(name string) (io.Reader, string, error) {
			in, err := c.file(ctx, name)
			return in, shownFile(name), err
		},
		Read: func(r io.Reader) error {
			if !c.asked.typed {
				_, err := io.Copy(struct{ io.Writer }{c.out}, r) // an error of reading is none of writing
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
		Verb: a.spec.Name(), Request: request, Given: ops.GivenOf(a.req), Words: c.doing.words,
		Caller: c.by, Human: !c.global.json, Typed: a.typed, Progress: c.progress().visible(),
	}
	for _, name := range c.inputs {
		call.Inputs = append(call.Inputs, shownFile(name))
	}
	call.Caller.Sign = "false"
	now := a.stamp.Time
	if a.spec.EffectOf(a.req) != ops.Reads && !a.spec.Derived {
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
	takesIn := func(f ops.Field) bool { return f.Name == "require-signed" }
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
	if name != stdinName {
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
			c.remark("%s", line(t.Remark))
		}
	}
}
