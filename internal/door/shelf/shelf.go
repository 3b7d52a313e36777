// Package shelf is where the repositories are that a server answers for, in a directory or a database: what each is called,
// the access tokens that it knows, and how much it has. It opens none of them.
package shelf

import (
	"context"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/serve"
)

// Shelf is where the repositories are that one server answers for.
type Shelf interface {
	// Find returns the directory of the repository of a name on this machine, "" if there is none.
	Find(name string) (dir string, err error)
	// One returns what a server needs of the repository of a name, which Find has found.
	One(name, dir string) *One
	// Counts is whether the usage of each has blocks and commits.
	Counts() bool
	// Ready returns an error if no repository can be found now.
	Ready() error
	// Shown returns its place, for people.
	Shown() string
	Close()
}

// In returns the shelf of the repositories under a directory.
func In(root string, now func() time.Time) Shelf { return &directory{root, now} }

// InDatabase returns the shelf of the repositories in a database, which it closes. client returns the directory that this
// machine has for one of them.
func InDatabase(
	in *core.Database, shown string, client func(url string) (dir string, err error), now func() time.Time,
) Shelf {
	return &database{in: in, at: shown, client: client, now: now}
}

// One holds what a server needs of one repository.
type One struct {
	Tokens Tokens
	Usage  serve.Usages
	Counts bool // whether Usage knows blocks and commits
}

// Of returns what a server needs of the repository in a directory. One in a database has its tokens there, so that each
// server of it knows them. Tokens must be closed.
func Of(dir string, now func() time.Time) (*One, error) {
	at, err := core.LinkedDatabase(dir)
	if err != nil {
		return nil, err
	}
	if at == "" {
		return In("", now).One("", dir), nil
	}
	d, name, err := core.OpenDatabase(at)
	if err != nil {
		return nil, err
	}
	return &One{&tokenTable{d, name, d.Close}, usageOf(d, name), true}, nil
}

type directory struct {
	root string
	now  func() time.Time
}

func (d *directory) Counts() bool  { return false }
func (d *directory) Ready() error  { return nil }
func (d *directory) Shown() string { return d.root }
func (d *directory) Close()        {}

// Find returns the directory of a repository, in which no link leads elsewhere.
func (d *directory) Find(name string) (string, error) {
	local := filepath.FromSlash(name)
	if !filepath.IsLocal(local) {
		return "", nil
	}
	root, err := regular.OpenDir(d.root)
	if err != nil {
		return "", nil
	}
	defer func() { _ = root.Close() }() // it was read
	info, err := root.Stat(filepath.Join(local, core.DirName))
	if err != nil || !info.IsDir() {
		return "", nil
	}
	return filepath.Join(d.root, local), nil
}

// One implements Shelf.
func (d *directory) One(_, dir string) *One {
	path := filepath.Join(dir, core.DirName)
	return &One{tokenDir(filepath.Join(path, tokenDirName)), sizeOf(path, d.now), false}
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
	// quotaAge is for how long it is believed how many bytes a repository has.
	quotaAge = 5 * time.Second
	// readyAge is for how long a server believes that its database answers, or does not.
	readyAge  = time.Second
	readyTime = 3 * time.Second
)

type database struct {
	in     *core.Database
	at     string // without a password
	client func(url string) (dir string, err error)
	now    func() time.Time

	mu     sync.Mutex
	asked  time.Time // when it was asked last whether it answers
	answer error
}

func (d *database) Counts() bool  { return true }
func (d *database) Shown() string { return d.at }
func (d *database) Close()        { d.in.Close() }

func (d *database) Ready() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now := d.now(); d.asked.IsZero() || now.Sub(d.asked) > readyAge || now.Before(d.asked) {
		ctx, cancel := context.WithTimeout(context.Background(), readyTime)
		defer cancel()
		d.answer, d.asked = d.in.Ready(ctx, 0), d.now() // which may be much later
	}
	return d.answer
}

// Find returns the directory that this machine has for a repository.
func (d *database) Find(name string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	if has, err := d.in.Has(ctx, name); err != nil || !has {
		return "", err
	}
	return d.client(d.in.URL(name))
}

// One implements Shelf. Its tokens end with the connection of the server.
func (d *database) One(name, _ string) *One {
	return &One{&tokenTable{d.in, name, func() {}}, d.usage(name), true}
}

// usage asks a database that does not answer once for all repositories, unless the answer must be fresh.
func (d *database) usage(name string) serve.Usages {
	of := usageOf(d.in, name)
	return func(fresh bool) (serve.Usage, error) {
		if !fresh {
			if err := d.Ready(); err != nil {
				return serve.Usage{}, away(err)
			}
		}
		return of(fresh)
	}
}

func usageOf(in *core.Database, name string) serve.Usages {
	return func(bool) (serve.Usage, error) {
		ctx, cancel := context.WithTimeout(context.Background(), askTime)
		defer cancel()
		u, err := in.Usage(ctx, name)
		return serve.Usage(u), away(err)
	}
}
