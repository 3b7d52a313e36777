package line

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
)

// WriteOut writes what path names. What is no regular file, as a device or a pipe, is written in
// its place; a symbolic link stays, and what it leads to is written.
func WriteOut(ctx context.Context, path string, write func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return writeInPlace(ctx, path, write)
	}
	return filestate.Replace(path, privateMode, write)
}

// privateMode is the mode of new files with memories: only their user may read them.
const privateMode = 0o600

// writeInPlace writes to a device or pipe. It does not wait for another program to open a pipe for reading:
// the repository is open. An interrupt ends a write that waits.
func writeInPlace(ctx context.Context, path string, write func(io.Writer) error) error {
	f, end, err := openInPlace(ctx, path)
	if err != nil {
		return err
	}
	err = write(f)
	if endErr := end(); ctx.Err() != nil {
		return errors.Join(endErr, err)
	} else if err == nil {
		err = endErr
	}
	return err
}

// openInPlace opens a device or pipe, and returns what closes it.
func openInPlace(ctx context.Context, path string) (f *os.File, end func() error, err error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, nil, verb.Hintf(fmt.Errorf("%w: %s is a directory", state.ErrInvalid, path), "name a file in it")
	}
	f, err = os.OpenFile(path, os.O_WRONLY|regular.NoWait, 0)
	if errors.Is(err, syscall.ENXIO) {
		return nil, nil, fmt.Errorf("%w: %s is a named pipe that nothing reads", state.ErrInvalid, path)
	}
	if err != nil {
		return nil, nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = f.Close() }) // wakes a write that waits
	return f, func() error {
		if !stop() {
			return ctx.Err()
		}
		return f.Close()
	}, nil
}
