package filestate

import (
	"io/fs"
	"syscall"
	"time"
)

// Changed returns when a file or its attributes changed last, which no caller can set; the time of its
// contents where the system does not say.
func Changed(info fs.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctim.Unix())
	}
	return info.ModTime()
}
