package cli

import (
	"errors"
	"path/filepath"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/settings"
)

// setting returns a configured value, that of the repository before the user's, "" for none.
func (c *cli) setting(key string) (string, error) {
	conf, err := c.configs()
	if err != nil {
		return "", err
	}
	return conf.Of(key), nil
}

// configs returns the configurations as they were when they were asked for first: one command
// asks for many keys.
func (c *cli) configs() (*settings.Layers, error) {
	if c.conf != nil {
		return c.conf, nil
	}
	var conf settings.Layers
	path, err := c.repoConfig()
	if err == nil {
		conf.Repo, err = settings.Read(path)
	} else if errors.Is(err, store.ErrNotFound) || c.serverURL() != "" {
		err = nil // outside a repository the user's applies
	}
	if err != nil {
		return nil, err
	}
	if conf.User, err = readUserConfig(c.userConfig()); err != nil {
		return nil, err
	}
	c.conf = &conf
	return c.conf, nil
}

// readUserConfig reads the user's configuration at a path, which may be "".
func readUserConfig(path string) ([]settings.Setting, error) {
	if path == "" {
		return nil, nil
	}
	return settings.Read(path)
}

// repoConfig returns the path of the repository's configuration.
func (c *cli) repoConfig() (string, error) {
	dir, err := c.dir()
	return filepath.Join(dir, core.DirName, settings.File), err
}

// userConfig returns the path of the user's configuration, "" where the system has no place for
// one. A relative XDG_CONFIG_HOME is ignored, as its specification asks.
func (c *cli) userConfig() string {
	home := c.app.Config
	if xdg := c.env("XDG_CONFIG_HOME"); filepath.IsAbs(xdg) {
		home = xdg
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, "mnem", settings.File)
}
