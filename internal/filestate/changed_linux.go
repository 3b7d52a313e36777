package filestate

import (
	"io/fs"
	"syscall"
	"time"
)

// NoWait is the flag by which opening a pipe does not wait for its other end.
const NoWait = syscall.O_NONBLOCK

// Changed returns when a file or its attributes changed last, which no caller can set; the time of its
// contents where the system does not say.
func Changed(info fs.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctim.Unix())
	}
	return info.ModTime()
}
