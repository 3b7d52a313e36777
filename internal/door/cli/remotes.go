package cli

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"time"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/exchange/remote/byverb"
	"github.com/mnem-project/mnem/internal/exchange/remote/place"
	"github.com/mnem-project/mnem/internal/exchange/remote/trade"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/peers"
)

// askHost returns this program as transfers see it.
func (c *cli) askHost() *byverb.Host {
	shown := c.progress()
	return &byverb.Host{
		Ask: c.askIn, Keep: c.keepOpen, Init: c.initMirror, Author: c.authorHere, Agent: c.agent(),
		Task: firstOf(c.global.task, c.by.Task), Time: c.global.time,
		Getenv: c.app.Getenv, Now: c.app.Now, Pause: c.sleep, Spread: c.app.PID, Rand: c.app.Rand,
		Dir: c.app.Dir, Config: c.userConfig(), Helper: c.credentialHelper,
		Stderr: c.app.Stderr, Terminal: c.app.ErrTTY, TrustPurge: c.trustPurge,
		Progress: shown.bytes, Over: shown.done,
	}
}

// askIn runs a verb on the repository in a directory, as of byverb.Host.
func (c *cli) askIn(
	ctx context.Context, dir string, v *verb.Spec, req any, in io.Reader, out io.Writer, emit func(any) error,
) (err error) {
	side := c.aside(ctx, dir)
	if err := c.shareKept(side, dir); err != nil {
		return err
	}
	g := &c.global
	side.by.Agent, side.by.Task = firstOf(g.agent, side.by.Agent), firstOf(g.task, side.by.Task)
	if side.by.Author, err = c.authorHere(); err != nil { // of a change elsewhere as well
		return err
	}
	if in != nil {
		side.stdin = peers.NewReplay(in)
		side.app.Stdin = side.stdin.Again()
	}
	if out != nil {
		side.Terminal = false
		side.Out = buffered(out)
	}
	if err = side.askAside(ctx, v, req, emit); err == nil {
		err = side.Out.Flush()
	}
	return err
}

// keepOpen has the repository in a directory opened once, when it is asked first, and kept open until the command ends.
// Meanwhile other processes are answered.
func (c *cli) keepOpen(dir string) {
	if _, ok := c.kept[dir]; !ok {
		if c.kept == nil {
			c.kept = make(map[string]*peers.Holder)
		}
		c.kept[dir] = nil
	}
}

// shareKept has a command beside this one use the repository that is kept open, if it is.
func (c *cli) shareKept(side *cli, dir string) (err error) {
	h, kept := c.kept[dir]
	if !kept || c.app.Holder != nil && c.app.Holder.Covers(dir) {
		return nil
	}
	if h == nil {
		if h, err = side.newHolder(); err != nil {
			return err
		}
		c.kept[dir] = h
	}
	side.app.Holder = h
	return nil
}

// closeKept closes the repositories that were kept open.
func (c *cli) closeKept() (err error) {
	for _, h := range c.kept {
		if h != nil {
			err = errors.Join(err, h.Close())
		}
	}
	c.kept = nil
	return err
}

// initMirror makes an empty repository, as of byverb.Host.
func (c *cli) initMirror(ctx context.Context, dir, branch string) error {
	by, err := c.stampOf()
	if err != nil {
		return err
	}
	opt, err := c.options()
	if err != nil {
		return err
	}
	opt.Branch = branch
	by.Guard, by.Signed, by.Head = nil, nil, nil
	r, err := care.Init(ctx, dir, by, opt)
	if err != nil {
		return err
	}
	return r.Close()
}

// authorHere returns who makes changes here, "" where nobody is named.
func (c *cli) authorHere() (string, error) {
	if name := firstOf(c.global.author, c.by.Author); name != "" {
		return name, nil
	}
	return c.setting("author")
}

// sleep waits.
func (c *cli) sleep(ctx context.Context, d time.Duration) error {
	if c.app.Sleep != nil {
		return c.app.Sleep(ctx, d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// credentialHelper returns the program that the user's configuration names. A repository's names none: it may be
// somebody else's.
func (c *cli) credentialHelper() (string, error) {
	key, err := settings.KeyOf(place.HelperKey)
	if err != nil {
		return "", err
	}
	got, err := c.lookUp(key, true)
	if err != nil || got.Value == nil {
		return "", err
	}
	return *got.Value, nil
}

// trustPurge returns what says which keys may erase here, nil where there are no keys.
func (c *cli) trustPurge() (func(commit.Key) bool, error) {
	ring, err := c.ring()
	if err != nil {
		return nil, nil
	}
	list, err := ring.Trusted()
	if err != nil {
		return nil, err
	}
	return list.TrustPurge, nil
}

// hereSide returns the repository of the command.
func (c *cli) hereSide(signed bool) (*byverb.Side, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	if _, err := c.repoFile(""); err != nil {
		return nil, err
	}
	c.keepOpen(dir)
	here := byverb.In(c.askHost(), dir)
	here.Signed = signed
	return here, nil
}

// transferWith connects to the remote of a name. End must be called.
func (c *cli) transferWith(ctx context.Context, name string, signed, dryRun bool) (*trade.Transfer, error) {
	here, err := c.hereSide(signed)
	if err != nil {
		return nil, err
	}
	r, err := c.findRemote(name)
	if err != nil {
		return nil, err
	}
	return trade.Open(ctx, c.askHost(), here, r, dryRun)
}

// remotesPath returns the path of the file with the list of remotes.
func (c *cli) remotesPath() (string, error) {
	dir, err := c.repoFile("")
	return filepath.Join(dir, place.ListFile), err
}

// remotes returns the other repositories that are known here, by name.
func (c *cli) remotes() ([]place.Remote, error) {
	path, err := c.remotesPath()
	if err != nil {
		return nil, err
	}
	return place.List(path)
}

// editRemotes changes the list.
func (c *cli) editRemotes(ctx context.Context, edit func([]place.Remote) ([]place.Remote, error)) error {
	path, err := c.remotesPath()
	if err != nil {
		return err
	}
	return place.Edit(ctx, path, edit)
}

// findRemote returns the remote of a name: where none is given origin, or else the only one.
func (c *cli) findRemote(name string) (place.Remote, error) {
	list, err := c.remotes()
	if err != nil {
		return place.Remote{}, err
	}
	return place.Find(list, name)
}
