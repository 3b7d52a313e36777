//go:build unix

package line

import (
	"io/fs"
	"os"
	"syscall"
)

// detached starts a program that belongs to no terminal.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// apart starts a program so that an interrupt for this one does not end it.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// OfOther reports whether a file is neither this user's nor, as on a shared machine, of who administers it.
func OfOther(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) != os.Geteuid() && stat.Uid != 0
}
