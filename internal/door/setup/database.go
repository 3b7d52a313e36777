package setup

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/line"
)

// initDatabase makes a repository in a database, or where a directory is named links that to one.
func initDatabase(ctx context.Context, c *line.Line, at, dir, branch string, named bool) error {
	path := filepath.Join(dir, core.DirName)
	shown := core.ShownDatabase(at)
	if err := core.CheckDatabase(at); err != nil {
		return err
	}
	_, statErr := os.Lstat(path)
	if named && statErr == nil {
		return RepoExists(fs.ErrExist, path)
	}
	if err := c.Link(dir, at); err != nil {
		return err
	}
	err := MakeRepo(ctx, c, dir, branch)
	joined := named && errors.Is(err, fs.ErrExist)
	if joined {
		err = setAuthor(ctx, c, path)
	}
	if err != nil {
		if errors.Is(statErr, fs.ErrNotExist) {
			err = errors.Join(err, os.RemoveAll(path)) // the link and nothing else
		}
		if errors.Is(err, fs.ErrExist) {
			err = line.Hint(err, "use it: 'mnem -R URL status', or link a directory to it: 'mnem -R URL init DIR'")
		}
		return err
	}
	switch {
	case c.InJSON:
		return c.PrintJSON(initJSON{shown, branch, c.Global.Author})
	case joined:
		return c.Printf("%s is a client of %s, author %s\n", line.OneLine(path), line.OneLine(shown), line.OneLine(c.Global.Author))
	}
	return c.Printf("empty repository in %s, author %s\n", line.OneLine(shown), line.OneLine(c.Global.Author))
}
