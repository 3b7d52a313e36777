package filestate

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

const (
	deleteOnClose = 0x04000000 // FILE_FLAG_DELETE_ON_CLOSE
	// ERROR_SHARING_VIOLATION: another process has the file open.
	sharingViolation = syscall.Errno(32)
	// ERROR_DELETE_PENDING: the file disappears when its last handle is closed.
	deletePending = syscall.Errno(303)

	// Interval and number of attempts to replace a file that a reader has open: a second in total.
	renamePause = 10 * time.Millisecond
	renameTries = 100
)

// tryLock takes the lock whose file is path, or returns errTaken. The system closes and thereby removes the file
// when the process ends.
func tryLock(path string) (func() error, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, &fs.PathError{Op: "lock", Path: path, Err: err}
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL|deleteOnClose, 0)
	switch {
	case err == nil:
		return func() error { return syscall.CloseHandle(h) }, nil
	case busy(err):
		return nil, errTaken
	}
	return nil, &fs.PathError{Op: "lock", Path: path, Err: err}
}

// busy reports whether another process has the file open. A file being removed denies access.
func busy(err error) bool {
	return errors.Is(err, sharingViolation) || errors.Is(err, deletePending) ||
		errors.Is(err, syscall.ERROR_ACCESS_DENIED)
}

// rename replaces a file. While readers have it open that fails, so it retries.
func rename(from, to string) error {
	for try := 0; ; try++ {
		err := os.Rename(from, to)
		if err == nil || !busy(err) || try == renameTries {
			return err
		}
		time.Sleep(renamePause)
	}
}

// syncDir does nothing: Windows has no such call.
func syncDir(string) error { return nil }
