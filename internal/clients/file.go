package clients

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/mnem-project/mnem/internal/filestate"
)

const (
	// Backup is what the name of the file before an edit ends with.
	Backup = ".mnem-backup"
	// maxFile bounds a configuration in bytes: Claude Code keeps much in its own.
	maxFile = 64 << 20
)

// read returns a file, nil where there is none.
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

// Change is an edit of a file.
type Change struct {
	Path     string
	Old, New []byte // nil for no file
	make     func(old []byte) ([]byte, error)
}

// Write makes the change of the file as it now is, in one step and while no other Write of it runs,
// and sets Old and New to what it had and has. It returns the path of what the file was before, ""
// where there was none or there is none now: one that goes had nothing worth keeping. Where there is
// nothing to change it does nothing. After an error the file is as it was; it wraps ErrDamaged, or
// filestate.ErrLocked or ErrMoved where others keep the file from being written.
func (c *Change) Write(ctx context.Context) (backup string, err error) {
	var old, next []byte
	opt := filestate.Options{Limit: maxFile, KeepMode: true}
	opt.Before = func(target string, was []byte, mode fs.FileMode) error {
		backup = ""
		if was == nil || next == nil {
			return nil
		}
		backup = target + Backup
		keep := filestate.Options{Limit: maxFile, KeepMode: true, NewMode: mode}
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
	c.Old, c.New = old, next
	return backup, nil
}
