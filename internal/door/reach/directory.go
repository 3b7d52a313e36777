package reach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/exchange/remote"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/internal/verb/transfer"
	"github.com/mnem-project/mnem/ipld"
)

// directory is the repository in a directory as a side of a transfer. Each question opens it, unless it is kept open
// here; if another process has it open, that one is asked by verbs.
type directory struct {
	c      *line.Line
	dir    string // that holds .mnem
	signed bool   // whether commits that come must be signed
	try    bool   // whether what comes is only checked
}

var _ remote.Side = (*directory)(nil)

func (d *directory) Look(ctx context.Context, q remote.Question) (st *remote.State, err error) {
	err = d.ask(ctx, &transfer.PackRefs.Spec, func(s remote.Side) error { st, err = s.Look(ctx, q); return err })
	return st, err
}

func (d *directory) Send(ctx context.Context, w io.Writer, want remote.Want, from int64) error {
	return d.ask(ctx, &transfer.PackSend.Spec, func(s remote.Side) error { return s.Send(ctx, w, want, from) })
}

func (d *directory) Take(ctx context.Context, news remote.News) (out *remote.Taken, err error) {
	err = d.ask(ctx, &transfer.PackTake.Spec, func(s remote.Side) error { out, err = s.Take(ctx, news); return err })
	return out, err
}

func (d *directory) Redactions(
	ctx context.Context, after ipld.CID,
) (list []care.ToldRedaction, more bool, err error) {
	err = d.ask(ctx, &transfer.PackRedactions.Spec, func(s remote.Side) error {
		list, more, err = s.Redactions(ctx, after)
		return err
	})
	return list, more, err
}

func (d *directory) Accept(
	ctx context.Context, list []care.ToldRedaction, tracking string,
) (out *care.AcceptedRedactions, err error) {
	err = d.ask(ctx, &transfer.PackRedact.Spec, func(s remote.Side) error {
		out, err = s.Accept(ctx, list, tracking)
		return err
	})
	return out, err
}

func (d *directory) Close() error { return nil }

// ask calls fn with the repository, which is asked what v would be: the caller has the right to that, and the operation
// log names it.
func (d *directory) ask(ctx context.Context, v *verb.Spec, fn func(remote.Side) error) error {
	side, err := d.aside(ctx)
	if err != nil {
		return err
	}
	side.Doing.Name, side.Doing.Words = v.Name(), strings.Fields(v.Command)
	if err := permit(side, side.Agent(), v.Rights(v.Request())); err != nil {
		return err
	}
	if err := side.Follow(); err != nil {
		return err
	}
	here := &remote.Here{Stamp: side.Stamp, DryRun: d.try}
	if v == &transfer.PackTake.Spec {
		if here.Verify, err = (VerbHost{side}).Require("import", d.signed); err != nil {
			return err
		}
	}
	opt, err := Options(side)
	if err != nil {
		return err
	}
	opt.ReadOnly = d.try || v.Effect == verb.Reads
	r, done, client, err := reach(ctx, side, d.dir, opt)
	if err != nil {
		return side.OpenHint(err)
	}
	if client != nil {
		_ = client.Close() // nothing was sent: another process may have it open by the time that it is asked
		return fn(transfer.Verbs{Do: d.do, Time: d.c.Global.Time, Signed: d.signed, DryRun: d.try})
	}
	here.Repo = r
	if err = fn(here); err == nil && !opt.ReadOnly {
		autoGC(ctx, side, r)
		if side.InUse == nil {
			embedLeft(ctx, side, r)
		}
	}
	side.Release(err)
	return line.FirstError(err, done())
}

// do runs a verb with one answer, as of transfer.Verbs.
func (d *directory) do(
	ctx context.Context, v *verb.Spec, req, _ any, in io.Reader, out io.Writer,
) (answer any, err error) {
	err = d.run(ctx, v, req, in, out, func(got any) error { answer = got; return nil })
	return answer, err
}

// run runs a verb, which reads what it reads from in and writes what it writes to out.
func (d *directory) run(
	ctx context.Context, v *verb.Spec, req any, in io.Reader, out io.Writer, emit func(any) error,
) error {
	side, err := d.aside(ctx)
	if err != nil {
		return err
	}
	if in != nil {
		side.App.Stdin = in
	}
	if out != nil {
		side.Terminal = false
		side.Out = line.Buffered(out)
	}
	if err = AskAside(ctx, side, v, req, emit); err == nil {
		err = side.Out.Flush()
	}
	if _, told := errors.AsType[*operation.Error](err); told && verb.OutcomeOf(ctx, err) == operation.Conflict {
		err = transfer.Conflict(err) // as those of this process say it
	}
	return err
}

// aside returns the command line by which the repository is asked, on behalf of the one here.
func (d *directory) aside(ctx context.Context) (side *line.Line, err error) {
	c := d.c
	side = Aside(ctx, c, d.dir)
	side.Global.Time = c.Global.Time
	if h, kept := c.Kept[d.dir]; kept && (c.App.Holder == nil || !c.App.Holder.Covers(d.dir)) {
		if h == nil {
			if h, err = NewHolder(side); err != nil {
				return nil, err
			}
			c.Kept[d.dir] = h
		}
		side.App.Holder = h
	}
	side.By.Agent, side.By.Task = line.FirstOf(c.Global.Agent, side.By.Agent), line.FirstOf(c.Global.Task, side.By.Task)
	side.By.Author, err = authorHere(c) // of a change elsewhere as well
	return side, err
}

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
