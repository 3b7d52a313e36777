package queue

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

const (
	failImmediately = 1 // LOCKFILE_FAIL_IMMEDIATELY
	exclusiveLock   = 2 // LOCKFILE_EXCLUSIVE_LOCK

	lockViolation = syscall.Errno(33)  // ERROR_LOCK_VIOLATION
	ioPending     = syscall.Errno(997) // ERROR_IO_PENDING
)

var (
	kernel       = syscall.NewLazyDLL("kernel32.dll")
	lockFileEx   = kernel.NewProc("LockFileEx")
	unlockFileEx = kernel.NewProc("UnlockFileEx")
)

// tryLock locks the bytes of a file from first to last for this open file. It reports whether it could.
func tryLock(f *os.File, first, last int64, exclusive bool) (bool, error) {
	flags := uintptr(failImmediately)
	if exclusive {
		flags |= exclusiveLock
	}
	at, size := span(first, last)
	ok, _, err := lockFileEx.Call(f.Fd(), flags, 0, uintptr(uint32(size)), uintptr(size>>32),
		uintptr(unsafe.Pointer(at)))
	if ok != 0 {
		return true, nil
	}
	if errors.Is(err, lockViolation) || errors.Is(err, ioPending) {
		return false, nil
	}
	return false, err
}

func unlock(f *os.File, first, last int64) error {
	at, size := span(first, last)
	ok, _, err := unlockFileEx.Call(f.Fd(), 0, uintptr(uint32(size)), uintptr(size>>32), uintptr(unsafe.Pointer(at)))
	if ok != 0 {
		return nil
	}
	return err
}

func span(first, last int64) (*syscall.Overlapped, uint64) {
	at := &syscall.Overlapped{Offset: uint32(first), OffsetHigh: uint32(first >> 32)}
	return at, uint64(last-first) + 1
}
