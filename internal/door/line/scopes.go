package line

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
)

// Which repository a command is about, in this order: --global or --repo, MNEM_REPO, and the nearest
// one from the working directory upward; in a linked git work tree that of the main one, if it follows git. None of them falls back to the next: what was named and is
// not there is an error.

// errForeign is returned if the repository found is another user's.
var errForeign = errors.New("it belongs to another user")

// Dir returns the directory that holds the repository.
func (c *Line) Dir() (string, error) {
	switch path := FirstOf(c.Global.Repo, c.Env("MNEM_REPO")); {
	case c.Global.User && c.Global.Repo != "":
		return "", Usagef("--global and --repo exclude each other")
	case c.Global.User:
		return c.HasGlobal()
	case isServer(path):
		return "", ErrOnServer(path)
	case core.IsDatabase(path):
		return c.ClientDir(path)
	case path != "":
		path = c.Absolute(path)
		if filepath.Base(path) == core.DirName {
			path = filepath.Dir(path)
		}
		return path, nil
	}
	dir, err := core.Find(c.App.Dir)
	if err == nil || errors.Is(err, store.ErrNotFound) {
		if main := c.mainRepo(dir); main != "" {
			dir, err = main, nil
		}
	}
	if errors.Is(err, store.ErrNotFound) {
		return dir, Hint(NoRepoError{c.App.Dir, err}, "run 'mnem init' to make a repository here, or name "+
			"one with --repo")
	}
	if err != nil {
		return dir, err
	}
	return dir, c.own(dir)
}

// own returns an error if a repository that the user did not name belongs to another user: its
// configuration would decide which servers see the queries, and its facts would pass for the user's own.
func (c *Line) own(dir string) error {
	path := filepath.Join(dir, core.DirName)
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("find repository: %w", err)
	}
	if !OfOther(info) {
		return nil
	}
	return Hint(fmt.Errorf("repository %s: %w", path, errForeign),
		"name it with --repo or MNEM_REPO if you trust it")
}

// GlobalDir returns the directory of the user's own repository, which need not exist.
func (c *Line) GlobalDir() (string, error) {
	home := c.App.Data
	if xdg := c.Env("XDG_DATA_HOME"); filepath.IsAbs(xdg) {
		home = xdg
	}
	if home == "" {
		return "", Hint(fmt.Errorf("%w: the system names no directory for the user's data",
			store.ErrNotFound), "set XDG_DATA_HOME, or name a repository with --repo")
	}
	return filepath.Join(home, "mnem"), nil
}

// HasGlobal returns the directory of the user's own repository, or an error if there is none.
func (c *Line) HasGlobal() (string, error) {
	dir, err := c.GlobalDir()
	if err != nil {
		return "", err
	}
	_, err = os.Stat(filepath.Join(dir, core.DirName))
	if errors.Is(err, os.ErrNotExist) {
		err = noGlobal(&state.NotFoundError{What: "user-wide repository", Name: dir})
	}
	return dir, err
}

func noGlobal(err error) error {
	return Hint(err, "run 'mnem init --global' to make the repository of all your projects")
}
