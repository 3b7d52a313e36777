package reach

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/verb"
)

// Global implements verb.Caller.
func (h VerbHost) Global() (verb.Runner, error) {
	c := h.C
	if c.By.Remote && !c.By.Global {
		return nil, fmt.Errorf("%w: another repository than the one that is served", line.ErrRemote)
	}
	project, err := c.Dir()
	if err != nil {
		return nil, err
	}
	global, err := c.HasGlobal()
	if err != nil {
		return nil, err
	}
	if global == project {
		return nil, line.Usagef("--with-global: %s is the user's own repository itself", project)
	}
	return func(ctx context.Context, v *verb.Spec, req any, emit func(any) error) error {
		return askGlobal(ctx, c, global, v, req, emit)
	}, nil
}

// WithGlobal is the field that asks for the user's own repository as well.
const WithGlobal = "with-global"

// GlobalTypes returns the types of memories that the user's own repository keeps.
func GlobalTypes(c *line.Line) ([]string, error) {
	v, err := OfUser(c, settings.TypesKey, settings.NoTypes)
	if v == "" || v == settings.NoTypes {
		return nil, err
	}
	return strings.Split(v, ","), err
}

// OfUser returns a setting about using a project's memory and the user's own together. A project's configuration can
// only say no, because someone else may have written it.
func OfUser(c *line.Line, name, no string) (string, error) {
	got, err := c.LookUp(name, false)
	if err == nil && got.From == settings.FromRepository && *got.Value != no {
		got, err = c.LookUp(name, true)
	}
	return got.Text(), err
}

// GlobalDir returns the directory of the user's own repository if questions go to it as well without saying so, "" if
// they do not. It does so only for callers that act for the user.
func GlobalDir(c *line.Line) string {
	if only, err := confined(c, ""); only != "" || err != nil || c.Global.User || c.By.Remote && !c.By.Global {
		return ""
	}
	if !c.By.Global {
		if types, err := GlobalTypes(c); len(types) == 0 || err != nil {
			return ""
		}
	}
	project, err := c.Dir()
	if err != nil {
		return "" // which the verb says
	}
	if global, err := c.HasGlobal(); err == nil && global != project {
		return global
	}
	return ""
}

// AskBoth adds the user's own repository to a question if GlobalDir has it, and returns the names of the fields that
// say so.
func AskBoth(c *line.Line, req any, given []string) []string {
	q, ok := req.(interface{ AskGlobal([]string) bool })
	if !ok || slices.Contains(given, WithGlobal) || GlobalDir(c) == "" || !q.AskGlobal(given) {
		return nil
	}
	return []string{WithGlobal}
}

// keeper returns the directory of the user's own repository if a request's memory belongs there, else "".
func keeper(c *line.Line, req any) (string, error) {
	q, ok := req.(interface{ Movable() string })
	if !ok || q.Movable() == "" {
		return "", nil
	}
	types, err := GlobalTypes(c)
	if err != nil || !slices.Contains(types, q.Movable()) {
		return "", err
	}
	return GlobalDir(c), nil
}

// keepElsewhere has the user's own repository store a request's memory.
func keepElsewhere(ctx context.Context, c *line.Line, dir string, v *verb.Spec, req any, emit func(any) error) error {
	return askGlobal(ctx, c, dir, v, req, func(answer any) error {
		if r, ok := answer.(interface{ KeptElsewhere() }); ok {
			r.KeptElsewhere()
		}
		return emit(answer)
	})
}

// askGlobal runs a verb on the user's own repository, here or where another process has it open.
func askGlobal(
	ctx context.Context, c *line.Line, dir string, v *verb.Spec, req any, emit func(any) error,
) error {
	side := Aside(ctx, c, dir)
	side.By.Branch = "" // of the project
	return AskAside(ctx, side, v, req, emit)
}

// Aside returns a line that runs a verb on the repository in dir and returns the answer to this process.
func Aside(ctx context.Context, c *line.Line, dir string) *line.Line {
	app := *c.App
	app.Stdin = strings.NewReader("")
	side := &line.Line{
		App: &app, Console: line.ConsoleOf(&app, line.Buffered(io.Discard)), Started: true,
		Doing: line.Doing{Ctx: ctx, Wait: c.Doing.Wait}, By: c.By, Quietly: true,
	}
	side.By.Session, side.By.Following = "", nil
	side.Global, side.InJSON, side.Quiet = line.GlobalFlags{Repo: dir, Wait: c.Global.Wait}, true, true
	return side
}

// AskAside runs a verb on the line of another repository, and ends its use.
func AskAside(ctx context.Context, c *line.Line, v *verb.Spec, req any, emit func(any) error) error {
	c.Doing.Name, c.Doing.Words = v.Name(), strings.Fields(v.Command)
	err := Ask(ctx, c, v, req, emit)
	c.Release(err)
	return err
}
