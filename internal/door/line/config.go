package line

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/keyring"
	"github.com/mnem-project/mnem/internal/model/embed"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
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

// isServer reports whether the name of a repository is the URL of a server.
func isServer(path string) bool {
	return strings.HasPrefix(path, "http://") || strings.HasPrefix(path, "https://")
}

// ServerURL returns the URL of the server whose repository was named, "" for a directory.
func (c *Line) ServerURL() string {
	if path := FirstOf(c.Global.Repo, c.Env("MNEM_REPO")); !c.Global.User && !c.By.Remote && isServer(path) {
		return path
	}
	return ""
}

// ErrOnServer is returned by commands that need the files of a repository.
func ErrOnServer(at string) error {
	shown := "a server"
	if u, err := url.Parse(at); err == nil {
		shown = u.Host
	}
	return Hint(Usagef("%s is no directory: this command needs the files of a repository", OneLine(shown)),
		"verbs about the memory work there; others run on that machine, or in a clone")
}

// ErrRemote is verb.ErrRemote.
var ErrRemote = verb.ErrRemote

// MayName returns an error if a file or directory is named by a remote caller.
func (c *Line) MayName(path string) error {
	if !c.By.Remote || path == StdinName {
		return nil
	}
	return fmt.Errorf("%w: an argument names a file", ErrRemote)
}

// ErrRevoked is a refusal to sign with a key that counts for nothing.
var ErrRevoked = errors.New("the key is revoked")

// Signs reports whether commits are signed if no flag says so.
func (c *Line) Signs() (bool, error) {
	if c.By.NoSign {
		return false, nil
	}
	v, err := c.Configured("sign")
	return v == "true", err
}

// OwnKey returns the key that this caller signs with, and whether it signs. Callers of a server have no
// key of theirs here.
func (c *Line) OwnKey() (commit.Key, bool) {
	if c.By.Remote {
		return commit.Key{}, false
	}
	want := c.Global.Sign || c.Global.Key != ""
	if on, err := c.Signs(); !want && (err != nil || !on || c.Global.NoSign) {
		return commit.Key{}, false
	}
	ring, err := c.Ring()
	if err != nil {
		return commit.Key{}, false
	}
	name, err := c.SigningKey(ring)
	if err != nil {
		return commit.Key{}, false
	}
	secret, err := ring.Secret(name)
	return secret.Key(), err == nil
}

// SigningKey returns the name of the key to sign with.
func (c *Line) SigningKey(ring *keyring.Ring) (string, error) {
	if c.Global.Key != "" {
		return c.Global.Key, nil
	}
	name, err := c.Configured("key")
	if name != "" || err != nil {
		return name, err
	}
	names, err := ring.Names()
	switch {
	case err != nil:
		return "", err
	case len(names) == 0:
		return "", Hint(fmt.Errorf("%w: there is no key to sign with", store.ErrNotFound),
			"make one with 'mnem key new NAME'")
	case len(names) > 1:
		return "", Hint(fmt.Errorf("%w: there are %d keys to sign with", state.ErrInvalid, len(names)),
			"name one with --key, or with 'mnem config set key NAME'")
	}
	return names[0], nil
}

// Configured returns the value of a config key that applies unless a flag overrides it, "" for none.
func (c *Line) Configured(name string) (string, error) {
	key, err := settings.KeyOf(name)
	if err != nil {
		return "", err
	}
	got, err := c.lookUp(key, false)
	if got.Value == nil || err != nil {
		return "", err
	}
	if err := key.Check(*got.Value); err != nil {
		return "", fmt.Errorf("%s from the %s: %w", name, got.From, err)
	}
	return *got.Value, nil
}

// Ring returns the directory of the user's keys: MNEM_KEYS, or the default next to the user's configuration.
func (c *Line) Ring() (*keyring.Ring, error) {
	if dir := c.Env("MNEM_KEYS"); dir != "" {
		return keyring.New(c.Absolute(dir)), nil
	}
	config := c.UserConfig()
	if config == "" {
		return nil, Hint(fmt.Errorf("%w: the system names no directory for the user's keys",
			store.ErrNotFound), "name one with MNEM_KEYS")
	}
	return keyring.New(filepath.Join(filepath.Dir(config), "keys")), nil
}

// MissingKey tells a key that does not exist as such.
func MissingKey(err error, name string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &state.NotFoundError{What: "key", Name: name}
	}
	return err
}

// Trusted returns the user's trust list.
func (c *Line) Trusted() (*keyring.TrustList, error) {
	ring, err := c.Ring()
	if err != nil {
		return nil, err
	}
	return ring.Trusted()
}
