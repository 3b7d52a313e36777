package line

import (
	"io/fs"
	"syscall"
)

// detached starts a program that belongs to no console.
func detached() *syscall.SysProcAttr {
	const detachedProcess = 0x8
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess, HideWindow: true}
}

// apart starts a program so that an interrupt for this one does not end it.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// OfOther reports whether a file is another user's. Windows keeps users out of each other's
// directories by itself, and what is shared there is shared on purpose.
func OfOther(fs.FileInfo) bool { return false }
