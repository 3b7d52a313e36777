package reach

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/gitfollow"
	"github.com/mnem-project/mnem/internal/verb"
)

// snapshot returns the memory at the revision of --at. HEAD before the first commit is the empty
// memory.
func snapshot(ctx context.Context, c *line.Line, r *core.Repo) (*core.Snapshot, error) {
	if c.Global.At == string(graph.Head) {
		_, head, err := r.Branch(ctx)
		if err != nil {
			return nil, err
		}
		return r.At(ctx, head)
	}
	return r.Snapshot(ctx, c.Global.At)
}

// withRepo opens the repository, for reading only unless write, runs fn and closes it. If this
// process shares one it runs fn with that, and where another process has it open and answers that runs
// the verb.
func withRepo(
	ctx context.Context, c *line.Line, write bool, fn func(ctx context.Context, r *core.Repo) error,
) (err error) {
	if err := c.Follow(); err != nil {
		return err
	}
	if c.Opened != nil {
		return fn(verb.Follow(ctx, c.By.Following), c.Opened)
	}
	r, done, err := openRepo(ctx, c, write)
	if err != nil {
		return err
	}
	c.Opened = r
	defer func() {
		c.Opened = nil
		if closeErr := done(); err == nil {
			err = closeErr
		}
	}()
	if c.By.Following, err = gitfollow.Origins(ctx, r, c.By.Following); err != nil {
		return err
	}
	ctx = verb.Follow(ctx, c.By.Following)
	if err := fn(ctx, r); err != nil {
		return err
	}
	if f := c.By.Following; f != nil && f.Unknown {
		c.Remark("warning: the git branch that the memory follows is not known: %s", line.OneLine(f.ReadOnly))
	}
	if !write {
		return nil
	}
	autoGC(ctx, c, r)
	if c.InUse == nil { // else it is done before the holder ends, or next to its calls
		embedLeft(ctx, c, r)
	}
	return nil
}

// there refuses a command that asks a model about a repository which is not there: nothing else is worth a word then.
func there(c *line.Line) error {
	dir, err := c.Dir()
	if err != nil || c.Linked() {
		return err
	}
	if _, err = os.Stat(filepath.Join(dir, core.DirName)); !errors.Is(err, fs.ErrNotExist) {
		return nil // opening says what else is wrong
	}
	_, done, err := openRepo(c.Doing.Ctx, c, false)
	if err == nil {
		err = done() // it has just been made
	}
	return err
}

// Options say how the repository of a command line is opened.
func Options(c *line.Line) (core.Options, error) {
	opt := core.Options{
		Wait: c.Global.Wait, PID: c.App.PID, AcceptHead: c.AcceptHead,
		Since: c.App.Clock().String(), Now: c.App.Clock, Opened: c.App.Opened,
	}
	err := setCaches(c, &opt)
	if err == nil && c.Linked() {
		opt.Client, err = c.ClientName(c.Doing.Ctx)
	}
	if err != nil {
		return opt, err
	}
	if c.Doing.Wait {
		return opt, settings.CheckWait(opt.Wait)
	}
	s := c.Env("MNEM_WAIT")
	if s == "" {
		var err error
		if s, err = c.Setting("wait"); s == "" || err != nil {
			return opt, err
		}
	}
	d, err := settings.ParseWait(s)
	opt.Wait = d
	return opt, err
}
