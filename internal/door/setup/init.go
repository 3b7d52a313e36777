// Package setup is the commands that create repositories, set configuration values, and connect agents' programs.
package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
)

type initJSON struct {
	Path   string `json:"path"`
	Branch string `json:"branch"`
	Author string `json:"author"`
}

type initRequest struct {
	Dir    string `op:",arg"`
	Branch string `op:",short=b" default:"main" doc:"the {NAME} of the first branch"`
	verb.Actor
}

// InitCommand is the command that makes a repository.
func InitCommand() *line.Bound {
	return reach.Local(verb.Spec{
		Command: "init", Right: verb.NoRight, Usage: "[DIR]", Group: line.GroupStart, Title: "Create a repository",
		Doc: "Make an empty repository in DIR/.mnem, by default in the working directory or that of\n" +
			"--repo. DIR is made where it does not exist. The author of commits is written into the\n" +
			"repository's configuration, from --author, MNEM_AUTHOR or the system's user, unless the\n" +
			"user's own configuration names one. The first branch is main, or that of --branch.\n\n" +
			"With --global the repository is the user's own, for what holds in all projects: mnem under\n" +
			"XDG_DATA_HOME, which is ~/.local/share unless it is set, or the system's directory of\n" +
			"application data. 'mnem -G' means it, and 'mnem retrieve --with-global' asks it too.\n\n" +
			"Where --repo or MNEM_REPO is postgres://HOST/DATABASE?repository=NAME the repository is made in that\n" +
			"database, for many machines. With DIR that directory is linked to it, and made a client of one that is\n" +
			"there already.\n\n" +
			"Git ignores the repository: .mnem has a .gitignore that says so.",
		Example: "  mnem init\n  mnem init --global\n  mnem init notes --author 'Ada Lovelace' --branch trunk", Answers: []any{initJSON{}},
	}, runInit)
}

func runInit(ctx context.Context, c *line.Line, q *initRequest) error {
	dir := line.FirstOf(c.Global.Repo, c.Env("MNEM_REPO"), c.App.Dir)
	switch {
	case c.Global.User && (q.Dir != "" || c.Global.Repo != ""):
		return line.Usagef("--global and a directory exclude each other")
	case c.Global.User:
		var err error
		if dir, err = c.GlobalDir(); err != nil {
			return err
		}
	case q.Dir != "":
		dir = q.Dir
	}
	database := line.FirstOf(c.Global.Repo, c.Env("MNEM_REPO"))
	if !core.IsDatabase(database) || c.Global.User {
		database = ""
	}
	if core.IsDatabase(dir) {
		var err error
		if dir, err = c.ClientPath(dir); err != nil {
			return err
		}
	}
	dir = c.Absolute(dir)
	if filepath.Base(dir) == core.DirName {
		dir = filepath.Dir(dir)
	}
	c.Global.Repo, c.Global.User = dir, false
	path := filepath.Join(dir, core.DirName)
	if database != "" {
		return initDatabase(ctx, c, database, dir, q.Branch, q.Dir != "")
	}
	if _, err := os.Lstat(path); err == nil {
		awaitMade(ctx, dir)
		return RepoExists(fs.ErrExist, path)
	}
	if err := MakeRepo(ctx, c, dir, q.Branch); err != nil {
		return err
	}
	out := initJSON{path, q.Branch, c.Global.Author}
	return c.Say(out, "empty repository in %s, author %s\n", line.OneLine(path), line.OneLine(out.Author))
}

// madeWithin bounds how long another process may take to make a repository.
const madeWithin = time.Second

// awaitMade waits until a process that may be making a repository has noted its author: what it writes last is there.
func awaitMade(ctx context.Context, dir string) {
	for began := time.Now(); time.Since(began) < madeWithin && ctx.Err() == nil; time.Sleep(madeWithin / 100) {
		if _, err := os.Lstat(care.IgnoreFile(dir)); err == nil {
			return
		}
	}
}

// MakeRepo makes an empty repository, with its author in its configuration unless the user's says who that is.
func MakeRepo(ctx context.Context, c *line.Line, dir, branch string) error {
	c.Global.Repo = dir
	path := filepath.Join(dir, core.DirName)
	author, write, err := FirstAuthor(c)
	if err != nil {
		return err
	}
	c.Global.Author = author
	by, err := c.Stamp()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("init: %w", err)
	}
	opt, err := reach.Options(c)
	if err != nil {
		return err
	}
	opt.Branch = branch
	r, err := care.Init(ctx, dir, by, opt)
	if errors.Is(err, fs.ErrExist) {
		err = RepoExists(err, path) // another process has just made it
	}
	if err != nil {
		return err
	}
	if write { // before others can open it
		err = setAuthor(ctx, c, path)
	}
	return errors.Join(err, r.Close(), care.IgnoreInGit(dir))
}

func setAuthor(ctx context.Context, c *line.Line, path string) error {
	return settings.Edit(ctx, filepath.Join(path, settings.File),
		func(list []settings.Setting) ([]settings.Setting, error) {
			return settings.With(list, "author", c.Global.Author), nil
		})
}

// FirstAuthor returns the author of a new repository, and whether its configuration must say so.
func FirstAuthor(c *line.Line) (author string, write bool, err error) {
	user, err := settings.Read(c.UserConfig())
	if err != nil {
		return "", false, err
	}
	author, _ = settings.Find(user, "author")
	given := line.FirstOf(c.Global.Author, c.By.Author)
	if author != "" && (given == "" || given == author) {
		return author, false, nil
	}
	author = line.FirstOf(given, c.App.User)
	if author == "" {
		return "", false, line.Hint(fmt.Errorf("%w: the system names no user", state.ErrInvalid), "give --author NAME")
	}
	key, err := settings.KeyOf("author")
	if err == nil {
		err = key.Check(author)
	}
	return author, true, err
}

// RepoExists adds to an error that there is a repository already what to do.
func RepoExists(err error, path string) error {
	return line.Hint(line.Already(err, "repository %s", path), "use it: 'mnem status' shows what is in it")
}

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
	text := "empty repository in " + shown
	if joined {
		text = path + " is a client of " + shown
	}
	return c.Say(initJSON{shown, branch, c.Global.Author}, "%s, author %s\n", line.OneLine(text), line.OneLine(c.Global.Author))
}

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
