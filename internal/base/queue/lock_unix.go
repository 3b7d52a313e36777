//go:build linux || darwin

package queue

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// tryLock locks the bytes of a file from first to last, for this open file rather than for the process, whose other
// open files conflict like those of others. It reports whether it could.
func tryLock(f *os.File, first, last int64, exclusive bool) (bool, error) {
	kind := int16(syscall.F_RDLCK)
	if exclusive {
		kind = syscall.F_WRLCK
	}
	err := setLock(f, kind, first, last)
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) {
		return false, nil
	}
	return err == nil, err
}

func unlock(f *os.File, first, last int64) error { return setLock(f, syscall.F_UNLCK, first, last) }

func setLock(f *os.File, kind int16, first, last int64) error {
	lock := syscall.Flock_t{Type: kind, Whence: io.SeekStart, Start: first}
	if last < lastByte {
		lock.Len = last - first + 1 // 0 is to the end
	}
	for {
		err := syscall.FcntlFlock(f.Fd(), setOpenFileLock, &lock)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
