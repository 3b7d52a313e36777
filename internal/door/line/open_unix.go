//go:build !windows

package line

import (
	"syscall"
)

// detached starts a program that belongs to no terminal.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// apart starts a program so that an interrupt for this one does not end it.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
