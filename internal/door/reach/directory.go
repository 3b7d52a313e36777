package reach

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/door/line"
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

// Look implements remote.Side.
func (d *directory) Look(ctx context.Context, q remote.Question) (st *remote.State, err error) {
	err = d.ask(ctx, &transfer.PackRefs.Spec, func(s remote.Side) error { st, err = s.Look(ctx, q); return err })
	return st, err
}

// Send implements remote.Side.
func (d *directory) Send(ctx context.Context, w io.Writer, want remote.Want, from int64) error {
	return d.ask(ctx, &transfer.PackSend.Spec, func(s remote.Side) error { return s.Send(ctx, w, want, from) })
}

// Take implements remote.Side.
func (d *directory) Take(ctx context.Context, news remote.News) (out *remote.Taken, err error) {
	err = d.ask(ctx, &transfer.PackTake.Spec, func(s remote.Side) error { out, err = s.Take(ctx, news); return err })
	return out, err
}

// Redactions implements remote.Side.
func (d *directory) Redactions(
	ctx context.Context, after ipld.CID,
) (list []care.ToldRedaction, more bool, err error) {
	err = d.ask(ctx, &transfer.PackRedactions.Spec, func(s remote.Side) error {
		list, more, err = s.Redactions(ctx, after)
		return err
	})
	return list, more, err
}

// Accept implements remote.Side.
func (d *directory) Accept(
	ctx context.Context, list []care.ToldRedaction, tracking string,
) (out *care.AcceptedRedactions, err error) {
	err = d.ask(ctx, &transfer.PackRedact.Spec, func(s remote.Side) error {
		out, err = s.Accept(ctx, list, tracking)
		return err
	})
	return out, err
}

// Close implements remote.Side.
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
