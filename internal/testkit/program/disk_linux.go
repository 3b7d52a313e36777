package program

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Occupy writes a file until the disk that dir is on is full.
func Occupy(t *testing.T, dir, name string) (free func()) {
	t.Helper()
	path := filepath.Join(dir, name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for b := make([]byte, 64<<10); len(b) > 0; {
		if _, err := f.Write(b); err != nil {
			if !errors.Is(err, syscall.ENOSPC) {
				t.Fatal(err)
			}
			b = b[:len(b)/2]
		}
	}
	return func() {
		// The room of a removed file may come back later than its name goes.
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}
