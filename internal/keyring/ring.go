package keyring

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/mnem-project/mnem/commit"
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
