package cli

import (
	"github.com/mnem-project/mnem/internal/plain"
)

// bytesText is a size for people.
func bytesText(n int64) string { return plain.Bytes(n) }
