package line

import "syscall"

// apart starts a program so that an interrupt for this one does not end it.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
