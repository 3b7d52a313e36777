//go:build unix

package pebble

import (
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"runtime"
	"sync"
	"syscall"
)

// errReadOnlyDisk is the system's error for writing to a disk that is mounted read-only.
const errReadOnlyDisk = syscall.EROFS

// isFull reports whether a disk, or its user's quota, is full.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// preallocates is whether preallocation uses disk space.
const preallocates = runtime.GOOS == "linux"

// errOurs is returned for a lock that this process holds.
var errOurs = errors.New("lock held by this process")

// fileID identifies a file under all of its names.
type fileID struct{ device, inode uint64 }

// locks are the locks that this process holds. The system's locks belong to a process, not to an open file: a
// second lock would be granted, and closing the file under any name drops the first. So the file is not opened at
// all while its lock is held.
var locks = struct {
	sync.Mutex
	held map[fileID]bool
}{held: make(map[fileID]bool)}

func idOf(info os.FileInfo) fileID {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}
	}
	return fileID{uint64(st.Dev), uint64(st.Ino)}
}

// Lock locks a file, creating it if it does not exist. If the file can only be read, readers share the lock; a
// process that can write takes it exclusively.
func (d *disk) Lock(name string) (io.Closer, error) {
	locks.Lock()
	defer locks.Unlock()
	if info, err := os.Stat(name); err == nil && locks.held[idOf(info)] {
		return nil, errOurs
	}
	spec := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, fileMode)
	if d.readOnly && err != nil && unwritable(err) {
		spec.Type = syscall.F_RDLCK
		f, err = os.Open(name)
		if errors.Is(err, iofs.ErrNotExist) {
			return noLock{}, nil // no process has opened it, and none can in this directory
		}
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &spec)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	id := idOf(info)
	locks.held[id] = true
	return &heldLock{file: f, id: id}, nil
}

// heldLock is a lock that this process holds.
type heldLock struct {
	file *os.File
	id   fileID
}

func (l *heldLock) Close() error {
	locks.Lock()
	defer locks.Unlock()
	delete(locks.held, l.id)
	return l.file.Close()
}

// noLock stands in for the lock of a store that no process can write.
type noLock struct{}

func (noLock) Close() error { return nil }

// lockTaken reports whether a process holds the lock.
func lockTaken(name string) (bool, error) {
	locks.Lock()
	defer locks.Unlock()
	info, err := os.Stat(name)
	if err == nil && locks.held[idOf(info)] {
		return true, nil
	}
	var f *os.File
	if err == nil {
		f, err = os.Open(name)
	}
	if errors.Is(err, iofs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look at the lock of a store: %w", err)
	}
	spec := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart}
	err = errors.Join(syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, &spec), f.Close())
	if err != nil {
		return false, fmt.Errorf("look at the lock of a store: %w", err)
	}
	return spec.Type != syscall.F_UNLCK, nil
}
