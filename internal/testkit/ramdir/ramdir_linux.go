package ramdir

import (
	"os"
	"syscall"
)

const (
	shared = "/dev/shm"
	tmpfs  = 0x01021994
	noexec = 8
	enough = 2 << 30
)

// mounted returns a file system in memory that has room and runs programs, "" if there is none.
func mounted() string {
	var s syscall.Statfs_t
	if syscall.Statfs(shared, &s) != nil || s.Type != tmpfs || s.Flags&noexec != 0 ||
		s.Bavail*uint64(s.Bsize) < enough || os.Getenv("TMPDIR") != "" {
		return ""
	}
	return shared
}
