package filestate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/mnem-project/mnem/internal/base/regular"
)

const (
	fileMode fs.FileMode = 0o600
	dirMode  fs.FileMode = 0o700
	// maxLinks is the largest number of symbolic links that a name may lead through, as on Linux.
	maxLinks = 40
	// maxTemps bounds the names tried for a new file: crashes leave some taken.
	maxTemps = 1000
)

// ErrUnfit is returned for a path that is not a regular file, or exceeds the limit.
var ErrUnfit = errors.New("not a file that can be read")

// Read returns the bytes of a regular file, not nil, or nil if it does not exist. The error wraps ErrUnfit if it
// has more than limit bytes or is not a regular file.
func Read(path string, limit int64) ([]byte, error) {
	data, _, err := read(path, limit)
	return data, err
}

func read(path string, limit int64) ([]byte, fs.FileMode, error) {
	f, err := regular.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fileMode, nil
	case errors.Is(err, regular.ErrKind):
		return nil, 0, fmt.Errorf("%w: %w", ErrUnfit, err)
	case err != nil:
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, 0, err
	}
	if int64(len(data)) > limit {
		return nil, 0, fmt.Errorf("%w: %s has more than %d bytes", ErrUnfit, path, limit)
	}
	if data == nil {
		data = []byte{}
	}
	return data, info.Mode().Perm(), nil
}

// target resolves symbolic links, whether or not the target exists.
func target(path string) (string, error) {
	for range maxLinks {
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil // no link
		}
		dir, base := filepath.Split(to)
		if !filepath.IsAbs(to) {
			// Not joined: that drops "x/..", which differs if x is a link.
			dir = filepath.Dir(path) + string(filepath.Separator) + dir
		}
		if dir, err = filepath.EvalSymlinks(dir); err != nil {
			return "", err
		}
		path = filepath.Join(dir, base)
	}
	return "", fmt.Errorf("%w: %s leads through more than %d links", ErrUnfit, path, maxLinks)
}

// Create atomically makes a file. It returns an error wrapping fs.ErrExist if the name is taken, even by a dangling
// link. The directory must exist.
func Create(path string, data []byte) error { return create(path, data, os.Link) }

func create(path string, data []byte, link func(from, to string) error) error {
	f, err := newTemp(path, fileMode)
	if err != nil {
		return err
	}
	err = finish(f, writeAll(data))
	if err == nil {
		err = link(f.Name(), path)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			err = createDirectly(path, data) // a file system without links
		}
	}
	if err = errors.Join(err, os.Remove(f.Name())); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// createDirectly makes a file that a crash may leave incomplete; readers must refuse such a file.
func createDirectly(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	if err := finish(f, writeAll(data)); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// Replace atomically writes a file; of concurrent calls the last wins. A replaced file keeps its mode, and a new
// one has the given one.
func Replace(path string, mode fs.FileMode, write func(io.Writer) error) error {
	path, err := target(path)
	if err != nil {
		return err
	}
	f, err := newTemp(path, fileMode)
	if err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := f.Chmod(mode); err != nil && runtime.GOOS != "windows" {
		return errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return install(f, path, write)
}

// install writes a new file and renames it to path. After an error it removes it.
func install(f *os.File, path string, write func(io.Writer) error) error {
	err := finish(f, write)
	if err == nil {
		err = rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncDir(filepath.Dir(path))
}

// Remove deletes a file. The error wraps fs.ErrNotExist if there is none.
func Remove(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// newTemp makes an empty file next to path, with an unused name.
func newTemp(path string, mode fs.FileMode) (*os.File, error) {
	dir, base := filepath.Dir(path), filepath.Base(path)
	for n := range maxTemps {
		name := filepath.Join(dir, fmt.Sprintf(".%s.mnem-%d", base, n))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
	return nil, fmt.Errorf("write %s: %d files like .%s.mnem-0 in its directory: remove those that no "+
		"process is writing", path, maxTemps, base)
}

func writeAll(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(data))
		return err
	}
}

// finish writes and syncs a file and closes it.
func finish(f *os.File, write func(io.Writer) error) error {
	err := write(f)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// RemoveAll durably deletes a file, or a directory with everything in it. It succeeds if there is none.
func RemoveAll(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}
