package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/settings"
)

// A repository in a database has a directory on each machine for what its client keeps for itself: configuration,
// policy, remotes, tokens and what hooks noted. One that is named by its URL alone has it in the directory of the
// user's data; 'mnem init DIR' links another directory to it.

// databasesDir is where clients' directories are, in that of the user's data.
const databasesDir = "databases"

// clientPath returns the directory of a client of a repository in a database.
func (c *cli) clientPath(at string) (string, error) {
	if err := core.CheckDatabase(at); err != nil {
		return "", err
	}
	base, err := c.globalDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(core.ShownDatabase(at)))
	return filepath.Join(base, databasesDir, hex.EncodeToString(sum[:8])), nil
}

// clientDir is clientPath of a directory that is linked to the database.
func (c *cli) clientDir(at string) (string, error) {
	dir, err := c.clientPath(at)
	if err == nil {
		err = c.link(dir, at)
	}
	return dir, err
}

// link links a directory to a database.
func (c *cli) link(dir, at string) error {
	file := core.LinkFile(dir)
	line := at + "\n"
	have, err := filestate.Read(file, int64(len(line)))
	if err == nil && string(have) == line {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return filestate.Replace(file, privateMode, func(w io.Writer) error {
		_, err := io.WriteString(w, line)
		return err
	})
}

// initDatabase makes a repository in a database, or where a directory is named links that to one.
func (c *cli) initDatabase(ctx context.Context, at, dir, branch string, named bool) error {
	path := filepath.Join(dir, core.DirName)
	shown := core.ShownDatabase(at)
	if err := core.CheckDatabase(at); err != nil {
		return err
	}
	_, statErr := os.Lstat(path)
	if named && statErr == nil {
		return repoExists(fs.ErrExist, path)
	}
	if err := c.link(dir, at); err != nil {
		return err
	}
	err := c.makeRepo(ctx, dir, branch)
	joined := named && errors.Is(err, fs.ErrExist)
	if joined {
		err = c.setAuthor(ctx, path)
	}
	if err != nil {
		if errors.Is(statErr, fs.ErrNotExist) {
			err = errors.Join(err, os.RemoveAll(path)) // the link and nothing else
		}
		if errors.Is(err, fs.ErrExist) {
			err = hint(err, "use it: 'mnem -R URL status', or link a directory to it: 'mnem -R URL init DIR'")
		}
		return err
	}
	switch {
	case c.InJSON:
		return c.PrintJSON(initJSON{shown, branch, c.global.author})
	case joined:
		return c.Printf("%s is a client of %s, author %s\n", line(path), line(shown), line(c.global.author))
	}
	return c.Printf("empty repository in %s, author %s\n", line(shown), line(c.global.author))
}

// serversClient is what servers of many repositories are called unless MNEM_CLIENT says otherwise: they are one client,
// whatever the configuration of the user calls other processes.
const serversClient = "servers"

// clientName returns what this process is called in databases. Where nothing says so it makes up a name, which the
// user's configuration keeps; where that cannot be written, for whatever reason, it is "", as that of other such
// processes.
func (c *cli) clientName(ctx context.Context) (string, error) {
	name := c.env(settings.ClientVariable)
	if name == "" && c.client != "" {
		return c.client, nil
	}
	if name == "" {
		var err error
		if name, err = c.setting(settings.ClientKey); err != nil {
			return "", err
		}
	}
	path := c.userConfig()
	switch {
	case name != "":
		return name, core.CheckClient(name)
	case path == "":
		return "", nil
	}
	random := make([]byte, 5)
	if _, err := io.ReadFull(c.app.Rand, random); err != nil {
		return "", fmt.Errorf("read random bytes: %w", err)
	}
	err := settings.Edit(ctx, path, func(list []settings.Setting) ([]settings.Setting, error) {
		var there bool
		if name, there = settings.Find(list, settings.ClientKey); there { // another process was first
			return list, nil
		}
		name = "client-" + hex.EncodeToString(random)
		return settings.With(list, settings.ClientKey, name), nil
	})
	c.conf = nil // it is read anew
	if err != nil && ctx.Err() == nil {
		c.Remark("no name for this client can be kept, so that it has none: %s", line(err.Error()))
		return "", nil
	}
	return name, err
}

// linked reports whether the repository of the command is in a database.
func (c *cli) linked() bool {
	dir, err := c.dir()
	if err == nil {
		_, err = os.Stat(core.LinkFile(dir))
	}
	return err == nil
}
