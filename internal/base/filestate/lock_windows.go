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
	// ERROR_SHARING_VIOLATION: somebody has the file open.
	sharingViolation = syscall.Errno(32)
	// ERROR_DELETE_PENDING: it goes when the last that has it open closes it.
	deletePending = syscall.Errno(303)

	// How often, and how many times, a file is tried to be replaced that a reader has open: a second.
	renamePause = 10 * time.Millisecond
	renameTries = 100
)

// tryLock takes the lock whose file is path, or returns errTaken. The system closes and so removes
// the file when the process ends.
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

// busy reports whether somebody has the file open. A file that is being removed denies access.
func busy(err error) bool {
	return errors.Is(err, sharingViolation) || errors.Is(err, deletePending) ||
		errors.Is(err, syscall.ERROR_ACCESS_DENIED)
}

// rename replaces a file. One that somebody reads cannot be replaced until they are done.
func rename(from, to string) error {
	for try := 0; ; try++ {
		err := os.Rename(from, to)
		if err == nil || !busy(err) || try == renameTries {
			return err
		}
		time.Sleep(renamePause)
	}
}

// syncDir does nothing: the system has no call for it.
func syncDir(string) error { return nil }
