//go:build unix

package line

import (
	"io/fs"
	"os"
	"syscall"
)

// OfOther reports whether a file is neither this user's nor, as on a shared machine, of who
// administers it.
func OfOther(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) != os.Geteuid() && stat.Uid != 0
}
