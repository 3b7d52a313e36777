package clients

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mnem-project/mnem/internal/base/filestate"
)

const (
	// Backup ends the name of the file before an edit.
	Backup = ".mnem-backup"
	// maxFile bounds a configuration in bytes: Claude Code keeps much in its own.
	maxFile = 64 << 20
)

// read returns a file, nil if there is none.
func read(path string) ([]byte, error) {
	text, err := filestate.Read(path, maxFile)
	return text, asDamaged(err)
}

func asDamaged(err error) error {
	if errors.Is(err, filestate.ErrUnfit) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// FileEdit is an edit of a file.
type FileEdit struct {
	Path     string
	Old, New []byte // nil for no file
	// Root is the directory above the file that stays where the file goes: those between go if that leaves them
	// empty. "" for the file alone.
	Root   string
	backup string
	mode   fs.FileMode // of a new file, 0 for 0600
	make   func(old []byte) ([]byte, error)
	ours   func(old []byte) bool // whether a file has something of ours
}

// Write makes the change of the file as it now is, in one step and while no other Write of it runs,
// and sets Old and New to what it had and has. It returns the path of what the file was before, ""
// if there was none, it had something of ours already, or there is none now: one that goes had nothing
// worth keeping. If there is nothing to change it does nothing. After an error the file is as it was; it wraps
// ErrDamaged, or filestate.ErrLocked or ErrMoved if others keep the file from being written.
func (c *FileEdit) Write(ctx context.Context) (backup string, err error) {
	var old, next []byte
	opt := filestate.EditOptions{Limit: maxFile, KeepMode: true, NewMode: c.mode}
	opt.Before = func(target string, was []byte, mode fs.FileMode) error {
		backup = ""
		if was == nil || next == nil || c.ours(was) { // the backup has the file without any part of ours
			return nil
		}
		backup = target + Backup
		keep := filestate.EditOptions{Limit: maxFile, KeepMode: true, NewMode: mode}
		err := filestate.Edit(ctx, backup, keep, func([]byte) ([]byte, error) { return was, nil })
		if err != nil {
			return fmt.Errorf("keep %s: %w", target, err)
		}
		return nil
	}
	err = filestate.Edit(ctx, c.Path, opt, func(was []byte) ([]byte, error) {
		out, err := c.make(was)
		old, next = was, out
		return out, err
	})
	if err != nil {
		return "", asDamaged(err)
	}
	c.Old, c.New, c.backup = old, next, backup
	if old != nil && next == nil {
		c.dropDirs()
	}
	if backup == "" && old != nil && c.ours(old) && (next == nil || !c.ours(next)) {
		return "", dropBackup(c.Path)
	}
	return backup, nil
}

// Undo takes a change back that Write made, unless others have changed the file since.
func (c *FileEdit) Undo(ctx context.Context) error {
	opt := filestate.EditOptions{Limit: maxFile, KeepMode: true}
	err := filestate.Edit(ctx, c.Path, opt, func(now []byte) ([]byte, error) {
		if (now == nil) != (c.New == nil) || !bytes.Equal(now, c.New) {
			return now, nil
		}
		return c.Old, nil
	})
	if err == nil && c.Old == nil {
		c.dropDirs()
	}
	if err == nil && c.backup != "" {
		err = dropBackup(c.Path)
	}
	return err
}

// dropDirs removes the directories between Root and a removed file, if they are empty.
func (c *FileEdit) dropDirs() {
	for dir := filepath.Dir(c.Path); c.Root != "" && dir != c.Root; dir = filepath.Dir(dir) {
		in, err := filepath.Rel(c.Root, dir)
		if err != nil || !filepath.IsLocal(in) {
			return
		}
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || os.Remove(dir) != nil { // which removes no directory that has something
			return
		}
	}
}

// dropBackup removes the backup of a file that has nothing of ours any more: a later edit must not
// take it for what the file was before that.
func dropBackup(path string) error {
	if err := os.Remove(linked(path) + Backup); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the backup of %s: %w", path, err)
	}
	return nil
}
