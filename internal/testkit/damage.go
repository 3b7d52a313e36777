package testkit

import (
	"errors"
	"fmt"
	"io"
	iofs "io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// ReadFile returns the bytes of a file.
func ReadFile(fs vfs.FS, name string) ([]byte, error) {
	f, err := fs.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	b, err := io.ReadAll(f)
	return b, errors.Join(err, f.Close())
}

// WriteFile makes a file of the bytes, or replaces one, and syncs it.
func WriteFile(fs vfs.FS, name string, b []byte) error {
	f, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Sync(), f.Close())
}

// Files returns the files in a directory and below it, in any order. It skips files that are removed while it reads.
func Files(fs vfs.FS, dir string) ([]string, error) {
	names, err := fs.List(dir)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", dir, err)
	}
	var out []string
	for _, name := range names {
		path := fs.PathJoin(dir, name)
		info, err := fs.Stat(path)
		if errors.Is(err, iofs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", dir, err)
		}
		if !info.IsDir() {
			out = append(out, path)
			continue
		}
		below, err := Files(fs, path)
		if err != nil {
			return nil, err
		}
		out = append(out, below...)
	}
	return out, nil
}
