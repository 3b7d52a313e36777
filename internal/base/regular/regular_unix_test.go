//go:build unix

package regular

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestSpecialFiles refuses special files, by each way to open one, without blocking.
func TestSpecialFiles(t *testing.T) {
	dir := t.TempDir()
	pipe, socket, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "s"), filepath.Join(dir, "link")
	must.OK(t, errors.Join(syscall.Mkfifo(pipe, 0o600), os.Symlink("pipe", link)))
	l := must.Get(net.Listen("unix", socket))(t)
	defer func() { _ = l.Close() }() // only there
	root := must.Get(OpenDir(dir))(t)
	defer func() { _ = root.Close() }() // only read
	for path, kind := range map[string]string{
		pipe: "named pipe", link: "named pipe", socket: "socket", os.DevNull: "device",
	} {
		if _, err := Open(path); !errors.Is(err, ErrKind) || err.Error() != path+" is a "+kind+", not a regular file" {
			t.Errorf("Open: %v", err)
		}
		_, err := OpenDir(path)
		must.Fail(t, err, syscall.ENOTDIR, path)
		name := filepath.Base(path)
		if path == os.DevNull {
			continue
		}
		_, err = OpenIn(root, name)
		must.Fail(t, err, ErrKind)
		_, err = FS(root).Open(name)
		must.Fail(t, err, ErrKind)
		_, err = fs.ReadFile(FS(root), name)
		must.Fail(t, err, ErrKind)
	}
}

// TestReplaced has a file become a pipe between the check and the opening.
func TestReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	write(t, path, "x")
	_, err := open(path, func() (fs.FileInfo, error) {
		info, err := os.Stat(path)
		return info, errors.Join(err, os.Remove(path), syscall.Mkfifo(path, 0o600))
	}, func() (*os.File, error) { return os.OpenFile(path, os.O_RDONLY|NoWait, 0) })
	must.Fail(t, err, ErrKind)
}
