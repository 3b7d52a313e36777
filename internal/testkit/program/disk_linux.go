package program

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// Occupy writes a file until the disk that dir is on is full.
func Occupy(t *testing.T, dir, name string) (free func()) {
	t.Helper()
	path := filepath.Join(dir, name)
	f := must.Get(os.Create(path))(t)
	defer func() { _ = f.Close() }()
	for b := make([]byte, 64<<10); len(b) > 0; {
		if _, err := f.Write(b); err != nil {
			must.Require(t, errors.Is(err, syscall.ENOSPC), "%v", err)
			b = b[:len(b)/2]
		}
	}
	return func() {
		// The room of a removed file may come back later than its name goes.
		must.OK(t, os.Truncate(path, 0))
		must.OK(t, os.Remove(path))
	}
}
