package pebble

import (
	"errors"
	"io"
	iofs "io/fs"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// errReadOnlyDisk is the system's error for writing to a read-only disk.
const errReadOnlyDisk = syscall.Errno(19)

// isFull reports whether a disk is full, by either of the system's errors.
func isFull(err error) bool {
	const handleDiskFull, diskFull = syscall.Errno(39), syscall.Errno(112)
	return errors.Is(err, handleDiskFull) || errors.Is(err, diskFull) ||
		errors.Is(err, syscall.ENOSPC) // Go's own, for file systems other than the system's
}

// preallocates is whether preallocation uses disk space.
const preallocates = false

// Lock locks a file, creating it if it does not exist.
func (d *disk) Lock(name string) (io.Closer, error) { return d.FS.Lock(name) }

// lockTaken reports whether a process holds the lock. It takes the lock briefly.
func lockTaken(name string) (bool, error) {
	if _, err := vfs.Default.Stat(name); errors.Is(err, iofs.ErrNotExist) {
		return false, nil
	}
	lock, err := vfs.Default.Lock(name)
	if err != nil {
		if isBusy(err) {
			return true, nil
		}
		return false, err
	}
	return false, lock.Close()
}
