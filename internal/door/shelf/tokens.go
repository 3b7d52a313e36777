package shelf

import (
	"bytes"
	"context"
	"crypto/sha256"
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
	"time"

	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/door/serve"
	"github.com/mnem-project/mnem/internal/keyring"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

const (
	// tokenDirName holds a file for each token, named after its id: so one is looked up without reading the others.
	tokenDirName = "tokens"
	tokenSuffix  = ".json"
	maxTokenFile = 4 << 10 // bytes
	maxTokens    = 1000
)

// Tokens keep the tokens of a repository.
type Tokens interface {
	serve.Grants
	Close() // ends the use of them
}

type tokenDir string

func (d tokenDir) path(id string) string { return filepath.Join(string(d), id+tokenSuffix) }

// Add keeps a token. Its name must be new: the lock keeps another of the name from being made at the same time.
func (d tokenDir) Add(ctx context.Context, t *serve.Token) (err error) {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return err
	}
	unlock, err := filestate.Lock(ctx, string(d))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := checkNew(d, t.Name); err != nil {
		return err
	}
	data, err := encode(t)
	if err != nil {
		return err
	}
	return filestate.Create(d.path(t.ID), append(data, '\n')) // with mode 0600
}

// Get returns a token by its id, nil for none.
func (d tokenDir) Get(id string) (*serve.Token, error) {
	if !serve.ValidTokenID(id) {
		return nil, nil
	}
	f, err := regular.Open(d.path(id))
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
		return nil, verb.Hintf(fmt.Errorf("%w: %s is not the file of a token", store.ErrCorrupt, f.Name()),
			"remove it, and make another token with 'mnem serve token new'")
	}
	return t, nil
}

// sealed is a token as it is kept: with a sum of all else, since a damaged scope or hash is JSON too.
type sealed struct {
	serve.Token
	Sum string `json:"sum"` // the SHA-256 of the same line with an empty sum, in hex
}

func encode(t *serve.Token) ([]byte, error) {
	kept := sealed{Token: *t}
	for range 2 { // the sum covers the first line
		var b bytes.Buffer
		if err := verb.WriteJSON(&b, &kept); err != nil {
			return nil, err
		}
		if kept.Sum != "" {
			return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
		}
		kept.Sum = fmt.Sprintf("%x", sha256.Sum256(b.Bytes()))
	}
	panic("unreachable")
}

// readToken reads what encode wrote, and refuses every other byte.
func readToken(data []byte) (*serve.Token, error) {
	var kept sealed
	if len(data) > maxTokenFile {
		return nil, errors.New("a token of too many bytes")
	}
	if err := json.Unmarshal(data, &kept); err != nil {
		return nil, err
	}
	line, err := encode(&kept.Token)
	if err == nil && !bytes.Equal(line, bytes.TrimSuffix(data, []byte("\n"))) {
		err = errors.New("a token that was changed or damaged")
	}
	return &kept.Token, err
}

// checkNew returns an error if there is no room for a token of a name.
func checkNew(d Tokens, name string) error {
	all, err := d.List()
	if err != nil {
		return err
	}
	if len(all) >= maxTokens {
		return verb.Hintf(fmt.Errorf("%w: there are %d tokens already", state.ErrInvalid, len(all)), "revoke some")
	}
	if slices.ContainsFunc(all, func(o serve.Token) bool { return o.Name == name }) {
		return taken(name)
	}
	return nil
}

func taken(name string) error {
	return verb.Hintf(branching.Already(fs.ErrExist, "token %q", name), "revoke it first, or give another name")
}

// List returns all tokens by name.
func (d tokenDir) List() ([]serve.Token, error) {
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
		t, err := d.Get(id)
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

// Named returns the token of a name or id.
func Named(d Tokens, name string) (*serve.Token, error) {
	all, err := d.List()
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Name == name || all[i].ID == name {
			return &all[i], nil
		}
	}
	return nil, verb.Hintf(&state.NotFoundError{What: "token", Name: name}, "'mnem serve token list' shows those there are")
}

func (d tokenDir) Replace(ctx context.Context, old, next *serve.Token) (ok bool, err error) {
	unlock, err := filestate.Lock(ctx, string(d))
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	is, err := d.Get(old.ID)
	if err != nil || is == nil || is.Hash != old.Hash {
		return false, err
	}
	data, err := encode(next)
	if err != nil {
		return false, err
	}
	err = filestate.Replace(d.path(next.ID), 0o600, func(w io.Writer) error {
		_, err := w.Write(append(data, '\n'))
		return err
	})
	return err == nil, err
}

func (d tokenDir) Remove(t *serve.Token) (err error) {
	unlock, err := filestate.Lock(context.Background(), string(d)) // or Replace would bring it back
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	err = filestate.Remove(d.path(t.ID))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // somebody else did
	}
	return err
}

func (d tokenDir) Close() {}

// askTime bounds how long a server waits for what it asks of a database in addition to a request's own work.
const askTime = 10 * time.Second

type tokenTable struct {
	in   *core.Database
	name string // of the repository
	end  func()
}

func (d *tokenTable) Close() { d.end() }

func (d *tokenTable) Add(ctx context.Context, t *serve.Token) error {
	if err := checkNew(d, t.Name); err != nil {
		return err
	}
	data, err := encode(t)
	if err == nil {
		err = d.in.AddToken(ctx, d.name, t.ID, t.Name, data)
	}
	if errors.Is(err, fs.ErrExist) { // made by another
		err = taken(t.Name)
	}
	return err
}

func (d *tokenTable) Get(id string) (*serve.Token, error) {
	if !serve.ValidTokenID(id) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	data, err := d.in.Token(ctx, d.name, id)
	if err != nil || data == nil {
		return nil, away(err)
	}
	t, err := readToken(data)
	if err != nil || t.ID != id {
		return nil, fmt.Errorf("%w: what the database has of token %s", store.ErrCorrupt, id)
	}
	return t, nil
}

// away is the error of a database that does not answer for those who ask a server.
func away(err error) error {
	if errors.Is(err, store.ErrBusy) || errors.Is(err, context.DeadlineExceeded) {
		return &operation.Error{Outcome: operation.Busy, Message: err.Error()}
	}
	return err
}

func (d *tokenTable) List() ([]serve.Token, error) {
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	list, err := d.in.Tokens(ctx, d.name)
	if err != nil {
		return nil, err
	}
	var all []serve.Token
	for _, data := range list {
		t, err := readToken(data)
		if err != nil {
			return nil, fmt.Errorf("%w: what the database has of a token", store.ErrCorrupt)
		}
		all = append(all, *t)
	}
	return all, nil
}

func (d *tokenTable) Replace(ctx context.Context, old, next *serve.Token) (bool, error) {
	was, err := encode(old)
	if err != nil {
		return false, err
	}
	data, err := encode(next)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	return d.in.ReplaceToken(ctx, d.name, old.ID, was, data)
}

func (d *tokenTable) Remove(t *serve.Token) error {
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	return d.in.RemoveToken(ctx, d.name, t.ID)
}
