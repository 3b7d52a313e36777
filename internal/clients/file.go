package clients

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	// Backup is what the name of the file before an edit ends with.
	Backup = ".mnem-backup"
	// maxFile bounds a configuration in bytes: Claude Code keeps much in its own.
	maxFile = 64 << 20
)

// ErrMoved is wrapped where a file changed while it was edited.
var ErrMoved = errors.New("the file changed meanwhile")

// read returns a file, nil where there is none. A link is followed, so that files that are kept
// elsewhere stay links.
func read(path string) (text []byte, target string, mode fs.FileMode, err error) {
	target, err = filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, linkErr := os.Lstat(path); linkErr == nil {
			return nil, "", 0, fmt.Errorf("%w: %s is a link that leads nowhere", ErrDamaged, path)
		}
		return nil, path, 0o600, nil
	}
	if err != nil {
		return nil, "", 0, err
	}
	info, err := os.Stat(target)
	if err != nil {
		return nil, "", 0, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, "", 0, fmt.Errorf("%w: %s is no file of at most %d bytes", ErrDamaged, path, maxFile)
	}
	f, err := os.Open(target)
	if err != nil {
		return nil, "", 0, err
	}
	text, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	if text == nil {
		text = []byte{}
	}
	return text, target, info.Mode().Perm(), errors.Join(err, f.Close())
}

// replace writes a file in one step, if it still is what was read, and keeps what it was. Nil for
// either text is no file; one that goes had nothing worth keeping.
func replace(target string, old, text []byte, mode fs.FileMode) (backup string, err error) {
	switch {
	case text == nil:
	case old != nil:
		backup = target + Backup
		if err := write(backup, old, mode); err != nil {
			return "", fmt.Errorf("keep %s: %w", target, err)
		}
	default:
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return "", err
		}
	}
	now, err := os.ReadFile(target)
	if errors.Is(err, fs.ErrNotExist) {
		now, err = nil, nil
	}
	if err != nil {
		return "", err
	}
	if !bytes.Equal(now, old) {
		return "", fmt.Errorf("%s: %w", target, ErrMoved)
	}
	if text == nil {
		return backup, os.Remove(target)
	}
	return backup, write(target, text, mode)
}

// write replaces a file in one step.
func write(path string, text []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".mnem-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}
