package pebble

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/internal/block/store"
)

const (
	// dirMode and fileMode are the modes of all files of a store, whatever the umask: an agent's memory is private
	// to its user.
	dirMode  = 0o700
	fileMode = 0o600
	lockName = "LOCK"
)

// disk is the operating system's file system as a store uses it: files and directories are private to their user,
// and a store that cannot be written is locked with a shared read lock.
type disk struct {
	vfs.FS        // vfs.Default
	readOnly bool // use a read lock if the lock file cannot be written
}

// Create creates or replaces a file. Pebble's file system would make it readable by all, subject to the umask, and
// would keep the mode of an existing file.
func (d *disk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	const flags = os.O_RDWR | os.O_CREATE | os.O_EXCL
	for {
		f, err := os.OpenFile(name, flags, fileMode)
		if err == nil {
			if err = f.Close(); err != nil {
				return nil, err
			}
			return d.FS.OpenReadWrite(name, c)
		}
		if !errors.Is(err, iofs.ErrExist) {
			return nil, err
		}
		if err := os.Remove(name); err != nil && !errors.Is(err, iofs.ErrNotExist) {
			return nil, err
		}
	}
}

// OpenReadWrite opens a file, creating it if it does not exist.
func (d *disk) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	return d.FS.OpenReadWrite(name, c, opts...)
}

// MkdirAll makes a directory and its parents, private to their user.
func (d *disk) MkdirAll(dir string, perm os.FileMode) error {
	return d.FS.MkdirAll(dir, perm&dirMode)
}

func (d *disk) Unwrap() vfs.FS { return d.FS }

// unwritable reports whether a file cannot be opened for writing but perhaps for reading.
func unwritable(err error) bool {
	return errors.Is(err, iofs.ErrPermission) || errors.Is(err, errReadOnlyDisk)
}

// Taken reports whether a process, this one included, has the store in dir open. It takes no lock and does not
// wait. A store that does not exist is not open.
func Taken(dir string) (bool, error) {
	dir, err := realPath(dir)
	if errors.Is(err, iofs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return lockTaken(filepath.Join(dir, dbName, lockName))
}

// scratchPrefix begins the names of temporary files.
const scratchPrefix = "scratch-"

type scratch struct {
	vfs.File
	fs   vfs.FS
	name string
}

// Scratch makes a file next to the database.
func (s *Store) Scratch(ctx context.Context) (store.Scratch, error) {
	if err := s.enterWrite(ctx); err != nil {
		return nil, err
	}
	defer s.exit()
	if err := s.room(ctx, 0); err != nil {
		return nil, fmt.Errorf("make scratch file: %w", err)
	}
	name := s.fs.PathJoin(s.dir, fmt.Sprint(scratchPrefix, s.scratches.Add(1)))
	f, err := s.fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, fmt.Errorf("make scratch file: %w", err)
	}
	return &scratch{f, s.fs, name}, nil
}

func (f *scratch) Close() error { return errors.Join(f.File.Close(), f.fs.Remove(f.name)) }

// removeScratch removes files that a process left when it ended before closing them.
func (s *Store) removeScratch() error {
	names, err := s.fs.List(s.dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, scratchPrefix) {
			if err := removeIfThere(s.fs, s.fs.PathJoin(s.dir, name)); err != nil {
				return fmt.Errorf("remove scratch file: %w", err)
			}
		}
	}
	return nil
}
