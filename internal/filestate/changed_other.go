//go:build !linux && !darwin

package filestate

import (
	"io/fs"
	"time"
)

// NoWait is the flag by which opening a pipe does not wait for its other end.
const NoWait = 0

// Changed returns when a file or its attributes changed last, which no caller can set; the time of its
// contents where the system does not say.
func Changed(info fs.FileInfo) time.Time { return info.ModTime() }
