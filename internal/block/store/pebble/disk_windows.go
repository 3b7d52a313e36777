package pebble

import (
	"errors"
	"io"
	iofs "io/fs"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// errReadOnlyDisk is what the system says of a file on a disk that cannot be written.
const errReadOnlyDisk = syscall.Errno(19)

// isFull reports whether a disk is full, in either of the system's ways to say it.
func isFull(err error) bool {
	const handleDiskFull, diskFull = syscall.Errno(39), syscall.Errno(112)
	return errors.Is(err, handleDiskFull) || errors.Is(err, diskFull) ||
		errors.Is(err, syscall.ENOSPC) // Go's own, of file systems that are not the system's
}

// preallocates is whether preallocating takes room of the disk.
const preallocates = false

// Lock locks a file, which it makes where there is none.
func (d *disk) Lock(name string) (io.Closer, error) { return d.FS.Lock(name) }

// lockTaken reports whether a process holds the lock, which it takes for a moment.
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
