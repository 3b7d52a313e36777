package line

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
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

// ClientPath returns the directory of a client of a repository in a database.
func (c *Line) ClientPath(at string) (string, error) {
	if err := core.CheckDatabase(at); err != nil {
		return "", err
	}
	base, err := c.GlobalDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(core.ShownDatabase(at)))
	return filepath.Join(base, databasesDir, hex.EncodeToString(sum[:8])), nil
}

// ClientDir is clientPath of a directory that is linked to the database.
func (c *Line) ClientDir(at string) (string, error) {
	dir, err := c.ClientPath(at)
	if err == nil {
		err = c.Link(dir, at)
	}
	return dir, err
}

// Link links a directory to a database.
func (c *Line) Link(dir, at string) error {
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

// ServersClient names servers of many repositories in databases unless MNEM_CLIENT does: they are one client, however
// the user's configuration names other processes.
const ServersClient = "servers"

// ClientName returns the name of this process in databases. Unless one is set it makes up a name and stores it in the
// user's configuration; if that cannot be written, the name is "", which all such processes share.
func (c *Line) ClientName(ctx context.Context) (string, error) {
	name := c.Env(settings.ClientVariable)
	if name == "" && c.Client != "" {
		return c.Client, nil
	}
	if name == "" {
		var err error
		if name, err = c.Setting(settings.ClientKey); err != nil {
			return "", err
		}
	}
	path := c.UserConfig()
	switch {
	case name != "":
		return name, core.CheckClient(name)
	case path == "":
		return "", nil
	}
	random := make([]byte, 5)
	if _, err := io.ReadFull(c.App.Rand, random); err != nil {
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
	c.Conf = nil // it is read again
	if err != nil && ctx.Err() == nil {
		c.Remark("no name for this client can be kept, so that it has none: %s", OneLine(err.Error()))
		return "", nil
	}
	return name, err
}

// Linked reports whether the repository of the command is in a database.
func (c *Line) Linked() bool {
	dir, err := c.Dir()
	if err == nil {
		_, err = os.Stat(core.LinkFile(dir))
	}
	return err == nil
}
