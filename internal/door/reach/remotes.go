package reach

import (
	"context"
	"path/filepath"
	"time"

	"filippo.io/age"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/exchange/remote"
	"github.com/mnem-project/mnem/internal/exchange/remote/place"
	"github.com/mnem-project/mnem/internal/exchange/remote/trade"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/internal/verb/peers"
)

// AskHost returns this program as transfers see it.
func AskHost(c *line.Line) *place.Host {
	shown := c.Progress()
	h := &place.Host{
		Agent: c.Agent(), Task: line.FirstOf(c.Global.Task, c.By.Task), Time: c.Global.Time,
		Getenv: c.App.Getenv, Now: c.App.Now, Spread: c.App.PID, Rand: c.App.Rand,
		Dir: c.App.Dir, Config: c.UserConfig(), Stderr: c.App.Stderr, Terminal: c.App.ErrTTY,
		Progress: shown.Bytes, Over: shown.Done,
	}
	h.Side = func(dir string, try bool) remote.Side { return &directory{c: c, dir: dir, try: try} }
	h.Init = func(ctx context.Context, dir, branch string) error { return initMirror(ctx, c, dir, branch) }
	h.Author = func() (string, error) { return authorHere(c) }
	h.Pause = func(ctx context.Context, d time.Duration) error { return sleep(ctx, c, d) }
	h.Helper = func() (string, error) { return credentialHelper(c) }
	h.Passphrase = func() (string, error) { return passphrase(c) }
	h.Identities = func(path string) ([]age.Identity, error) { return identities(c, path, h.Passphrase) }
	h.TrustPurge = func() (func(commit.Key) bool, error) { return trustPurge(c) }
	return h
}

// KeepOpen opens the repository in a directory once, for writing, when it is asked first, and keeps it open until the
// command ends. Other processes are answered while it is open. It is for commands that write.
func KeepOpen(c *line.Line, dir string) {
	if _, ok := c.Kept[dir]; !ok {
		if c.Kept == nil {
			c.Kept = make(map[string]*peers.Holder)
		}
		c.Kept[dir] = nil
	}
}

// initMirror makes an empty repository, as of place.Host.
func initMirror(ctx context.Context, c *line.Line, dir, branch string) error {
	by, err := c.StampOf()
	if err != nil {
		return err
	}
	opt, err := Options(c)
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

// authorHere returns who makes changes here, "" if none is named.
func authorHere(c *line.Line) (string, error) {
	if name := line.FirstOf(c.Global.Author, c.By.Author); name != "" {
		return name, nil
	}
	return c.Setting("author")
}

// sleep waits.
func sleep(ctx context.Context, c *line.Line, d time.Duration) error {
	if c.App.Sleep != nil {
		return c.App.Sleep(ctx, d)
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
func credentialHelper(c *line.Line) (string, error) {
	key, err := settings.KeyOf(place.HelperKey)
	if err != nil {
		return "", err
	}
	got, err := c.LookUp(key, true)
	if err != nil || got.Value == nil {
		return "", err
	}
	return *got.Value, nil
}

// trustPurge returns what says which keys may erase here, nil if there are no keys.
func trustPurge(c *line.Line) (func(commit.Key) bool, error) {
	ring, err := c.Ring()
	if err != nil {
		return nil, nil
	}
	list, err := ring.Trusted()
	if err != nil {
		return nil, err
	}
	return list.TrustPurge, nil
}

// HereSide returns the repository of the command.
func HereSide(c *line.Line, signed bool) (*trade.Local, error) {
	dir, err := c.Dir()
	if err != nil {
		return nil, err
	}
	if _, err := c.RepoFile(""); err != nil {
		return nil, err
	}
	d := &directory{c: c, dir: dir, signed: signed}
	run := func(ctx context.Context, v *verb.Spec, req any, emit func(any) error) error {
		return d.run(ctx, v, req, nil, nil, emit)
	}
	return &trade.Local{Side: d, Asker: branching.Asker{Run: run, Time: c.Global.Time}, Dir: dir, Signed: signed}, nil
}

// TransferWith connects to the remote of a name. End must be called.
func TransferWith(ctx context.Context, c *line.Line, name string, signed, dryRun bool) (*trade.Transfer, error) {
	here, err := HereSide(c, signed)
	if err != nil {
		return nil, err
	}
	if !dryRun {
		KeepOpen(c, here.Dir)
	}
	r, err := FindRemote(c, name)
	if err != nil {
		return nil, err
	}
	return trade.Open(ctx, AskHost(c), here, r, dryRun)
}

// RemotesPath returns the path of the file with the list of remotes.
func RemotesPath(c *line.Line) (string, error) {
	dir, err := c.RepoFile("")
	return filepath.Join(dir, place.ListFile), err
}

// Remotes returns the other repositories that are known here, by name.
func Remotes(c *line.Line) ([]place.Remote, error) {
	path, err := RemotesPath(c)
	if err != nil {
		return nil, err
	}
	return place.List(path)
}

// EditRemotes changes the list.
func EditRemotes(ctx context.Context, c *line.Line, edit func([]place.Remote) ([]place.Remote, error)) error {
	path, err := RemotesPath(c)
	if err != nil {
		return err
	}
	return place.Edit(ctx, path, edit)
}

// FindRemote returns the remote of a name: if none is given origin, or else the only one.
func FindRemote(c *line.Line, name string) (place.Remote, error) {
	list, err := Remotes(c)
	if err != nil {
		return place.Remote{}, err
	}
	return place.Find(list, name)
}
