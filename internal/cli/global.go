package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/peers"
)

// Global implements ops.Asker.
func (h host) Global() (ops.Runner, error) {
	c := h.c
	if c.by.Remote && !c.by.Global {
		return nil, fmt.Errorf("%w: another repository than the one that is served", errRemote)
	}
	project, err := c.dir()
	if err != nil {
		return nil, err
	}
	global, err := c.hasGlobal()
	if err != nil {
		return nil, err
	}
	if global == project {
		return nil, usagef("--with-global: %s is the user's own repository itself", project)
	}
	return func(ctx context.Context, v *ops.Spec, req any, emit func(any) error) error {
		return c.askGlobal(ctx, global, v, req, emit)
	}, nil
}

// withGlobal is the field by which the user's own repository is asked too.
const withGlobal = "with-global"

// asksGlobal reports whether questions are to be asked of the user's own repository too though they do not say so:
// where the server was started so, and there is one beside the project's.
func (c *cli) asksGlobal() bool {
	if !c.by.Global || c.global.user {
		return false
	}
	project, err := c.dir()
	if err != nil {
		return false // which the verb says
	}
	global, err := c.hasGlobal()
	return err == nil && global != project
}

// askGlobal runs a verb on the user's own repository, here or where another process has it open.
func (c *cli) askGlobal(
	ctx context.Context, dir string, v *ops.Spec, req any, emit func(any) error,
) error {
	return c.aside(ctx, dir).askAside(ctx, v, req, emit)
}

// aside returns what runs a verb whose answer is for this process, on the repository in dir.
func (c *cli) aside(ctx context.Context, dir string) *cli {
	app := *c.app
	app.Stdin = strings.NewReader("")
	side := &cli{
		app: &app, stdin: peers.NewReplay(app.Stdin), out: bufio.NewWriterSize(io.Discard, outBuffer), started: true,
		doing: doing{ctx: ctx, wait: c.doing.wait}, by: c.by, quietly: true,
	}
	side.by.Session, side.by.Following = "", nil
	side.global = globalFlags{repo: dir, json: true, quiet: true, wait: c.global.wait}
	return side
}

func (c *cli) askAside(ctx context.Context, v *ops.Spec, req any, emit func(any) error) error {
	c.doing.name, c.doing.words = v.Name(), strings.Fields(v.Command)
	err := c.ask(ctx, v, req, emit)
	c.release(err)
	return err
}
