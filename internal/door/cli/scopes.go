package cli

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

// errForeign is returned where the repository found is another user's.
var errForeign = errors.New("it belongs to another user")

// dir returns the directory that holds the repository.
func (c *cli) dir() (string, error) {
	switch path := firstOf(c.global.repo, c.env("MNEM_REPO")); {
	case c.global.user && c.global.repo != "":
		return "", usagef("--global and --repo exclude each other")
	case c.global.user:
		return c.hasGlobal()
	case isServer(path):
		return "", errOnServer(path)
	case core.IsDatabase(path):
		return c.clientDir(path)
	case path != "":
		path = c.absolute(path)
		if filepath.Base(path) == core.DirName {
			path = filepath.Dir(path)
		}
		return path, nil
	}
	dir, err := core.Find(c.app.Dir)
	if err == nil || errors.Is(err, store.ErrNotFound) {
		if main := c.mainRepo(dir); main != "" {
			dir, err = main, nil
		}
	}
	if errors.Is(err, store.ErrNotFound) {
		return dir, hint(noRepoError{c.app.Dir, err}, "run 'mnem init' to make a repository here, or name "+
			"one with --repo")
	}
	if err != nil {
		return dir, err
	}
	return dir, c.own(dir)
}

// own returns an error where a repository that nobody named is another user's: its configuration
// would decide which servers see what is asked, and its facts would pass for the user's own.
func (c *cli) own(dir string) error {
	path := filepath.Join(dir, core.DirName)
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("find repository: %w", err)
	}
	if !ofOther(info) {
		return nil
	}
	return hint(fmt.Errorf("repository %s: %w", path, errForeign),
		"name it with --repo or MNEM_REPO if you trust it")
}

// globalDir returns the directory of the user's own repository, which need not exist.
func (c *cli) globalDir() (string, error) {
	home := c.app.Data
	if xdg := c.env("XDG_DATA_HOME"); filepath.IsAbs(xdg) {
		home = xdg
	}
	if home == "" {
		return "", hint(fmt.Errorf("%w: the system names no directory for the user's data",
			store.ErrNotFound), "set XDG_DATA_HOME, or name a repository with --repo")
	}
	return filepath.Join(home, "mnem"), nil
}

// hasGlobal returns the directory of the user's own repository, or an error where there is none.
func (c *cli) hasGlobal() (string, error) {
	dir, err := c.globalDir()
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
	return hint(err, "run 'mnem init --global' to make the repository of all your projects")
}
