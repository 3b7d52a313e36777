package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/peers"
)

// Global implements verb.Asker.
func (h host) Global() (verb.Runner, error) {
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
	return func(ctx context.Context, v *verb.Spec, req any, emit func(any) error) error {
		return c.askGlobal(ctx, global, v, req, emit)
	}, nil
}

// withGlobal is the field by which the user's own repository is asked too.
const withGlobal = "with-global"

// globalTypes returns the types of memories that the user's own repository keeps.
func (c *cli) globalTypes() ([]string, error) {
	v, err := c.ofUser(settings.TypesKey, settings.NoTypes)
	if v == "" || v == settings.NoTypes {
		return nil, err
	}
	return strings.Split(v, ","), err
}

// ofUser returns a setting by which a project's memory and the user's own have to do with each other. A project's
// configuration can say no, and nothing else: it may be somebody else's.
func (c *cli) ofUser(name, no string) (string, error) {
	key, err := settings.KeyOf(name)
	if err != nil {
		return "", err
	}
	got, err := c.lookUp(key, false)
	if err == nil && got.From == settings.FromRepository && *got.Value != no {
		got, err = c.lookUp(key, true)
	}
	if err != nil || got.Value == nil {
		return "", err
	}
	return *got.Value, nil
}

// beside returns the directory of the user's own repository where it is asked beside the project's though a question
// does not say so, "" where it is not: for those alone who act for the user.
func (c *cli) beside() string {
	if c.global.user || c.by.Remote && !c.by.Global {
		return ""
	}
	if !c.by.Global {
		if types, err := c.globalTypes(); len(types) == 0 || err != nil {
			return ""
		}
	}
	project, err := c.dir()
	if err != nil {
		return "" // which the verb says
	}
	if global, err := c.hasGlobal(); err == nil && global != project {
		return global
	}
	return ""
}

// askBoth has the user's own repository asked too where it is beside the project's, and returns the names of the
// fields that say so.
func (c *cli) askBoth(req any, given []string) []string {
	q, ok := req.(interface{ AskGlobal([]string) bool })
	if !ok || slices.Contains(given, withGlobal) || c.beside() == "" || !q.AskGlobal(given) {
		return nil
	}
	return []string{withGlobal}
}

// keeper returns the directory of the user's own repository where it keeps what a request has, "" where the
// project's does.
func (c *cli) keeper(req any) (string, error) {
	q, ok := req.(interface{ Movable() string })
	if !ok || q.Movable() == "" {
		return "", nil
	}
	types, err := c.globalTypes()
	if err != nil || !slices.Contains(types, q.Movable()) {
		return "", err
	}
	return c.beside(), nil
}

// keepElsewhere has the user's own repository keep what a request has.
func (c *cli) keepElsewhere(ctx context.Context, dir string, v *verb.Spec, req any, emit func(any) error) error {
	return c.askGlobal(ctx, dir, v, req, func(answer any) error {
		if r, ok := answer.(interface{ KeptElsewhere() }); ok {
			r.KeptElsewhere()
		}
		return emit(answer)
	})
}

// askGlobal runs a verb on the user's own repository, here or where another process has it open.
func (c *cli) askGlobal(
	ctx context.Context, dir string, v *verb.Spec, req any, emit func(any) error,
) error {
	side := c.aside(ctx, dir)
	side.by.Branch = "" // of the project
	return side.askAside(ctx, v, req, emit)
}

// aside returns what runs a verb whose answer is for this process, on the repository in dir.
func (c *cli) aside(ctx context.Context, dir string) *cli {
	app := *c.app
	app.Stdin = strings.NewReader("")
	side := &cli{
		app: &app, stdin: peers.NewReplay(app.Stdin), Console: consoleOf(&app, buffered(io.Discard)), started: true,
		doing: doing{ctx: ctx, wait: c.doing.wait}, by: c.by, quietly: true,
	}
	side.by.Session, side.by.Following = "", nil
	side.global, side.InJSON, side.Quiet = globalFlags{repo: dir, wait: c.global.wait}, true, true
	return side
}

func (c *cli) askAside(ctx context.Context, v *verb.Spec, req any, emit func(any) error) error {
	c.doing.name, c.doing.words = v.Name(), strings.Fields(v.Command)
	err := c.ask(ctx, v, req, emit)
	c.release(err)
	return err
}
