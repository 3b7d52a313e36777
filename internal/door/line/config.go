package line

import (
	"errors"
	"path/filepath"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/model/embed"
)

// Setting returns a configured value, that of the repository before the user's, "" for none.
func (c *Line) Setting(key string) (string, error) {
	conf, err := c.Configs()
	if err != nil {
		return "", err
	}
	return conf.Of(key), nil
}

// Configs returns the configurations as they were when they were asked for first: one command asks for many keys.
func (c *Line) Configs() (*settings.Layers, error) {
	if c.Conf != nil {
		return c.Conf, nil
	}
	if err := settings.CheckVariables(c.Env); err != nil {
		return nil, err
	}
	var conf settings.Layers
	dir, err := c.Dir()
	if err == nil {
		conf.Repo, err = settings.Read(filepath.Join(dir, core.DirName, settings.File))
	} else if errors.Is(err, store.ErrNotFound) || c.ServerURL() != "" {
		err = nil // outside a repository the user's applies
	}
	if err != nil {
		return nil, err
	}
	if conf.User, err = settings.Read(c.UserConfig()); err != nil {
		return nil, err
	}
	c.Conf = &conf
	return c.Conf, nil
}

// UserConfig returns the path of the user's configuration, "" if the system has no place for
// one. A relative XDG_CONFIG_HOME is ignored, as its specification asks.
func (c *Line) UserConfig() string {
	home := c.App.Config
	if xdg := c.Env("XDG_CONFIG_HOME"); filepath.IsAbs(xdg) {
		home = xdg
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, "mnem", settings.File)
}

// LookUp returns the value of the key of a name that applies unless a flag overrides it, or the user's own.
func (c *Line) LookUp(name string, userOnly bool) (settings.InEffect, error) {
	key, err := settings.KeyOf(name)
	if err != nil {
		return settings.InEffect{}, err
	}
	return c.lookUp(key, userOnly)
}

func (c *Line) lookUp(key settings.Key, userOnly bool) (settings.InEffect, error) {
	variable := c.Env(key.Env)
	if variable != "" && !userOnly {
		return new(settings.Layers).LookUp(key, variable, false), nil // whatever files have
	}
	conf, err := c.Configs()
	if err != nil {
		return settings.InEffect{Key: key.Name}, err
	}
	return conf.LookUp(key, variable, userOnly), nil
}

// Meaning returns the model that embeds texts and questions without being asked to: the one that is a part of the
// program, nil if it has none or the configuration names another one or none.
func (c *Line) Meaning() (embed.Exact, error) {
	if c.App.Meaning == nil {
		return nil, nil
	}
	spec, err := c.Configured(settings.EmbedModel)
	if err != nil || spec != "" && spec != embed.BuiltIn {
		return nil, err
	}
	return c.App.Meaning, nil
}
