package ramdir

import (
	"os"
	"path/filepath"
	"testing"
)

func TestUse(t *testing.T) {
	t.Setenv("TMPDIR", "")
	there := mounted() != ""
	remove, err := Use()
	if err != nil || (os.Getenv("TMPDIR") != "") != there {
		t.Fatalf("memory to use: %t; temporary files are in %s, %v", there, os.TempDir(), err)
	}
	if !there {
		remove()
		return
	}
	path := filepath.Join(os.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Error(err)
	}
	if again, err := Use(); err != nil || os.TempDir() != filepath.Dir(path) {
		t.Errorf("a TMPDIR that was named is not kept: %s, %v", os.TempDir(), err)
	} else {
		again()
	}
	remove()
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("it is left behind: %v", err)
	}
}
