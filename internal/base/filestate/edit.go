package filestate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	lockSuffix = ".mnem-lock"
	newSuffix  = ".mnem-new"
	// Interval and number of attempts to take a held lock: 10 s in total, while an edit takes milliseconds.
	lockPause = 5 * time.Millisecond
	lockTries = 2000
	// editTries is how often an edit is repeated because another program changed the file.
	editTries = 10
)

var (
	// ErrLocked is returned when other processes held the lock of a path for the whole time.
	ErrLocked = errors.New("locked by another process")
	// ErrMoved is returned when a program that does not use the lock kept changing the file.
	ErrMoved = errors.New("another program keeps changing the file")
)

// EditOptions configure Edit.
type EditOptions struct {
	// Limit is the file's largest size in bytes; Edit reads only up to it.
	Limit int64
	// KeepMode keeps the mode of an existing file: it belongs to another program. Otherwise it becomes 0600.
	KeepMode bool
	// NewMode is the mode of a new file, 0 for 0600.
	NewMode fs.FileMode
	// Before, if not nil, is called with the path of the file, links followed, and its bytes and mode before it is
	// replaced or removed. Its error ends the edit.
	Before func(path string, old []byte, mode fs.FileMode) error
}

// Edit replaces the bytes of a file by the result of change. Nil stands for no file, both ways; equal bytes mean no
// change, and nothing is written. A missing directory is made with mode 0700 if there is something to write. No
// other Edit of the file runs concurrently.
//
// Change is called at least once, each time with the current bytes; the last call counts. It must not keep or
// modify the slice. After an error, its own or any other, the file is unchanged. The error wraps ErrUnfit,
// ErrLocked or ErrMoved.
func Edit(ctx context.Context, path string, opt EditOptions, change func(old []byte) ([]byte, error)) error {
	path, err := target(path)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		if next, err := change(nil); err != nil || next == nil {
			return err
		}
		if err := os.MkdirAll(dir, dirMode); err != nil {
			return err
		}
	}
	unlock, err := Lock(ctx, path)
	if err != nil {
		return err
	}
	err = edit(path, opt, change)
	if unlockErr := unlock(); err == nil {
		err = unlockErr
	}
	return err
}

// edit is Edit, under the lock.
func edit(path string, opt EditOptions, change func([]byte) ([]byte, error)) error {
	for range editTries {
		old, mode, err := read(path, opt.Limit)
		if err != nil {
			return err
		}
		next, err := change(old)
		if err != nil {
			return err
		}
		if same(old, next) {
			return nil
		}
		done, err := swap(path, opt, old, next, mode)
		if done || err != nil {
			return err
		}
	}
	return fmt.Errorf("%s: %w", path, ErrMoved)
}

func same(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

// swap replaces old by next, and returns false if the file is no longer old.
func swap(path string, opt EditOptions, old, next []byte, mode fs.FileMode) (bool, error) {
	if old == nil && opt.NewMode != 0 {
		mode = opt.NewMode
	} else if !opt.KeepMode {
		mode = fileMode
	}
	dir := filepath.Dir(path)
	temp := filepath.Join(dir, "."+filepath.Base(path)+newSuffix)
	// A crash may have left one: it may be removed, since the lock is held.
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if next != nil {
		f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
		if err != nil {
			return false, err
		}
		if mode != fileMode {
			err = os.Chmod(temp, mode) // the umask is not asked about a mode that is there
		}
		if err != nil {
			return false, errors.Join(err, f.Close(), os.Remove(temp))
		}
		if err := finish(f, writeAll(next)); err != nil {
			return false, errors.Join(err, os.Remove(temp))
		}
	}
	var err error
	if opt.Before != nil {
		err = opt.Before(path, old, mode)
	}
	moved := false
	if err == nil {
		var now []byte
		now, _, err = read(path, opt.Limit)
		moved = err == nil && !same(now, old)
	}
	switch {
	case err != nil || moved:
	case next == nil:
		return true, Remove(path)
	default:
		if err = rename(temp, path); err == nil {
			return true, syncDir(dir)
		}
	}
	if next != nil {
		err = errors.Join(err, os.Remove(temp))
	}
	return false, err
}

// Lock takes the lock of a path, whose directory must exist, and returns a function that releases it. It waits while
// another process, or another caller in this one, holds it, and returns an error wrapping ErrLocked after 10 s.
func Lock(ctx context.Context, path string) (unlock func() error, err error) {
	return lockWithin(ctx, path, lockTries)
}

func lockWithin(ctx context.Context, path string, tries int) (func() error, error) {
	path += lockSuffix
	for try := 0; ; try++ {
		unlock, err := tryLock(path)
		if unlock != nil || err != nil && !errors.Is(err, errTaken) {
			return unlock, err
		}
		if try == tries {
			return nil, fmt.Errorf("%w: %s has been taken for too long", ErrLocked, path)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lockPause):
		}
	}
}

// errTaken is returned by tryLock if the lock is held.
var errTaken = errors.New("taken")
