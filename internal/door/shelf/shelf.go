// Package shelf is where the repositories are that a server answers for, in a directory or a database: what each is called,
// the access tokens that it knows, and how much it has. It opens none of them.
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
	"sync"
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

// Shelf is where the repositories are that one server answers for.
type Shelf interface {
	// Find returns the directory of the repository of a name on this machine, "" if there is none.
	Find(name string) (dir string, err error)
	// One returns what a server needs of the repository of a name, which Find has found.
	One(name, dir string) *One
	// Counts is whether the usage of each has blocks and commits.
	Counts() bool
	// Ready returns an error if no repository can be found now.
	Ready() error
	// Shown returns its place, for people.
	Shown() string
	Close()
}

// In returns the shelf of the repositories under a directory.
func In(root string, now func() time.Time) Shelf { return &directory{root, now} }

// InDatabase returns the shelf of the repositories in a database, which it closes. client returns the directory that this
// machine has for one of them.
func InDatabase(
	in *core.Database, shown string, client func(url string) (dir string, err error), now func() time.Time,
) Shelf {
	return &database{in: in, at: shown, client: client, now: now}
}

// One holds what a server needs of one repository.
type One struct {
	Tokens Tokens
	Usage  serve.Usages
	Counts bool // whether Usage knows blocks and commits
}

// Of returns what a server needs of the repository in a directory. One in a database has its tokens there, so that each
// server of it knows them. Tokens must be closed.
func Of(dir string, now func() time.Time) (*One, error) {
	at, err := core.LinkedDatabase(dir)
	if err != nil {
		return nil, err
	}
	if at == "" {
		return In("", now).One("", dir), nil
	}
	d, name, err := core.OpenDatabase(at)
	if err != nil {
		return nil, err
	}
	return &One{&tokenTable{d, name, d.Close}, usageOf(d, name), true}, nil
}

type directory struct {
	root string
	now  func() time.Time
}

func (d *directory) Counts() bool  { return false }
func (d *directory) Ready() error  { return nil }
func (d *directory) Shown() string { return d.root }
func (d *directory) Close()        {}

// Find returns the directory of a repository, in which no link leads elsewhere.
func (d *directory) Find(name string) (string, error) {
	local := filepath.FromSlash(name)
	if !filepath.IsLocal(local) {
		return "", nil
	}
	root, err := regular.OpenDir(d.root)
	if err != nil {
		return "", nil
	}
	defer func() { _ = root.Close() }() // it was read
	info, err := root.Stat(filepath.Join(local, core.DirName))
	if err != nil || !info.IsDir() {
		return "", nil
	}
	return filepath.Join(d.root, local), nil
}

func (d *directory) One(_, dir string) *One {
	path := filepath.Join(dir, core.DirName)
	return &One{tokenDir(filepath.Join(path, tokenDirName)), sizeOf(path, d.now), false}
}

// sizeOf tells how many bytes the files under a directory have. It asks the system now and then.
func sizeOf(path string, clock func() time.Time) serve.Usages {
	var mu sync.Mutex
	var bytes int64
	var at time.Time
	return func(fresh bool) (serve.Usage, error) {
		mu.Lock()
		defer mu.Unlock()
		if now := clock(); fresh || at.IsZero() || now.Sub(at) > quotaAge || now.Before(at) {
			bytes, at = 0, now
			_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() {
					if info, err := d.Info(); err == nil { // what is gone by now has none
						bytes += info.Size()
					}
				}
				return nil
			})
		}
		return serve.Usage{Blocks: -1, Bytes: bytes, Commits: -1}, nil
	}
}

const (
	// quotaAge is for how long it is believed how many bytes a repository has.
	quotaAge = 5 * time.Second
	// readyAge is for how long a server believes that its database answers, or does not.
	readyAge  = time.Second
	readyTime = 3 * time.Second
)

type database struct {
	in     *core.Database
	at     string // without a password
	client func(url string) (dir string, err error)
	now    func() time.Time

	mu     sync.Mutex
	asked  time.Time // when it was asked last whether it answers
	answer error
}

func (d *database) Counts() bool  { return true }
func (d *database) Shown() string { return d.at }
func (d *database) Close()        { d.in.Close() }

func (d *database) Ready() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now := d.now(); d.asked.IsZero() || now.Sub(d.asked) > readyAge || now.Before(d.asked) {
		ctx, cancel := context.WithTimeout(context.Background(), readyTime)
		defer cancel()
		d.answer, d.asked = d.in.Ready(ctx, 0), d.now() // which may be much later
	}
	return d.answer
}

// Find returns the directory that this machine has for a repository.
func (d *database) Find(name string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	if has, err := d.in.Has(ctx, name); err != nil || !has {
		return "", err
	}
	return d.client(d.in.URL(name))
}

// One implements Shelf. Its tokens end with the connection of the server.
func (d *database) One(name, _ string) *One {
	return &One{&tokenTable{d.in, name, func() {}}, d.usage(name), true}
}

// usage asks a database that does not answer once for all repositories, unless the answer must be fresh.
func (d *database) usage(name string) serve.Usages {
	of := usageOf(d.in, name)
	return func(fresh bool) (serve.Usage, error) {
		if !fresh {
			if err := d.Ready(); err != nil {
				return serve.Usage{}, away(err)
			}
		}
		return of(fresh)
	}
}

func usageOf(in *core.Database, name string) serve.Usages {
	return func(bool) (serve.Usage, error) {
		ctx, cancel := context.WithTimeout(context.Background(), askTime)
		defer cancel()
		u, err := in.Usage(ctx, name)
		return serve.Usage(u), away(err)
	}
}

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
