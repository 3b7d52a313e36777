package regular

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.OK(t, os.WriteFile(path, []byte(text), 0o600))
}

// TestOpen opens files and refuses directories and missing files.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	write(t, path, "text")
	f, err := Open(path)
	must.OK(t, err)
	data, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil || string(data) != "text" {
		t.Errorf("%q, %v", data, err)
	}
	var kind *Error
	if _, err := Open(dir); !errors.As(err, &kind) || !kind.Mode.IsDir() || !errors.Is(err, ErrKind) ||
		err.Error() != dir+" is a directory, not a regular file" {
		t.Errorf("a directory: %v", err)
	}
	var at *fs.PathError
	if _, err := Open(path + "x"); !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &at) || at.Op != "open" {
		t.Errorf("none: %v", err)
	}
	if data, err := Read(path, 4); err != nil || string(data) != "text" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := Read(path, 3); err == nil {
		t.Error("a file beyond the limit was read")
	}
}

// TestDirectory opens directories, and below them files alone.
func TestDirectory(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), "of a")
	write(t, filepath.Join(dir, "sub", "b"), "of b")
	root, err := OpenDir(dir)
	must.OK(t, err)
	defer func() { _ = root.Close() }() // only read
	must.OK(t, fstest.TestFS(FS(root), "a", "sub/b"))
	_, err = OpenIn(root, "sub")
	must.Fail(t, err, ErrKind)
	for _, path := range []string{"", filepath.Join(dir, "a"), filepath.Join(dir, "none")} {
		if root, err := OpenDir(path); err == nil {
			_ = root.Close()
			t.Errorf("%q was opened", path)
		}
	}
}
