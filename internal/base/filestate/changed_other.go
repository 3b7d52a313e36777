//go:build !linux && !darwin

package filestate

import (
	"io/fs"
	"time"
)

// Changed returns when a file or its attributes last changed, which no caller can set, or if unavailable, the
// modification time.
func Changed(info fs.FileInfo) time.Time { return info.ModTime() }
