package filestate

import (
	"io/fs"
	"syscall"
	"time"
)

// Changed returns when a file or its attributes last changed, which no caller can set, or if unavailable, the
// modification time.
func Changed(info fs.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctimespec.Unix())
	}
	return info.ModTime()
}
