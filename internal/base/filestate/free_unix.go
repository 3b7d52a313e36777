//go:build unix

package filestate

import "syscall"

// FreeSpace returns how many bytes this user can write on the file system of path, if known.
func FreeSpace(path string) (uint64, bool) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(path, &fs); err != nil {
		return 0, false
	}
	return uint64(fs.Bavail) * uint64(fs.Bsize), true
}
