//go:build !windows

package filestate

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// tryLock takes the lock whose file is path, or returns errTaken.
func tryLock(path string) (func() error, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, fileMode)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		err = stillThere(f, path)
	}
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK), errors.Is(err, syscall.EINTR):
		err = errTaken
	case err == nil:
		// The name goes before the lock: a process that has the old file open notices that it is gone.
		return func() error { return errors.Join(os.Remove(path), f.Close()) }, nil
	case !errors.Is(err, errTaken):
		err = &fs.PathError{Op: "lock", Path: path, Err: err}
	}
	return nil, errors.Join(err, f.Close())
}

// stillThere returns errTaken if path is no longer this file: the previous holder removed it.
func stillThere(f *os.File, path string) error {
	mine, err := f.Stat()
	if err != nil {
		return err
	}
	named, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(mine, named) {
		return errTaken
	}
	return err
}

func rename(from, to string) error { return os.Rename(from, to) }

// syncDir makes names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
