package setup

import (
	"context"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
)

type configScope struct {
	User bool `op:"" doc:"the configuration of the user, not of the repository"`
}

type (
	ConfigGetRequest struct {
		Key string `op:",arg"`
		configScope
	}
	ConfigSetRequest struct {
		Key   string `op:",arg"`
		Value string `op:",arg" complete:"value"`
		configScope
	}
)

// ConfigHelp says what the keys are.
func ConfigHelp() string {
	var keys strings.Builder
	for _, k := range settings.Keys() {
		fmt.Fprintf(&keys, "  %-17s  %s (%s)\n", k.Name, k.Help, k.Env)
	}
	return "Read and write the configuration of the repository, .mnem/config.json, or with --user\n" +
		"that of the user, mnem/config.json under XDG_CONFIG_HOME or the system's directory of\n" +
		"configurations. A flag goes before the environment, then come the repository, the user\n" +
		"and the default. The keys are:\n\n" + strings.TrimRight(keys.String(), "\n")
}

// ConfigCommands are the commands for settings.
func ConfigCommands() []*line.Bound {
	return []*line.Bound{
		reach.Local(verb.Spec{
			Command: "config get", Right: verb.NoRight,
			Usage: "KEY", Title: "Print the value in effect", Complete: "setting",
			Doc: "Print the value of KEY that applies, or with --user what the user's configuration says.\n" +
				"It is an error with exit code 3 where there is none.",
			Example: "  mnem config get author", Answers: []any{settings.InEffect{}},
		}, configGet),
		reach.Local(verb.Spec{
			Command: "config set", Right: verb.OwnRight, Usage: "KEY VALUE", Title: "Set a value", Complete: "setting",
			Doc:     "Set KEY to VALUE in the repository's configuration, or with --user in the user's.",
			Example: "  mnem config set wait 10s\n  mnem config set --user author 'Ada Lovelace'",
		}, ConfigSet),
		reach.Local(verb.Spec{
			Command: "config unset", Right: verb.OwnRight, Usage: "KEY", Title: "Remove a value", Complete: "setting",
			Doc: "Remove KEY from the repository's configuration, or with --user from the user's. A key\n" +
				"that is not there is no error.",
			Example: "  mnem config unset wait",
		}, ConfigUnset),
		reach.LocalLines(verb.Spec{
			Command: "config list", Right: verb.NoRight, Title: "List the values in effect and where each comes from",
			Doc: "List every key with the value that applies and its source, or with --user what the\n" +
				"user's configuration says. With --json, one object a line.",
			Example: "  mnem config list", Answers: []any{settings.InEffect{}},
		}, configList),
	}
}

func configGet(_ context.Context, c *line.Line, q *ConfigGetRequest) error {
	got, err := c.LookUp(q.Key, q.User)
	switch {
	case err != nil:
		return err
	case got.Value == nil:
		return &state.NotFoundError{What: "value of config key", Name: q.Key}
	}
	return c.Say(got, "%s\n", line.OneLine(*got.Value))
}

// ConfigSet sets a key.
func ConfigSet(ctx context.Context, c *line.Line, q *ConfigSetRequest) error {
	key, err := settings.KeyOf(q.Key)
	if err != nil {
		return err
	}
	return editConfig(ctx, c, q.User, func(list []settings.Setting) ([]settings.Setting, error) {
		return settings.With(list, key.Name, q.Value), key.Check(q.Value)
	})
}

// ConfigUnset removes a key, which may be one of older versions.
func ConfigUnset(ctx context.Context, c *line.Line, q *ConfigGetRequest) error {
	if _, err := settings.KeyOf(q.Key); err != nil && !settings.WasRemoved(q.Key) {
		return err
	}
	return editConfig(ctx, c, q.User, func(list []settings.Setting) ([]settings.Setting, error) {
		return settings.Without(list, q.Key), nil
	})
}

func configList(_ context.Context, c *line.Line, q *configScope) error {
	var all []settings.InEffect
	for _, key := range settings.Keys() {
		got, err := c.LookUp(key.Name, q.User)
		if err != nil {
			return err
		}
		all = append(all, got)
	}
	return show.PrintList(&c.Console, all, func(got settings.InEffect) []show.Cell {
		return show.Row(got.Key, show.Bold, line.OneLine(got.Text()), "", string(got.From), show.Dim)
	})
}

// editConfig changes one configuration, upon all that other processes changed in it before.
func editConfig(
	ctx context.Context, c *line.Line, user bool, edit func([]settings.Setting) ([]settings.Setting, error),
) error {
	path := c.UserConfig()
	if user && path == "" {
		return fmt.Errorf("%w: the system names no directory for the user's configuration", store.ErrNotFound)
	}
	if !user {
		var err error
		if path, err = c.RepoFile(settings.File); err != nil {
			return err
		}
	}
	return settings.Edit(ctx, path, edit)
}
