//go:build unix

package owner

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

func ownedByUser(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// identity returns device and inode of a file.
func identity(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%x-%x", uint64(st.Dev), uint64(st.Ino))
}
