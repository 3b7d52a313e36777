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
	f := must.Get(Open(path))(t)
	data, err := io.ReadAll(f)
	must.OK(t, errors.Join(err, f.Close()))
	must.Equal(t, string(data), "text")
	var kind *Error
	if _, err := Open(dir); !errors.As(err, &kind) || !kind.Mode.IsDir() || !errors.Is(err, ErrKind) ||
		err.Error() != dir+" is a directory, not a regular file" {
		t.Errorf("a directory: %v", err)
	}
	var at *fs.PathError
	if _, err := Open(path + "x"); !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &at) || at.Op != "open" {
		t.Errorf("none: %v", err)
	}
	must.Equal(t, string(must.Get(Read(path, 4))(t)), "text")
	must.True(t, must.Err(Read(path, 3)) != nil, "a file beyond the limit was read")
}

// TestDirectory opens directories, and below them files alone.
func TestDirectory(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), "of a")
	write(t, filepath.Join(dir, "sub", "b"), "of b")
	root := must.Get(OpenDir(dir))(t)
	defer func() { _ = root.Close() }() // only read
	must.OK(t, fstest.TestFS(FS(root), "a", "sub/b"))
	_, err := OpenIn(root, "sub")
	must.Fail(t, err, ErrKind)
	for _, path := range []string{"", filepath.Join(dir, "a"), filepath.Join(dir, "none")} {
		if root, err := OpenDir(path); err == nil {
			_ = root.Close()
			t.Errorf("%q was opened", path)
		}
	}
}
