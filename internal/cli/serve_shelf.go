package cli

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/serve"
)

// shelf is where the repositories are that one server answers for.
type shelf interface {
	// find returns the directory of the repository of a name on this machine, "" where there is none.
	find(name string) (dir string, err error)
	tokens(name, dir string) (tokenKeeper, error)
	usage(name, dir string) serve.Usages
	// counts is whether usage knows blocks and commits.
	counts() bool
	// ready returns an error where no repository can be found now.
	ready() error
	shown() string
	close()
}

// shelf returns where --root or --many says that repositories are.
func (c *cli) shelf(f *serveFlags) (shelf, error) {
	if f.many {
		at := firstOf(c.global.repo, c.env("MNEM_REPO"))
		if !repo.IsDatabase(at) {
			return nil, usagef("--many serves the repositories of a database: name it with -R postgres://HOST/DATABASE")
		}
		d, _, err := repo.OpenDatabase(at)
		if err != nil {
			return nil, err
		}
		s := &database{c: c, in: d, at: repo.ShownDatabase(at)}
		if err := d.Ready(context.Background(), c.global.wait); err != nil {
			d.Close()
			return nil, hint(err, "'mnem -R postgres://HOST/DATABASE?repository=NAME init' makes the first one")
		}
		return s, nil
	}
	root := c.absolute(f.root)
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return nil, hint(&repo.NotFoundError{What: "directory", Name: f.root}, "name a directory with repositories in it")
	}
	return &directory{root, c.app.Now}, nil
}

// directory has repositories under it.
type directory struct {
	root string
	now  func() time.Time
}

func (d *directory) counts() bool  { return false }
func (d *directory) ready() error  { return nil }
func (d *directory) shown() string { return d.root }
func (d *directory) close()        {}

// find returns the directory of a repository, in which no link leads elsewhere.
func (d *directory) find(name string) (string, error) {
	local := filepath.FromSlash(name)
	if !filepath.IsLocal(local) {
		return "", nil
	}
	root, err := os.OpenRoot(d.root)
	if err != nil {
		return "", nil
	}
	defer func() { _ = root.Close() }() // it was read
	info, err := root.Stat(filepath.Join(local, repo.DirName))
	if err != nil || !info.IsDir() {
		return "", nil
	}
	return filepath.Join(d.root, local), nil
}

func (d *directory) tokens(_, dir string) (tokenKeeper, error) {
	return tokenDir(filepath.Join(dir, repo.DirName, tokenDirName)), nil
}

func (d *directory) usage(_, dir string) serve.Usages {
	return sizeOf(filepath.Join(dir, repo.DirName), d.now)
}

// sizeOf tells how many bytes the files under a directory have. It asks the system now and then.
func sizeOf(path string, clock func() time.Time) serve.Usages {
	var mu sync.Mutex
	var bytes int64
	var at time.Time
	return func(fresh bool) (serve.Usage, error) {
		mu.Lock()
		defer mu.Unlock()
		if now := clock(); fresh || at.IsZero() || now.Sub(at) > quotaAge || now.Before(at) {
			bytes, at = 0, now
			_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() {
					if info, err := d.Info(); err == nil { // what is gone by now has none
						bytes += info.Size()
					}
				}
				return nil
			})
		}
		return serve.Usage{Blocks: -1, Bytes: bytes, Commits: -1}, nil
	}
}

const (
	// readyAge is for how long a server believes that its database answers, or does not.
	readyAge  = time.Second
	readyTime = 3 * time.Second
)

// database has repositories by name.
type database struct {
	c  *cli
	in *repo.Database
	at string // without a password

	mu     sync.Mutex
	asked  time.Time // when it was asked last whether it answers
	answer error
}

func (d *database) counts() bool  { return true }
func (d *database) shown() string { return d.at }
func (d *database) close()        { d.in.Close() }

func (d *database) ready() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now := d.c.app.Now(); d.asked.IsZero() || now.Sub(d.asked) > readyAge || now.Before(d.asked) {
		ctx, cancel := context.WithTimeout(context.Background(), readyTime)
		defer cancel()
		d.answer, d.asked = d.in.Ready(ctx, 0), now
	}
	return d.answer
}

// find returns the directory that this machine has for a repository.
func (d *database) find(name string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	if has, err := d.in.Has(ctx, name); err != nil || !has {
		return "", err
	}
	return d.c.clientDir(d.in.URL(name))
}

// tokens are those of the repository. Their end is that of the connection of the server.
func (d *database) tokens(name, _ string) (tokenKeeper, error) {
	return &tokenTable{d.in, name, func() {}}, nil
}

func (d *database) usage(name, _ string) serve.Usages { return usageOf(d.in, name) }

func usageOf(in *repo.Database, name string) serve.Usages {
	return func(bool) (serve.Usage, error) {
		ctx, cancel := context.WithTimeout(context.Background(), askTime)
		defer cancel()
		u, err := in.Usage(ctx, name)
		return serve.Usage(u), away(err)
	}
}
