package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrKind is wrapped by every *Error.
var ErrKind = errors.New("not a regular file")

// Error is returned for a path that does not lead to a regular file.
type Error struct {
	Path string
	Mode fs.FileMode // the type bits
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s is a %s, not a regular file", e.Path, kindOf(e.Mode))
}

// Unwrap returns ErrKind.
func (e *Error) Unwrap() error { return ErrKind }

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}

// Check returns an *Error unless info describes a regular file.
func Check(path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return &Error{path, info.Mode().Type()}
}

// Open opens a regular file for reading, over symbolic links. It returns an *Error for anything
// else, and never waits for another program.
func Open(path string) (*os.File, error) {
	return open(path, func() (fs.FileInfo, error) { return os.Stat(path) }, func() (*os.File, error) {
		return os.OpenFile(path, os.O_RDONLY|NoWait, 0)
	})
}

// OpenIn is Open for a name below a directory; links cannot lead out of it.
func OpenIn(root *os.Root, name string) (*os.File, error) {
	return open(name, func() (fs.FileInfo, error) { return root.Stat(name) }, func() (*os.File, error) {
		return root.OpenFile(name, os.O_RDONLY|NoWait, 0)
	})
}

// open checks the file before opening, since opening a device may change it, and again afterwards, since the name
// may have changed.
func open(path string, stat func() (fs.FileInfo, error), file func() (*os.File, error)) (*os.File, error) {
	info, err := stat()
	if err == nil {
		err = Check(path, info)
	}
	if err != nil {
		return nil, asOpen(err)
	}
	f, err := file()
	if err != nil {
		return nil, asOpen(err)
	}
	if info, err = f.Stat(); err == nil {
		err = Check(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// asOpen makes an error of any step say that opening failed.
func asOpen(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return &fs.PathError{Op: "open", Path: at.Path, Err: at.Err}
	}
	return err
}

// Read returns the bytes of a regular file of at most limit bytes.
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s has more than %d bytes", path, limit)
	}
	return data, err
}

// OpenDir opens a directory. It never blocks: a path that ends in a separator leads to a directory or nowhere.
func OpenDir(path string) (*os.Root, error) {
	if path == "" {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	if !os.IsPathSeparator(path[len(path)-1]) {
		path += string(filepath.Separator)
	}
	return os.OpenRoot(path)
}

// FS returns a directory as a file system of regular files: other files except directories are visible, but Open
// refuses them with an *Error. It has the optional methods of os.Root.FS.
func FS(root *os.Root) fs.FS {
	all := root.FS()
	return &dirFS{root, all.(fs.ReadDirFS), all.(fs.StatFS)}
}

// dirFS implements fs.ReadDirFS, fs.StatFS and fs.ReadFileFS.
type dirFS struct {
	root *os.Root
	dirs fs.ReadDirFS
	info fs.StatFS
}

// Open implements fs.FS.
func (d *dirFS) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if info, err := d.info.Stat(name); err == nil && info.IsDir() {
		return d.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|NoWait, 0)
	}
	return OpenIn(d.root, filepath.FromSlash(name))
}

// ReadDir implements fs.ReadDirFS.
func (d *dirFS) ReadDir(name string) ([]fs.DirEntry, error) { return d.dirs.ReadDir(name) }

// Stat implements fs.StatFS.
func (d *dirFS) Stat(name string) (fs.FileInfo, error) { return d.info.Stat(name) }

// ReadFile implements fs.ReadFileFS.
func (d *dirFS) ReadFile(name string) ([]byte, error) {
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	return io.ReadAll(f)
}
