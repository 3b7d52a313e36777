package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/filestate"
	"github.com/mnem-project/mnem/internal/keyring"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/serve"
)

const (
	// tokenDirName holds a file for each token, named after its id: so one is looked up without
	// reading the others.
	tokenDirName = "tokens"
	tokenSuffix  = ".json"
	maxTokenFile = 4 << 10 // bytes
	maxTokens    = 1000
)

// tokenKeeper keeps the tokens of a repository.
type tokenKeeper interface {
	// add keeps a token, whose name must be new.
	add(ctx context.Context, t *serve.Token) error
	// get returns a token by its id, nil for none.
	get(id string) (*serve.Token, error)
	// list returns all tokens by name.
	list() ([]serve.Token, error)
	remove(t *serve.Token) error
	// close ends the use of it.
	close()
}

// tokens returns what keeps the tokens of the repository that the command is about: a repository in a database has
// them there, so that each server of it knows them.
func (c *cli) tokens() (tokenKeeper, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	at, err := repo.LinkedDatabase(dir)
	if err != nil {
		return nil, err
	}
	if at != "" {
		d, name, err := repo.OpenDatabase(at)
		return &tokenTable{d, name, d.Close}, err
	}
	path, err := c.repoFile(tokenDirName)
	return tokenDir(path), err
}

// tokensFor has a server ask for the tokens of the repository that the command is about, until what it returns is
// closed.
func (c *cli) tokensFor(cfg *serve.Config) (tokenKeeper, error) {
	tokens, err := c.tokens()
	if err == nil {
		cfg.Token = tokens.get
	}
	return tokens, err
}

// tokenDir is the directory with the tokens of a repository.
type tokenDir string

func (d tokenDir) path(id string) string { return filepath.Join(string(d), id+tokenSuffix) }

// add keeps a token. Its name must be new: the lock keeps another of the name from being made
// meanwhile.
func (d tokenDir) add(ctx context.Context, t *serve.Token) (err error) {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return err
	}
	unlock, err := filestate.Lock(ctx, string(d))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := checkNewToken(d, t.Name); err != nil {
		return err
	}
	data, err := encodeJSON(t)
	if err != nil {
		return err
	}
	return filestate.Create(d.path(t.ID), append(data, '\n')) // with mode 0600
}

// get returns a token by its id, nil for none.
func (d tokenDir) get(id string) (*serve.Token, error) {
	if !serve.ValidTokenID(id) {
		return nil, nil
	}
	f, err := os.Open(d.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read from
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%w: %s has mode %#o: run 'chmod 600 %s'", keyring.ErrExposed, f.Name(),
			info.Mode().Perm(), f.Name())
	}
	data, err := io.ReadAll(io.LimitReader(f, maxTokenFile+1))
	if err != nil {
		return nil, err
	}
	t, err := readToken(data)
	if err != nil || t.ID != id {
		return nil, fmt.Errorf("%s is not the file of a token", f.Name())
	}
	return t, nil
}

func readToken(data []byte) (*serve.Token, error) {
	var t serve.Token
	if len(data) > maxTokenFile {
		return nil, errors.New("a token of too many bytes")
	}
	return &t, json.Unmarshal(data, &t)
}

// checkNewToken returns an error where there is no room for a token of a name.
func checkNewToken(d tokenKeeper, name string) error {
	all, err := d.list()
	if err != nil {
		return err
	}
	if len(all) >= maxTokens {
		return hint(fmt.Errorf("%w: there are %d tokens already", repo.ErrInvalid, len(all)), "revoke some")
	}
	if slices.ContainsFunc(all, func(o serve.Token) bool { return o.Name == name }) {
		return takenToken(name)
	}
	return nil
}

func takenToken(name string) error {
	return hint(already(fs.ErrExist, "token %q", name), "revoke it first, or give another name")
}

// list returns all tokens by name.
func (d tokenDir) list() ([]serve.Token, error) {
	entries, err := os.ReadDir(string(d))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []serve.Token
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), tokenSuffix)
		if !ok {
			continue
		}
		t, err := d.get(id)
		if err != nil {
			return nil, err
		}
		if t != nil {
			all = append(all, *t)
		}
	}
	slices.SortFunc(all, func(a, b serve.Token) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// namedToken returns the token of a name or id.
func namedToken(d tokenKeeper, name string) (*serve.Token, error) {
	all, err := d.list()
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Name == name || all[i].ID == name {
			return &all[i], nil
		}
	}
	return nil, missingToken(name)
}

func (d tokenDir) remove(t *serve.Token) error {
	err := filestate.Remove(d.path(t.ID))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // somebody else did
	}
	return err
}

func (d tokenDir) close() {}
