package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/settings"
	"github.com/mnem-project/mnem/internal/show"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

func (c *cli) configCommand() *cobra.Command {
	var keys strings.Builder
	for _, k := range settings.Keys() {
		fmt.Fprintf(&keys, "  %-21s %s (%s)\n", k.Name, k.Help, k.Env)
	}
	cmd := &cobra.Command{
		Use:     "config",
		GroupID: groupStart,
		Short:   "Get and set configuration values",
		Long: "" +
			"Read and write the configuration of the repository, .mnem/config.json, or with --user\n" +
			"that of the user, mnem/config.json under XDG_CONFIG_HOME or the system's directory of\n" +
			"configurations. A flag goes before the environment, then come the repository, the user\n" +
			"and the default. The keys are:\n\n" + strings.TrimRight(keys.String(), "\n"),
		Example: "  mnem config set author 'Ada Lovelace'\n  mnem config get wait\n" +
			"  mnem config list --json",
	}
	return c.parent(cmd, c.configGet(), c.configSet(), c.configUnset(), c.configList())
}

func (c *cli) userFlag(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("user", false, "the configuration of the user, not of the repository")
}

func (c *cli) configGet() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "get KEY",
		Short: "Print the value in effect",
		Long: "" +
			"Print the value of KEY that applies, or with --user what the user's configuration says.\n" +
			"It is an error with exit code 3 where there is none.",
		Example:   "  mnem config get author",
		Args:      cobra.ExactArgs(1),
		ValidArgs: settings.Names(),
	}
	user := c.userFlag(cmd)
	return c.command(cmd, func(_ *cobra.Command, args []string) error {
		key, err := settings.KeyOf(args[0])
		if err != nil {
			return err
		}
		got, err := c.lookUp(key, *user)
		switch {
		case err != nil:
			return err
		case got.Value == nil:
			return &repo.NotFoundError{What: "value of config key", Name: key.Name}
		case c.InJSON:
			return c.PrintJSON(got)
		}
		return c.Printf("%s\n", line(*got.Value))
	})
}

func (c *cli) configSet() *cobra.Command {
	cmd := &cobra.Command{
		Use:       "set KEY VALUE",
		Short:     "Set a value",
		Long:      "Set KEY to VALUE in the repository's configuration, or with --user in the user's.",
		Example:   "  mnem config set wait 10s\n  mnem config set --user author 'Ada Lovelace'",
		Args:      cobra.ExactArgs(2),
		ValidArgs: settings.Names(),
	}
	user := c.userFlag(cmd)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		return c.editConfig(cmd.Context(), *user, args[0], func(key settings.Key, list []settings.Setting) ([]settings.Setting, error) {
			return settings.With(list, key.Name, args[1]), key.Check(args[1])
		})
	})
}

func (c *cli) configUnset() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "unset KEY",
		Short: "Remove a value",
		Long: "Remove KEY from the repository's configuration, or with --user from the user's. A key\n" +
			"that is not there is no error.",
		Example:   "  mnem config unset wait",
		Args:      cobra.ExactArgs(1),
		ValidArgs: settings.Names(),
	}
	user := c.userFlag(cmd)
	return c.command(cmd, func(cmd *cobra.Command, args []string) error {
		return c.editConfig(cmd.Context(), *user, args[0], func(key settings.Key, list []settings.Setting) ([]settings.Setting, error) {
			return settings.Without(list, key.Name), nil
		})
	})
}

func (c *cli) configList() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the values in effect and where each comes from",
		Long: "List every key with the value that applies and its source, or with --user what the\n" +
			"user's configuration says. With --json, one object a line.",
		Example: "  mnem config list",
		Args:    cobra.NoArgs,
	}
	user := c.userFlag(cmd)
	return c.command(cmd, func(*cobra.Command, []string) error {
		var rows [][]show.Cell
		for _, key := range settings.Keys() {
			got, err := c.lookUp(key, *user)
			if err != nil {
				return err
			}
			if c.InJSON {
				if err := c.PrintJSON(got); err != nil {
					return err
				}
				continue
			}
			value, from := "", ""
			if got.Value != nil {
				value, from = line(*got.Value), string(got.From)
			}
			rows = append(rows, show.Row(key.Name, show.Bold, value, "", from, show.Dim))
		}
		return c.Table(rows)
	})
}

// lookUp returns the value of a key that applies beside flags, or the user's own.
func (c *cli) lookUp(key settings.Key, userOnly bool) (settings.InEffect, error) {
	variable := c.env(key.Env)
	if variable != "" && !userOnly {
		return new(settings.Layers).LookUp(key, variable, false), nil // whatever files have
	}
	conf, err := c.configs()
	if err != nil {
		return settings.InEffect{Key: key.Name}, err
	}
	return conf.LookUp(key, variable, userOnly), nil
}

// editConfig changes one configuration, upon all that other processes changed in it before.
func (c *cli) editConfig(
	ctx context.Context, user bool, name string,
	edit func(settings.Key, []settings.Setting) ([]settings.Setting, error),
) error {
	key, err := settings.KeyOf(name)
	if err != nil {
		return err
	}
	path, err := c.configPath(user)
	if err != nil {
		return err
	}
	return settings.Edit(ctx, path, func(list []settings.Setting) ([]settings.Setting, error) {
		return edit(key, list)
	})
}

func (c *cli) configPath(user bool) (string, error) {
	if !user {
		return c.repoFile(settings.File)
	}
	path := c.userConfig()
	if path == "" {
		return "", fmt.Errorf("%w: the system names no directory for the user's configuration",
			store.ErrNotFound)
	}
	return path, nil
}
