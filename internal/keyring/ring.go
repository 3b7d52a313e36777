// Package keyring stores the keys that sign commits, and the list of trusted keys, in a directory of the user:
// never in a repository, which others may see.
//
//	NAME           one secret, readable by its owner alone
//	trusted.json   the trust list
//
// # Key files
//
// A key file is these three lines, each ended by LF, and nothing else. It has no passphrase: anyone who can read it
// can sign. So it is created with mode 0600 and refused if others can read it. On Windows the directory's access list
// protects it instead.
//
//	mnem key 1
//	public mnem-ed25519-…           text form of the key, which must be that of the secret
//	secret mnem-ed25519-secret-…    text form of the secret
//
// A file is created atomically and never replaces another. Names are 1 to 64 of a to z, 0 to 9, - and _, beginning
// with a letter or digit, so that they mean the same on every file system.
//
// # Trust list
//
// A JSON object of at most 4 MiB with v, 1, and keys, a list of at most 5,000 objects in the order of their key:
//
//	key      string   text form
//	name?    string   of the owner, 1..255 bytes, no control characters
//	note?    string   likewise
//	added    string   RFC 3339 time
//	purge?   bool     true to accept redactions that it signed without asking
//	trusted  bool     false only for a key that is listed because it was revoked
//	revoked? object   at: RFC 3339 time; since?: likewise; reason?: as name
//
// A revoked key without since is not trusted on any commit; with since, not on commits that claim that time or
// later. A commit's time is its signer's claim, so since is for retired keys, not for stolen ones.
//
// The list is replaced as a whole, under a lock file next to it, so that concurrent changes are all applied. It is
// refused if others could write it.
package keyring

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/base/regular"
)

const (
	dirMode  = 0o700
	fileMode = 0o600
	// Bits of a mode that let others read or write.
	othersAny   fs.FileMode = 0o077
	othersWrite fs.FileMode = 0o022
)

// ErrExposed is returned when others can read a secret, or could change the trust list.
var ErrExposed = errors.New("open to others")

// Ring is a directory of keys. It caches nothing and is safe for concurrent use.
type Ring struct{ dir string }

// New returns the ring in a directory, which need not exist yet.
func New(dir string) *Ring { return &Ring{dir} }

// Dir returns the ring's directory.
func (r *Ring) Dir() string { return r.dir }

// Add stores a secret under a name. It returns an error wrapping fs.ErrExist if the name is taken, by any key.
func (r *Ring) Add(name string, s commit.Secret) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if err := r.prepare(); err != nil {
		return fmt.Errorf("key %s: %w", name, err)
	}
	err := filestate.Create(filepath.Join(r.dir, name), FormatKeyFile(s))
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("key %s: %w", name, fs.ErrExist)
	}
	if err != nil {
		return fmt.Errorf("key %s: %w", name, err)
	}
	return nil
}

// Secret returns the secret with a name. It returns an error wrapping fs.ErrNotExist if there is none, ErrExposed
// if others can read it, and graph.ErrInvalid if it is no key file.
func (r *Ring) Secret(name string) (commit.Secret, error) {
	if err := CheckName(name); err != nil {
		return commit.Secret{}, err
	}
	data, err := r.read(name, MaxKeyFile, othersAny)
	if err != nil {
		return commit.Secret{}, fmt.Errorf("key %s: %w", name, err)
	}
	s, err := ParseKeyFile(data)
	if err != nil {
		return commit.Secret{}, fmt.Errorf("key %s: %w", name, err)
	}
	return s, nil
}

// Names returns the names of the keys, sorted. It ignores other files in the directory.
func (r *Ring) Names() ([]string, error) {
	entries, err := os.ReadDir(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	var names []string
	for _, e := range entries {
		if CheckName(e.Name()) == nil && !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// Remove deletes a key file. The bytes may stay on the medium and in copies of it.
func (r *Ring) Remove(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if err := filestate.Remove(filepath.Join(r.dir, name)); err != nil {
		return fmt.Errorf("key %s: %w", name, err)
	}
	return nil
}

// prepare makes the directory, and refuses one that others can write.
func (r *Ring) prepare() error {
	if err := os.MkdirAll(r.dir, dirMode); err != nil {
		return err
	}
	return r.checkDir()
}

func (r *Ring) checkDir() error {
	info, err := os.Stat(r.dir)
	if err != nil {
		return err
	}
	return checkMode(r.dir, info, othersWrite, dirMode)
}

// read returns the content of a file of the ring, at most limit bytes and one more, and refuses one whose mode has
// any of the bits.
func (r *Ring) read(name string, limit int64, bits fs.FileMode) ([]byte, error) {
	path := filepath.Join(r.dir, name)
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	err = r.checkDir()
	if err == nil {
		var info fs.FileInfo
		if info, err = f.Stat(); err == nil {
			err = checkMode(path, info, bits, fileMode)
		}
	}
	var data []byte
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(f, limit+1))
	}
	return data, errors.Join(err, f.Close())
}

// checkMode refuses a file or directory whose mode has any of the bits. Windows has no such bits: there the access
// lists of the directory decide.
func checkMode(path string, info fs.FileInfo, bits, want fs.FileMode) error {
	if runtime.GOOS == "windows" || info.Mode().Perm()&bits == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s has mode %#o: run 'chmod %o %s'", ErrExposed, path, info.Mode().Perm(), want, path)
}

// Known is a key of the user's, a key in the trust list, or both.
type Known struct {
	Name   string // of the user's own key, otherwise from the trust list
	Key    commit.Key
	Secret bool       // whether the user can sign with it
	Entry  TrustedKey // zero if the trust list does not have it
}

// The trust in a key.
const (
	Trusted   = "trusted"
	Revoked   = "revoked"
	Untrusted = "untrusted"
)

// Trust returns the trust in the key.
func (k Known) Trust() string {
	switch {
	case k.Entry.Revoked != nil:
		return Revoked
	case k.Entry.Trusted:
		return Trusted
	}
	return Untrusted
}

// Known returns all keys, the user's own first, by name and then key.
func (r *Ring) Known() ([]Known, error) {
	list, err := r.Trusted()
	if err != nil {
		return nil, err
	}
	names, err := r.Names()
	if err != nil {
		return nil, err
	}
	var known []Known
	own := make(map[commit.Key]bool)
	for _, name := range names {
		secret, err := r.Secret(name)
		if err != nil {
			return nil, err
		}
		entry, _ := list.Find(secret.Key())
		own[secret.Key()] = true
		known = append(known, Known{name, secret.Key(), true, entry})
	}
	for _, e := range list.Entries() {
		if !own[e.Key] {
			known = append(known, Known{e.Name, e.Key, false, e})
		}
	}
	slices.SortStableFunc(known, func(a, b Known) int {
		if a.Secret != b.Secret {
			return map[bool]int{true: -1, false: 1}[a.Secret]
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return known, nil
}

// Named returns the keys that a name or a text form matches, each once; for a text form that key, even if it is
// unknown.
func (r *Ring) Named(name string) (found []Known, err error) {
	known, err := r.Known()
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(name, commit.KeyPrefix) {
		key, err := commit.ParseKey(name)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(known, func(k Known) bool { return k.Key == key }); i >= 0 {
			return known[i : i+1], nil
		}
		return []Known{{Key: key}}, nil
	}
	for _, k := range known {
		if k.Name == name && !slices.ContainsFunc(found, func(o Known) bool { return o.Key == k.Key }) {
			found = append(found, k)
		}
	}
	return found, nil
}

// Keep stores a secret under an unused name, and trusts its key, unless it was revoked. It returns an error
// wrapping fs.ErrExist if the name is taken.
func (r *Ring) Keep(ctx context.Context, name string, secret commit.Secret, now graph.Time) error {
	if err := r.Add(name, secret); err != nil {
		return err
	}
	return r.EditTrust(ctx, func(l *TrustList) error {
		if e, ok := l.Find(secret.Key()); ok && e.Revoked != nil {
			return nil
		}
		return l.Add(secret.Key(), name, "", now)
	})
}

const (
	keyFileHead  = "mnem key 1\n"
	publicPrefix = "public "
	secretPrefix = "secret "
	// MaxKeyFile bounds a key file in bytes; a valid one has 175.
	MaxKeyFile = 1 << 10
	// MaxName is the longest name of a key in bytes.
	MaxName = 64
)

// FormatKeyFile returns the key file of a secret.
func FormatKeyFile(s commit.Secret) []byte {
	return fmt.Appendf(nil, "%s%s%s\n%s%s\n", keyFileHead, publicPrefix, s.Key(), secretPrefix, s.Reveal())
}

// ParseKeyFile parses a key file. It returns a *graph.FieldError, which shows nothing of the input, for everything
// that FormatKeyFile cannot have written.
func ParseKeyFile(data []byte) (commit.Secret, error) {
	if len(data) > MaxKeyFile {
		return commit.Secret{}, graph.Fieldf("key file", "has more than %d bytes", MaxKeyFile)
	}
	rest, ok := strings.CutPrefix(string(data), keyFileHead)
	if !ok {
		return commit.Secret{}, graph.Fieldf("key file", "does not begin with the line %q",
			strings.TrimSuffix(keyFileHead, "\n"))
	}
	lines := strings.SplitAfter(rest, "\n")
	if len(lines) != 3 || lines[2] != "" {
		return commit.Secret{}, graph.Fieldf("key file", "has not exactly three lines")
	}
	key, err := parseLine(lines[0], publicPrefix, commit.ParseKey)
	if err != nil {
		return commit.Secret{}, err
	}
	secret, err := parseLine(lines[1], secretPrefix, commit.ParseSecret)
	if err != nil {
		return commit.Secret{}, err
	}
	if secret.Key() != key {
		return commit.Secret{}, graph.Fieldf("key file", "holds a secret of another key")
	}
	return secret, nil
}

func parseLine[T any](line, prefix string, parse func(string) (T, error)) (T, error) {
	text, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), prefix)
	if !ok {
		var none T
		return none, graph.Fieldf("key file", "a line does not begin with %q", prefix)
	}
	return parse(text)
}

// CheckName returns a *graph.FieldError unless name may be the name of a key.
func CheckName(name string) error {
	if name == "" || len(name) > MaxName {
		return graph.Fieldf("key name", "%d bytes, want 1 to %d", len(name), MaxName)
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		word := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if !word && (i == 0 || c != '-' && c != '_') {
			return graph.Fieldf("key name", "%q: want a to z, 0 to 9, - and _, a letter or digit first", name)
		}
	}
	if isDevice(name) {
		return graph.Fieldf("key name", "%q is a device on some systems", name)
	}
	return nil
}

// isDevice reports whether Windows treats a file name as a device.
func isDevice(name string) bool {
	port := len(name) == 4 && (strings.HasPrefix(name, "com") || strings.HasPrefix(name, "lpt"))
	return port && name[3] >= '0' && name[3] <= '9' || slices.Contains([]string{"aux", "con", "nul", "prn"}, name)
}
